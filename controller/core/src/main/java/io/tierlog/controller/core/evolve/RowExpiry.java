/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.state.ExpiryRows;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a tick does to timers: removes rows that were kept for a while after their subject had ended, so that a late report still finds its row, and
 * timers whose subject is gone. Then it records where each queue begins.
 *
 * <p>Timers at which something must happen stay until decide has acted on them: an operation or a lease has one while it goes on. What has ended
 * has a timer from its end on, so each row is visited once. Without state. A tick removes at most {@value #PER_TICK} rows and timers that are only
 * forgotten, twice what a partition with 2,000 requests a second ends in a second, and looks at so many of the others.
 */
final class RowExpiry {
    private static final int PER_TICK = 20_000;

    private final Tables t;
    private final long nowMs;

    private RowExpiry(Tables t, long nowMs) {
        this.t = t;
        this.nowMs = nowMs;
    }

    /** Time has passed. */
    static void run(Tables t, RowKey.Aggregate clock) {
        for (RowKey.Timer.Queue queue : RowKey.Timer.Queue.values()) {
            ClockRow time = t.get(Rows.CLOCK, clock);
            if (time == null) {
                throw new IllegalHistory("The partition was never opened");
            }
            long fromMs = new RowExpiry(t, time.logTimeMs()).serve(clock.aggregate(), time, queue,
                    queue == RowKey.Timer.Queue.EXPIRE ? ExpiryRows.PER_TICK : PER_TICK);
            // Read again: a timer that was set again may begin its queue.
            ClockRow served = t.get(Rows.CLOCK, clock);
            t.put(Rows.CLOCK, clock, ClockRows.from(served == null ? time : served, queue, fromMs));
        }
    }

    /** Removes what it may; returns where the queue begins then. */
    private long serve(String clock, ClockRow time, RowKey.Timer.Queue queue, int most) {
        List<RowKey.Timer> due = TimerRows.due(t, clock, time, queue, most);
        int work = 0;
        RowKey.@Nullable Timer first = null;
        for (RowKey.Timer timer : due) {
            int removed = work < most ? expire(timer) : 0;
            work += removed;
            if (removed == 0 && first == null) {
                first = timer;
            }
        }
        if (first != null) {
            return first.dueMs();
        }
        return due.size() < most ? nowMs + 1 : due.getLast().dueMs();
    }

    /** Removes the timer, and what it is for where that has ended; returns how many rows that were, 0 when the timer stays. */
    private int expire(RowKey.Timer timer) {
        RowKey.Text key = new RowKey.Text(timer.owner(), timer.id());
        return switch (timer.kind()) {
            case OPERATION -> dropUnless(goesOn(t.get(Rows.OPERATIONS, key), timer), timer);
            case LEASE -> dropUnless(goesOn(t.get(Rows.LEASES, key), timer), timer);
            case DELETION -> dropUnless(EvolveStore.isInFlight(t, timer), timer);
            case ANSWER -> dropUnless(EvolveMigrations.lacksAnswers(t, timer), timer);
            // Decide ends it.
            case MARK -> 0;
            case ENDED -> drop(timer) + operation(key);
            case REQUEST -> drop(timer) + request(key);
            case PROMOTION -> drop(timer) + promotion(timer);
            case MIGRATION -> drop(timer) + EvolveMigrations.forget(t, timer, nowMs);
            case GRANT -> drop(timer) + grant(timer, key);
            // Decide lets them expire, by facts.
            case NODE, NAMESPACE -> ExpiryRows.mayExpire(t, timer) ? 0 : drop(timer) + EvolveExpiry.needed(t, timer, nowMs);
            case NONE -> throw new IllegalHistory("A timer of no kind");
        };
    }

    private int drop(RowKey.Timer timer) {
        t.delete(Rows.TIMERS, timer);
        return 1;
    }

    private int dropUnless(boolean needed, RowKey.Timer timer) {
        return needed ? 0 : drop(timer);
    }

    /** Whether decide acts on it: those of an ended incarnation end with the cleanup of that incarnation. */
    private boolean goesOn(@Nullable OperationRow row, RowKey.Timer timer) {
        return row != null && OperationRows.isUnfinished(row.state()) && isCurrent(timer, row.incarnation());
    }

    private boolean goesOn(@Nullable LeaseRow row, RowKey.Timer timer) {
        return row != null && isCurrent(timer, row.incarnation());
    }

    private boolean isCurrent(RowKey.Timer timer, long incarnation) {
        NodeRow node = t.get(Rows.NODES, new RowKey.Aggregate(timer.owner()));
        return node != null && NodeRows.isCurrent(node, incarnation);
    }

    private int operation(RowKey.Text key) {
        OperationRow row = t.get(Rows.OPERATIONS, key);
        if (row == null || OperationRows.isUnfinished(row.state())) {
            return 0;
        }
        t.delete(Rows.OPERATIONS, key);
        return 1;
    }

    /** A later attempt of the request has its own timer. */
    private int request(RowKey.Text key) {
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row == null || !RequestStates.isEnd(row.state()) || Timers.later(row.endedMs()) > nowMs) {
            return 0;
        }
        t.delete(Rows.REQUESTS, key);
        return 1 + (row.tail() ? EvolveRequests.dropSealed(t, key, row.attempt()) : 0);
    }

    private int promotion(RowKey.Timer timer) {
        Long due = EvolvePromotions.forget(t, timer, nowMs);
        if (due != null) {
            Timers.again(t, timer, due);
        }
        return 1;
    }

    private int grant(RowKey.Timer timer, RowKey.Text key) {
        PeerReadLeaseRow row = t.get(Rows.GRANTS, key);
        if (row == null) {
            return 0;
        }
        long due = row.blocks().isEmpty() ? Timers.later(row.endedMs()) : Timers.later(nowMs);
        if (due > nowMs) {
            Timers.again(t, timer, due);
        } else {
            t.delete(Rows.GRANTS, key);
        }
        return 1;
    }
}
