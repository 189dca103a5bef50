/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.time;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.eviction.WatermarkEviction;
import io.tierlog.controller.core.migration.Drains;
import io.tierlog.controller.core.migration.Marks;
import io.tierlog.controller.core.migration.MigrationRequests;
import io.tierlog.controller.core.migration.Routes;
import io.tierlog.controller.core.node.Expiry;
import io.tierlog.controller.core.node.FencedRowCleanup;
import io.tierlog.controller.core.node.GroupReassignment;
import io.tierlog.controller.core.peer.PeerReads;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.TickCounters;
import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.store.StoreEviction;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.TickCounter;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import java.util.List;

/** Time passes: what has fallen due, and who was silent for too long. Without state. */
public final class Ticks {
    /** Latest log time, milliseconds since 1970, some 140,000 years on: no sum with a time-out overflows. */
    private static final long LATEST_MS = 1L << 52;

    private Ticks() {}

    public static void decide(DecisionContext d, Tick e) {
        if (!e.envelope().aggregate().equals(d.clockAggregate())) {
            d.refuse(d.envelope(e.envelope().aggregate(), 0), e, RefusalReason.WRONG_AGGREGATE,
                    "This tick is not for partition " + d.partition());
        } else if (e.timeMs() < 0 || e.timeMs() > LATEST_MS) {
            d.refuse(d.envelope(d.clockAggregate(), 0), e, RefusalReason.OVER_LIMIT,
                    "Time is from 0 to " + LATEST_MS + " ms, not " + e.timeMs());
        } else if (TickCounters.isRepeated(d.clock().counter(), e)) {
            d.refuse(d.envelope(d.clockAggregate(), 0), e, RefusalReason.REPEATED,
                    "Tick " + e.envelope().sequence() + " of " + e.envelope().sender() + " was taken before");
        } else if (e.timeMs() == d.clock().logTimeMs() && d.clock().ticks() > 0) {
            d.refuse(d.envelope(d.clockAggregate(), 0), e, RefusalReason.REPEATED, "Log time is " + e.timeMs() + " already");
        } else {
            // A clock that was set back still ticks: the count goes on, log time does not move.
            TickCounter counter = d.clock().counter();
            d.timeIs(Math.max(d.clock().logTimeMs(), e.timeMs()), d.clock().ticks() + (TickCounters.counts(counter, e) ? 1 : 0),
                    TickCounters.after(counter, e));
            d.fact(new TimeAdvanced(d.envelope(d.clockAggregate(), 0), d.clock().logTimeMs(), d.clock().ticks(), d.clock().counter()));
        }
    }

    /** Log time of a partition, milliseconds since 1970; 0 before the first tick. */
    public static long logTimeMs(Tables tables, int partition) {
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(Aggregates.clock(partition)));
        return row == null ? 0 : row.logTimeMs();
    }

    /**
     * Whether a tick at that time would do nothing but move log time on: the partition has no node that lives or is cleaned up, no shard of the store
     * above its mark, and no timer that is due.
     * A clock may leave such ticks out. Where a node lives, each tick counts.
     *
     * @param nowMs the time that the tick would have, milliseconds since 1970
     */
    public static boolean isQuiet(Tables tables, int partition, long nowMs) {
        String clock = Aggregates.clock(partition);
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(clock));
        if (row == null || row.ticks() == 0) {
            return false;
        }
        ClockRow then = ClockRows.at(row, Math.max(nowMs, row.logTimeMs()), row.ticks(), row.counter());
        for (RowKey.Timer.Queue queue : RowKey.Timer.Queue.values()) {
            if (!TimerRows.due(tables, clock, then, queue, 1).isEmpty()) {
                return false;
            }
        }
        return areNodesGone(tables, clock) && !StoreEviction.isWanted(tables, clock, row.policy());
    }

    /**
     * Whether no node of a partition lives or is cleaned up: then no tick is needed for a log that is to end, though rows of what has ended may still
     * wait for their time. False before the first tick.
     */
    public static boolean areNodesGone(Tables tables, int partition) {
        String clock = Aggregates.clock(partition);
        ClockRow row = tables.get(Rows.CLOCK, new RowKey.Aggregate(clock));
        return row != null && row.ticks() > 0 && areNodesGone(tables, clock);
    }

    private static boolean areNodesGone(Tables tables, String clock) {
        try (var scan = tables.range(Rows.MEMBERS, new RowKey.Text(clock, ""), null)) {
            while (scan.next()) {
                NodeRow node = tables.get(Rows.NODES, new RowKey.Aggregate(scan.key().id()));
                if (node == null || node.alive() || node.sweep() != null) {
                    return false;
                }
            }
        }
        return true;
    }

    /** What follows once the time is in the tables. */
    public static void followUp(DecisionContext d) {
        due(d, RowKey.Timer.Queue.ACT);
        due(d, RowKey.Timer.Queue.MARK);
        d.evolve();
        List<NodeContext> nodes = d.nodes();
        for (NodeContext n : nodes) {
            silence(n);
        }
        d.evolve();
        int budget = d.limits().blocksPerDecision();
        for (NodeContext n : nodes) {
            budget -= FencedRowCleanup.decide(n, budget);
            budget -= GroupReassignment.decide(n, budget);
            budget -= WatermarkEviction.decide(n, budget);
            budget -= Routes.decide(n, budget, true);
            budget -= Drains.decide(n, budget);
            Promotions.goOn(n);
        }
        StoreEviction.decide(d, budget);
        Expiry.decide(d);
    }

    /** What must happen at its time, within a bound; rows that are only forgotten went when the time entered the tables. */
    private static void due(DecisionContext d, RowKey.Timer.Queue queue) {
        for (RowKey.Timer timer : TimerRows.due(d.tables(), d.clockAggregate(), d.clock(), queue, d.limits().timersPerTick())) {
            if (timer.kind() == RowKey.Timer.Kind.ANSWER) {
                MigrationRequests.unanswered(d, timer.owner());
                continue;
            }
            if (timer.kind() == RowKey.Timer.Kind.DELETION) {
                StoreEviction.unanswered(d, timer.owner());
                continue;
            }
            NodeContext n = d.node(timer.owner());
            if (n == null) {
                continue; // it has expired: its timers go when time moves on
            }
            switch (timer.kind()) {
                case OPERATION -> overdue(n, timer.id());
                case LEASE -> expired(n, timer.id());
                case MARK -> Marks.expired(n, timer.id());
                case NONE, REQUEST, PROMOTION, MIGRATION, ANSWER, GRANT, ENDED, NODE, NAMESPACE, DELETION ->
                        throw new IllegalHistory("A timer for " + timer.kind() + " is in queue " + queue);
            }
        }
    }

    private static void overdue(NodeContext n, String operation) {
        OperationRow row = n.operation(operation);
        if (row == null || !OperationRows.isUnfinished(row.state()) || !n.isCurrent(row.incarnation())
                || row.deadlineMs() > n.clock().logTimeMs()) {
            return;
        }
        CancelOperation cancel = new CancelOperation(n.envelope(), n.nextHeader(), operation, row.kind());
        n.fact(new OperationOverdue(n.envelope(), operation, cancel.header().commandSequence(), row.cancels() + 1,
                n.in(n.policy().operationTimeoutMs())));
        n.command(cancel);
    }

    private static void expired(NodeContext n, String lease) {
        LeaseRow row = n.lease(lease);
        if (row != null && n.isCurrent(row.incarnation())) {
            n.fact(new LeaseEnded(n.envelope(), lease, LeaseEndReason.EXPIRED));
            PeerReads.leaseEnded(n, lease, PeerReadReason.UNREPORTED);
        }
    }

    private static void silence(NodeContext n) {
        int silentTicks = NodeRows.sessionTicks(n.row(), n.policy());
        if (silentTicks > 0 && n.row().alive() && n.clock().ticks() - n.row().lastHeartbeatTick() > silentTicks) {
            n.fact(new NodeEnded(n.envelope(), n.row().incarnation(), RemovalReason.NODE_LOST));
        }
    }
}
