/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NodeDrained;

/** Facts about what operators asked for. Without state. */
final class EvolveMigrations {
    private EvolveMigrations() {}

    /** Forgets a migration, or a node's part of one, that has ended long enough ago. */
    static void forget(Tables t, RowKey.Timer timer, long nowMs) {}

    static void drain(Tables t, DrainChanged fact) {}

    static void drained(Tables t, NodeDrained fact) {}

    static void opened(Tables t, MigrationOpened fact) {}

    static void taken(Tables t, MigrationTaken fact) {}

    static void stopping(Tables t, MigrationStopping fact) {}

    static void noted(Tables t, MigrationNoted fact) {}

    static void changed(Tables t, MigrationChanged fact) {}

    static void completed(Tables t, MigrationCompleted fact) {}
}
