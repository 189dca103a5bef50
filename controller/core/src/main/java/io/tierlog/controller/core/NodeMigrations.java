/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationRecalled;

/** A node's part of what operators ask for. Without state. */
final class NodeMigrations {
    private NodeMigrations() {}

    static void assigned(Draft d, MigrationAssigned e) {}

    static void recalled(Draft d, MigrationRecalled e) {}
}
