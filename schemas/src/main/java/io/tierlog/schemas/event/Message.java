/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

/** What one aggregate tells another: written to tierlog.messages by the controller, appended to tierlog.events by the relay. */
public sealed interface Message extends Event
        permits PolicyPublished, MigrationAssigned, MigrationRecalled, MigrationReported {}
