/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.MigrationRows;
import io.tierlog.controller.core.state.MigrationStates;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import io.tierlog.schemas.state.TaskRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Facts about operators' requests. Without state. */
final class EvolveMigrations {
    private static final MigrationProgress NOTHING = new MigrationProgress(0, 0, 0, 0);

    private EvolveMigrations() {}

    /**
     * Removes a migration, or a node's part of one, that ended long enough ago; sets the timer of one that has not again. Returns how many rows it
     * changed.
     */
    static int forget(Tables t, RowKey.Timer timer, long nowMs) {
        Long endedMs = endedMs(t, timer);
        if (endedMs == null) {
            return 0;
        }
        long due = later(endedMs == 0 ? nowMs : endedMs);
        if (due > nowMs) {
            Timers.again(t, timer, due);
        } else if (Aggregates.isMigration(timer.owner())) {
            t.delete(Rows.MIGRATIONS, new RowKey.Aggregate(timer.owner()));
        } else {
            t.delete(Rows.TASKS, new RowKey.Text(timer.owner(), timer.id()));
        }
        return 1;
    }

    /** Whether an answer of a migration's nodes is neither there nor recorded as missing: decide handles the timer. */
    static boolean lacksAnswers(Tables t, RowKey.Timer timer) {
        MigrationRow row = t.get(Rows.MIGRATIONS, new RowKey.Aggregate(timer.owner()));
        return row != null && row.parts().stream().anyMatch(part -> part.answer() == null);
    }

    /** Log time of its end, 0 before the end; null when its row is gone. */
    private static @Nullable Long endedMs(Tables t, RowKey.Timer timer) {
        if (Aggregates.isMigration(timer.owner())) {
            MigrationRow row = t.get(Rows.MIGRATIONS, new RowKey.Aggregate(timer.owner()));
            return row == null ? null : Long.valueOf(row.endedMs());
        }
        TaskRow row = t.get(Rows.TASKS, new RowKey.Text(timer.owner(), timer.id()));
        return row == null ? null : Long.valueOf(row.endedMs());
    }

    private static long later(long timeMs) {
        return sum(timeMs, MigrationLimits.DEFAULTS.keptMs());
    }

    private static long sum(long timeMs, long ms) {
        long sum = timeMs + ms;
        return sum < timeMs ? Long.MAX_VALUE : sum;
    }

    static void drain(Tables t, DrainChanged fact) {
        shares(t, fact, shares -> {
            shares.drainRequest = fact.request();
            String instance = fact.instance();
            if (instance != null) {
                shares.drainingInstances.remove(instance);
                if (fact.drain()) {
                    shares.drainingInstances.add(instance);
                }
            } else {
                shares.draining = fact.drain();
                shares.drainAgain();
            }
        });
    }

    static void drainAdvanced(Tables t, DrainAdvanced fact) {
        shares(t, fact, shares -> {
            shares.drainPass = fact.pass();
            shares.drainCursor = fact.cursor();
            shares.drainLeft = fact.leftBlocks();
            shares.drainSaving = fact.savingBlocks();
            shares.drainSinceMs = shares.drainSinceMs == 0 ? fact.envelope().timeMs() : shares.drainSinceMs;
        });
    }

    static void drained(Tables t, NodeDrained fact) {
        shares(t, fact, shares -> {
            shares.drainAgain();
            shares.drained = true;
            shares.drainLeft = fact.leftBlocks();
        });
    }

    /** The agent holds blocks that no operation has brought: a drain may have looked where they are before, and found nothing left to save. */
    static void foundByAgent(Tables t, BlocksPlaced fact) {
        if (ShareRows.orNothing(Evolve.node(t, fact).shares()).draining()) {
            shares(t, fact, shares -> {
                long sinceMs = shares.drained ? 0 : shares.drainSinceMs;
                shares.drainAgain();
                shares.drainSinceMs = sinceMs;
            });
        }
    }

    private static void shares(Tables t, Fact fact, Consumer<Shares> change) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        change.accept(node.shares);
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void opened(Tables t, MigrationOpened fact) {
        if (t.get(Rows.MIGRATIONS, Evolve.key(fact)) != null) {
            throw new IllegalHistory("The migration was opened before");
        }
        List<PartRow> parts = new ArrayList<>(fact.nodes().size());
        fact.nodes().forEach(node -> parts.add(new PartRow(node, 0, null, NOTHING)));
        t.put(Rows.MIGRATIONS, Evolve.key(fact), new MigrationRow(MigrationState.SUBMITTED, fact.order(), parts, fact.envelope().timeMs(), 0,
                fact.request()));
        long askedMs = fact.envelope().timeMs();
        Timers.set(t, fact, RowKey.Timer.Kind.MIGRATION, "", later(askedMs));
        Timers.set(t, fact, RowKey.Timer.Kind.ANSWER, "", sum(askedMs, MigrationLimits.DEFAULTS.answerMs()));
    }

    static void noted(Tables t, MigrationNoted fact) {
        t.put(Rows.MIGRATIONS, Evolve.key(fact), MigrationRows.noted(migration(t, fact), fact));
    }

    static void changed(Tables t, MigrationChanged fact) {
        MigrationRow row = migration(t, fact);
        if (row.state() != fact.from() || !MigrationStates.isLegal(fact.from(), fact.to())) {
            throw new IllegalHistory("A migration that is " + row.state() + " cannot go from " + fact.from() + " to " + fact.to());
        }
        MigrationRow.Edit migration = row.edit();
        migration.state = fact.to();
        migration.endedMs = MigrationStates.isEnd(fact.to()) ? fact.envelope().timeMs() : 0;
        t.put(Rows.MIGRATIONS, Evolve.key(fact), migration.row());
    }

    private static MigrationRow migration(Tables t, Fact fact) {
        MigrationRow row = t.get(Rows.MIGRATIONS, Evolve.key(fact));
        if (row == null) {
            throw new IllegalHistory(fact.envelope().aggregate() + " is not known");
        }
        return row;
    }

    static void taken(Tables t, MigrationTaken fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.migration());
        if (t.get(Rows.TASKS, key) != null) {
            throw new IllegalHistory("Migration " + fact.migration() + " was applied before");
        }
        boolean copies = !fact.answer().copied().isEmpty() && !fact.order().dryRun();
        t.put(Rows.TASKS, key, new TaskRow(List.of(), NOTHING, 1, false, copies ? 0 : fact.envelope().timeMs(), fact.request()));
        Timers.set(t, fact, RowKey.Timer.Kind.MIGRATION, fact.migration(), later(fact.envelope().timeMs()));
    }

    /** A COPY has begun, perhaps for an operator's migration. */
    static void begun(Tables t, OperationIssued fact) {
        String migration = fact.move() == null ? null : fact.move().migration();
        if (migration == null) {
            return;
        }
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), migration);
        TaskRow row = t.get(Rows.TASKS, key);
        if (row == null) {
            throw new IllegalHistory("A copy begins for migration " + migration + ", which the node has not taken");
        }
        List<String> operations = new ArrayList<>(row.operations());
        operations.add(fact.operation());
        MigrationProgress p = row.progress();
        TaskRow.Edit task = row.edit();
        task.operations = operations;
        task.progress = new MigrationProgress(operations.size(), p.doneBlocks(), p.failedBlocks(), p.movedBytes());
        t.put(Rows.TASKS, key, task.row());
    }

    static void stopping(Tables t, MigrationStopping fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.migration());
        TaskRow row = t.get(Rows.TASKS, key);
        if (row == null) {
            throw new IllegalHistory("Migration " + fact.migration() + " shall stop, which the node has not taken");
        }
        TaskRow.Edit task = row.edit();
        task.stopping = true;
        t.put(Rows.TASKS, key, task.row());
        Evolve.numbered(t, fact, fact.commandSequence());
    }

    static void completed(Tables t, MigrationCompleted fact) {
        String migration = fact.move().migration();
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), migration == null ? "" : migration);
        TaskRow row = migration == null ? null : t.get(Rows.TASKS, key);
        if (row != null && row.operations().contains(fact.operation())) {
            t.put(Rows.TASKS, key, MigrationRows.completed(row, fact));
        }
    }


}
