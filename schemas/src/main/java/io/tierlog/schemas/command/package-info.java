/* SPDX-License-Identifier: Apache-2.0 */
/** What an agent shall do: an intent, in tierlog.commands. It may be lost, repeated or late. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.command;
