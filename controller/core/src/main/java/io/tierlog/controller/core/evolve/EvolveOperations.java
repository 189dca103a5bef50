/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Facts about operations and leases. Without state. */
final class EvolveOperations {
    private EvolveOperations() {}

    static void issued(Tables t, OperationIssued fact) {
        // Not by its row: a row that is not there has to be looked for in the store.
        if (fact.commandSequence() <= Evolve.node(t, fact).commandSequence()) {
            throw new IllegalHistory("Operation " + fact.operation() + " was issued before: its command has number " + fact.commandSequence()
                    + ", and " + Evolve.node(t, fact).commandSequence() + " was given");
        }
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.operation());
        boolean holds = fact.kind() == OperationKind.BACK_UP;
        List<Block> kept = holds ? Blocks.deepest(fact.blocks()) : fact.blocks();
        t.put(Rows.OPERATIONS, key, new OperationRow(fact.envelope().incarnation(), fact.kind(), OperationState.ISSUED, fact.from(), fact.to(),
                fact.request(), fact.attempt(), null, fact.namespace(), fact.root(), fact.blocks().size(), kept, fact.deadlineMs(), 0, 0, true,
                fact.move()));
        Timers.set(t, fact, RowKey.Timer.Kind.OPERATION, fact.operation(), fact.deadlineMs());
        begin(t, fact, kept);
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.commandSequence = fact.commandSequence();
        count(node, fact.kind(), fact.from(), fact.move(), 1);
        route(node, fact.kind(), Move.of(fact), fact.move(), 1, fact.blocks().size());
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
        EvolvePromotions.issued(t, fact);
        String request = fact.request();
        boolean writes = fact.kind() == OperationKind.WRITE_BACK || OperationRows.isLed(fact.kind(), fact.from());
        if (writes && request != null) {
            EvolveRequests.consumed(t, fact, request);
        }
        if (OperationRows.isLed(fact.kind(), fact.from())) {
            EvolveMarks.writing(t, fact);
        } else if (fact.kind() == OperationKind.COPY) {
            EvolveMigrations.begun(t, fact);
        }
    }

    /** The changes of placements when an operation is issued. */
    private static void begin(Tables t, OperationIssued fact, List<Block> kept) {
        if (fact.kind() == OperationKind.COPY) {
            beginCopy(t, fact);
            return;
        }
        Tier tier = Move.of(fact).subject();
        PlacementWriter copies = EvolvePlacements.open(t, fact, tier, fact.namespace());
        for (Block block : kept) {
            switch (fact.kind()) {
                case WRITE_BACK, PREFETCH -> copies.write(block, fact.operation(), 0);
                case PROMOTE -> copies.write(block, fact.operation(), EvolvePromotions.touchOnDisk(t, fact, block));
                case DROP -> copies.leave(block, fact.operation());
                case BACK_UP -> copies.hold(block, 1);
                case COPY, LOAD_BACK, UNKNOWN -> throw new IllegalHistory("A " + fact.kind() + " is never issued");
            }
        }
        if (fact.kind() != OperationKind.BACK_UP && fact.kind() != OperationKind.DROP) {
            copies.rememberNamespace();
        }
        EvolvePlacements.close(t, fact, tier, copies);
    }

    /** A copied block keeps its last use on the other tier: a copy is not a use. What is on the device is written as a new block. */
    private static void beginCopy(Tables t, OperationIssued fact) {
        PlacementWriter from = PlacementRows.isOrdered(fact.from()) ? EvolvePlacements.open(t, fact, fact.from(), fact.namespace()) : null;
        PlacementWriter to = PlacementRows.isOrdered(fact.to()) ? EvolvePlacements.open(t, fact, fact.to(), fact.namespace()) : null;
        boolean leaves = leaves(fact.move());
        for (Block block : fact.blocks()) {
            long touch = 0;
            if (from != null) {
                touch = leaves ? from.copy(block, fact.operation()) : from.copyAndKeep(block, fact.operation());
            }
            if (to != null) {
                to.write(block, fact.operation(), touch);
            }
        }
        if (from != null) {
            EvolvePlacements.close(t, fact, fact.from(), from);
        }
        if (to != null) {
            to.rememberNamespace();
            EvolvePlacements.close(t, fact, fact.to(), to);
        }
    }

    /** Whether what is copied is to leave its source afterwards. */
    private static boolean leaves(@Nullable MoveCause move) {
        return move == null || move.retention() == Retention.DELETE_SOURCE;
    }

    /** Keeps count of the operations in flight that empty a tier. */
    private static void count(NodeState node, OperationKind kind, Tier from, @Nullable MoveCause move, int more) {
        switch (kind) {
            case DROP -> node.tier(from).drops += more;
            case COPY -> node.tier(from).copies += leaves(move) && PlacementRows.isOrdered(from) ? more : 0;
            case WRITE_BACK, LOAD_BACK, PREFETCH, BACK_UP, PROMOTE, UNKNOWN -> {}
        }
    }

    /** Counts the COPY operations in flight on each route. */
    private static void route(NodeState node, OperationKind kind, Move move, @Nullable MoveCause cause, int operations, int blocks) {
        if (kind == OperationKind.COPY && cause != null) {
            node.shares.moving(cause.group(), move.from(), move.to(), operations, blocks);
        }
    }

    static void overdue(Tables t, OperationOverdue fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.operation());
        OperationRow row = unfinished(t, key);
        Timers.cancel(t, fact, RowKey.Timer.Kind.OPERATION, fact.operation(), row.deadlineMs());
        Timers.set(t, fact, RowKey.Timer.Kind.OPERATION, fact.operation(), fact.deadlineMs());
        OperationRow.Edit late = row.edit();
        late.state = OperationState.OVERDUE;
        late.deadlineMs = fact.deadlineMs();
        late.cancels = fact.cancels();
        t.put(Rows.OPERATIONS, key, late.row());
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.commandSequence = fact.commandSequence();
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void ended(Tables t, OperationEnded fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.operation());
        OperationRow row = unfinished(t, key);
        OperationRow.Edit end = row.edit();
        end.state = fact.state();
        end.blocks = List.of();
        end.endedMs = fact.envelope().timeMs();
        // The command that was refused for its number may have run with other contents: its result is still to be received.
        end.settled = fact.reason() != OperationReason.COMMAND_CONFLICT;
        t.put(Rows.OPERATIONS, key, end.row());
        Timers.cancel(t, fact, RowKey.Timer.Kind.OPERATION, fact.operation(), row.deadlineMs());
        Timers.set(t, fact, RowKey.Timer.Kind.ENDED, fact.operation());
        if (OperationRows.isLed(row.kind(), row.from())) {
            EvolveMarks.written(t, fact, row);
        }
        NodeRow node = Evolve.node(t, fact);
        if (!NodeRows.isCurrent(node, row.incarnation())) {
            return;
        }
        if (row.kind() == OperationKind.COPY) {
            endCopy(t, fact, row);
        } else {
            release(t, fact, row);
        }
        if (row.kind() == OperationKind.PROMOTE) {
            EvolvePromotions.ended(t, fact, row);
        }
        if (row.kind() == OperationKind.DROP || row.kind() == OperationKind.COPY) {
            NodeState state = NodeState.of(Evolve.node(t, fact));
            count(state, row.kind(), row.from(), row.move(), -1);
            if (row.kind() == OperationKind.DROP && fact.doneBlocks() == 0) {
                state.tier(row.from()).refusedMs = fact.envelope().timeMs();
            }
            route(state, row.kind(), Move.of(row), row.move(), -1, -row.blockCount());
            t.put(Rows.NODES, Evolve.key(fact), state.toRow());
        }
    }

    /** A copied block serves on this tier, and its row records whether the other tier has stored it. */
    private static void endCopy(Tables t, OperationEnded fact, OperationRow row) {
        PlacementWriter from = PlacementRows.isOrdered(row.from()) ? EvolvePlacements.open(t, fact, row.from(), row.namespace()) : null;
        PlacementWriter to = PlacementRows.isOrdered(row.to()) ? EvolvePlacements.open(t, fact, row.to(), row.namespace()) : null;
        for (Block block : row.blocks()) {
            if (to != null) {
                to.settle(block, fact.operation());
            }
            if (from != null) {
                from.copied(block, fact.operation(), to == null ? from.isStored(block) : to.serves(block));
            }
        }
        if (from != null) {
            EvolvePlacements.close(t, fact, row.from(), from);
        }
        if (to != null) {
            EvolvePlacements.close(t, fact, row.to(), to);
        }
    }

    /** Releases an operation's claims on placements. When all of its blocks were done, only holds are left to release. */
    private static void release(Tables t, OperationEnded fact, OperationRow row) {
        boolean holds = row.kind() == OperationKind.BACK_UP;
        if (!holds && fact.doneBlocks() == row.blockCount() && fact.failedBlocks() == 0) {
            return;
        }
        Tier tier = Move.of(row).subject();
        PlacementWriter copies = EvolvePlacements.open(t, fact, tier, row.namespace());
        for (Block block : row.blocks()) {
            if (holds) {
                copies.hold(block, -1);
            } else {
                copies.settle(block, fact.operation());
            }
        }
        EvolvePlacements.close(t, fact, tier, copies);
    }

    /** Records that the result of every block of an operation is settled. */
    static void settled(Tables t, Fact fact, String operation) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), operation);
        OperationRow row = t.get(Rows.OPERATIONS, key);
        if (row != null && !row.settled()) {
            OperationRow.Edit known = row.edit();
            known.settled = true;
            t.put(Rows.OPERATIONS, key, known.row());
        }
    }

    static void leaseRequested(Tables t, LeaseRequested fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.lease());
        t.put(Rows.LEASES, key, new LeaseRow(fact.envelope().incarnation(), LeaseState.REQUESTED, fact.operation(), fact.request(),
                fact.attempt(), fact.endMs(), "", List.of()));
        Timers.set(t, fact, RowKey.Timer.Kind.LEASE, fact.lease(), fact.endMs());
        if (fact.operation().isEmpty()) {
            return; // of a grant: the agent's word alone makes its pins
        }
        RowKey.Text operation = new RowKey.Text(key.aggregate(), fact.operation());
        OperationRow.Edit grants = unfinished(t, operation).edit();
        grants.lease = fact.lease();
        t.put(Rows.OPERATIONS, operation, grants.row());
        EvolveRequests.leased(t, fact, fact.request(), fact.attempt(), fact.lease());
    }

    static void leaseHeld(Tables t, LeaseHeld fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.lease());
        List<Block> deepest = Blocks.deepest(fact.blocks());
        LeaseRow.Edit held = lease(t, key).edit();
        held.state = LeaseState.HELD;
        held.namespace = fact.namespace();
        held.deepest = deepest;
        t.put(Rows.LEASES, key, held.row());
        hold(t, fact, fact.namespace(), deepest, 1);
    }

    static void leaseEnded(Tables t, LeaseEnded fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.lease());
        LeaseRow row = lease(t, key);
        t.delete(Rows.LEASES, key);
        Timers.cancel(t, fact, RowKey.Timer.Kind.LEASE, fact.lease(), row.endMs());
        EvolveRequests.unleased(t, fact, row.request(), fact.lease());
        if (row.state() == LeaseState.HELD && NodeRows.isCurrent(Evolve.node(t, fact), row.incarnation())) {
            hold(t, fact, row.namespace(), row.deepest(), -1);
        }
        Long command = fact.commandSequence();
        if (command != null) {
            Evolve.numbered(t, fact, command);
        }
    }

    private static void hold(Tables t, Fact fact, String namespace, List<Block> blocks, int more) {
        PlacementWriter copies = EvolvePlacements.open(t, fact, Tier.HOST, namespace);
        for (Block block : blocks) {
            copies.hold(block, more);
        }
        EvolvePlacements.close(t, fact, Tier.HOST, copies);
    }

    private static OperationRow unfinished(Tables t, RowKey.Text key) {
        OperationRow row = t.get(Rows.OPERATIONS, key);
        if (row == null || !OperationRows.isUnfinished(row.state())) {
            throw new IllegalHistory("Operation " + key.id() + " is not in progress");
        }
        return row;
    }

    private static LeaseRow lease(Tables t, RowKey.Text key) {
        LeaseRow row = t.get(Rows.LEASES, key);
        if (row == null) {
            throw new IllegalHistory("Lease " + key.id() + " was never requested, or has ended");
        }
        return row;
    }
}
