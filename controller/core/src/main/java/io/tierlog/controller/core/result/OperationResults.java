/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.result;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.migration.Migrations;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.peer.PeerReads;
import io.tierlog.controller.core.placement.PlacementEffects;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.writeback.BackUps;
import io.tierlog.controller.core.writeback.WriteBacks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.TerminalEvent;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Terminal events. Each reports two things: the result of the operation, which counts for a recorded one that has not ended, and the result for
 * each block, which counts whichever operation moved it. Without state.
 */
public final class OperationResults {
    private static final Move NOT_KNOWN = Move.of(OperationKind.UNKNOWN, Tier.UNKNOWN);

    private OperationResults() {}

    public static void decide(NodeContext n, TerminalEvent e) {
        OperationRow row = n.operation(e.operation());
        decide(n, e, row, OperationResult.of(e, row == null ? NOT_KNOWN : Move.of(row)));
    }

    private static void decide(NodeContext n, Event e, @Nullable OperationRow row, OperationResult c) {
        String broken = PlacementEffects.broken(n, c);
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else if (isOld(n, row, e, c)) {
            n.refuse(e, RefusalReason.REPEATED, "Repeats sequence " + e.envelope().repeats() + ", which was applied");
        } else if (row == null || !n.isCurrent(row.incarnation())) {
            adopt(n, c);
        } else if (!isOf(row, c)) {
            adopt(n, c);
            if (OperationRows.isUnfinished(row.state())) {
                end(n, row, conflict(row, c));
            }
        } else if (OperationRows.isUnfinished(row.state())) {
            end(n, row, c);
        } else {
            PlacementEffects.late(n, row, c);
            n.refuse(e, RefusalReason.OPERATION_ENDED, "Operation " + c.operation() + " is " + row.state());
        }
    }

    /**
     * Whether the event repeats the end of an operation that would be adopted: it was adopted when it was first reported, and what it reports about
     * blocks may be long outdated. An unfinished operation is different: nothing of it was applied, so the first report was lost.
     */
    private static boolean isOld(NodeContext n, @Nullable OperationRow row, Event e, OperationResult c) {
        boolean known = row != null && n.isCurrent(row.incarnation()) && (isOf(row, c) || OperationRows.isUnfinished(row.state()));
        return e.envelope().repeats() != null && !known;
    }

    /** Whether the agent's report fits the recorded operation. */
    private static boolean isOf(OperationRow row, OperationResult c) {
        return Move.of(row).isLike(c.move()) && (c.results().isEmpty() || c.namespace().equals(row.namespace()));
    }

    /**
     * The agent has run another operation under this id, decided by a transaction that was undone. It refuses the recorded one, and never reports
     * this id again. Nothing of the recorded operation was done.
     */
    private static OperationResult conflict(OperationRow row, OperationResult c) {
        return OperationResult.ofNone(c.operation(), Move.of(row), OperationState.FAILED, OperationReason.COMMAND_CONFLICT, row.namespace());
    }

    public static void refused(NodeContext n, CommandRefused e) {
        String operation = e.operation();
        if (operation == null || e.reason() == OperationReason.STALE_COMMAND) {
            // A command without an operation, or one whose operation has its own end: nothing follows.
            return;
        }
        OperationRow row = n.operation(operation);
        if (row == null || !n.isCurrent(row.incarnation())) {
            n.refuse(e, RefusalReason.OPERATION_UNKNOWN, "Operation " + operation + " is not known");
        } else {
            decide(n, e, row, OperationResult.ofNone(operation, Move.of(row), OperationState.FAILED, e.reason(), ""));
        }
    }

    /** The operation is not recorded here: it is recorded now, its blocks count, and the pins under its own name are released. */
    private static void adopt(NodeContext n, OperationResult c) {
        PlacementEffects.adopted(n, c);
        int done = c.doneBlocks();
        n.fact(new OrphanAdopted(n.envelope(), c.operation(), c.kind(), c.state(), false, done, c.results().size() - done, c.movedBytes()));
        if (c.kind() == OperationKind.WRITE_BACK && done > 0) {
            n.command(new ReleasePins(n.envelope(), n.nextHeader(), c.operation()));
        }
        String lease = c.lease();
        if (lease != null) {
            n.command(new ReleasePins(n.envelope(), n.nextHeader(), lease));
        }
    }

    private static void end(NodeContext n, OperationRow row, OperationResult c) {
        if (Migrations.isMismatch(row, c)) {
            Migrations.mismatched(n, row, c);
            return;
        }
        PlacementEffects s = PlacementEffects.expected(n, row, c);
        int done = c.doneBlocks();
        int failed = Math.max(0, row.blockCount() - doneOfIts(row, c, done));
        n.fact(new OperationEnded(n.envelope(), c.operation(), row.kind(), c.state(), c.reason(), done, failed, c.movedBytes()));
        switch (row.kind()) {
            case WRITE_BACK -> {
                BackUps.afterWriteBack(n, c.operation(), row, s.arrived());
                WriteBacks.batchEnded(n, row, s.arrived(), failed == 0);
            }
            case PREFETCH -> fetched(n, row, c, s);
            case DROP -> s.touchPinned(n, row);
            // Blocks that were copied for a watermark of the tier are dropped by watermark eviction, which runs after this.
            case COPY -> {
                Migrations.ended(n, row, c, failed);
                WriteBacks.batchEnded(n, row, s.arrived(), failed == 0);
            }
            case PROMOTE -> {
                lease(n, row, c, s);
                Promotions.ended(n, row, c, s.arrived());
                PeerReads.promoted(n, c.operation(), row, s.arrived());
            }
            case BACK_UP, LOAD_BACK, UNKNOWN -> {}
        }
    }

    /**
     * How many of the operation's own blocks were done. The agent may have run it with other blocks, as a transaction that was undone had it: what it
     * does not name was not done.
     */
    private static int doneOfIts(OperationRow row, OperationResult c, int done) {
        if (row.kind() == OperationKind.BACK_UP) {
            return done; // on record are the deepest blocks only
        }
        int own = 0;
        Set<Block> its = Set.of();
        for (int i = 0; i < c.results().size(); i++) {
            Block block = c.results().get(i).block();
            boolean known = i < row.blocks().size() && row.blocks().get(i).equals(block);
            if (!known && its.isEmpty()) {
                its = new LinkedHashSet<>(row.blocks());
            }
            own += OperationResult.isDone(c.results().get(i)) && (known || its.contains(block)) ? 1 : 0;
        }
        return own;
    }

    private static void fetched(NodeContext n, OperationRow row, OperationResult c, PlacementEffects s) {
        boolean arrived = !s.arrived().isEmpty();
        lease(n, row, c, s);
        String request = row.request();
        RequestRow waiting = request == null ? null : n.request(request);
        if (request == null || waiting == null || waiting.attempt() != row.attempt() || waiting.state() != RequestState.PREFETCHING) {
            return;
        }
        if (arrived) {
            RequestReason reason = RequestReason.FETCH_ARRIVED;
            Requests.transition(n, request, row.attempt(), RequestState.PREFETCHING, RequestState.PREFETCH_DONE, reason);
            Requests.transition(n, request, row.attempt(), RequestState.PREFETCH_DONE, RequestState.PREFILLING, reason);
        } else {
            Requests.transition(n, request, row.attempt(), RequestState.PREFETCHING, RequestState.PREFILLING, RequestReason.FETCH_FAILED);
        }
    }

    /** The agent has made the pins of the lease with its own Done event, or reports that no request waits for them any more. */
    private static void lease(NodeContext n, OperationRow row, OperationResult c, PlacementEffects s) {
        String asked = row.lease();
        @Nullable LeaseRow lease = asked == null ? null : n.lease(asked);
        String granted = c.lease();
        if (asked == null || lease == null) {
            if (granted != null) {
                n.command(new ReleasePins(n.envelope(), n.nextHeader(), granted));
            }
        } else if (s.arrived().isEmpty()) {
            n.fact(new LeaseEnded(n.envelope(), asked, LeaseEndReason.FETCH_FAILED));
        } else if (asked.equals(granted) && lease.state() == LeaseState.REQUESTED) {
            n.fact(new LeaseHeld(n.envelope(), asked, row.namespace(), Blocks.of(s.arrived())));
        } else {
            n.fact(new LeaseEnded(n.envelope(), asked, LeaseEndReason.REQUEST_ENDED));
        }
    }
}
