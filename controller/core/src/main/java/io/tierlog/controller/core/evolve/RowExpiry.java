/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.RequestRow;

/**
 * Timers, and removal of rows that are kept for a while after their subject has ended, so that a late report still finds its row.
 *
 * <p>A timer is set once, when its subject begins, and is not changed when the subject ends. When it is due there are three cases: the row is
 * removed, or the timer is set again, or the subject has not ended and decide handles it. That saves one row write for everything that ends in
 * time.
 * Without state. At most {@value #PER_TICK} timers are served by one tick.
 */
final class RowExpiry {
    private static final int PER_TICK = 1_000;

    private RowExpiry() {}

    /** Forgets what has ended long enough ago. */
    static void run(Tables t, String clock, long nowMs) {
        for (RowKey.Timer timer : TimerRows.due(t, clock, nowMs, PER_TICK)) {
            RowKey.Text key = new RowKey.Text(timer.owner(), timer.id());
            switch (timer.kind()) {
                case OPERATION -> operation(t, timer, key, nowMs);
                case REQUEST -> request(t, timer, key, nowMs);
                // Timers of leases are taken back when the lease ends.
                case LEASE -> {}
                // Those of marks go with the fact that the mark's time is over, or that it is gone.
                case MARK -> {}
                case MIGRATION -> EvolveMigrations.forget(t, timer, nowMs);
                case PROMOTION -> promotion(t, timer, nowMs);
                case ANSWER -> EvolveMigrations.forgetWhenAnswered(t, timer);
                case GRANT -> grant(t, timer, key, nowMs);
                case NONE -> throw new IllegalHistory("A timer of no kind");
            }
        }
    }

    private static void operation(Tables t, RowKey.Timer timer, RowKey.Text key, long nowMs) {
        OperationRow row = t.get(Rows.OPERATIONS, key);
        if (row == null || !OperationRows.isUnfinished(row.state())) {
            t.delete(Rows.TIMERS, timer);
            if (row != null && Timers.later(row.endedMs()) <= nowMs) {
                t.delete(Rows.OPERATIONS, key);
            } else if (row != null) {
                again(t, timer, Timers.later(row.endedMs()));
            }
        }
    }

    private static void request(Tables t, RowKey.Timer timer, RowKey.Text key, long nowMs) {
        t.delete(Rows.TIMERS, timer);
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row == null) {
            return;
        }
        long due = RequestStates.isEnd(row.state()) ? Timers.later(row.endedMs()) : Timers.later(nowMs);
        if (due > nowMs) {
            again(t, timer, due);
            return;
        }
        if (row.tail()) {
            EvolveRequests.dropSealed(t, key, row.attempt());
        }
        t.delete(Rows.REQUESTS, key);
    }

    private static void promotion(Tables t, RowKey.Timer timer, long nowMs) {
        t.delete(Rows.TIMERS, timer);
        Long due = EvolvePromotions.forget(t, timer, nowMs);
        if (due != null) {
            again(t, timer, due);
        }
    }

    private static void grant(Tables t, RowKey.Timer timer, RowKey.Text key, long nowMs) {
        t.delete(Rows.TIMERS, timer);
        PeerReadLeaseRow row = t.get(Rows.GRANTS, key);
        if (row == null) {
            return;
        }
        long due = row.blocks().isEmpty() ? Timers.later(row.endedMs()) : Timers.later(nowMs);
        if (due > nowMs) {
            again(t, timer, due);
        } else {
            t.delete(Rows.GRANTS, key);
        }
    }

    private static void again(Tables t, RowKey.Timer timer, long dueMs) {
        t.put(Rows.TIMERS, new RowKey.Timer(timer.aggregate(), dueMs, timer.kind(), timer.owner(), timer.id()), Rows.ENTRY);
    }


}
