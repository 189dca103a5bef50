/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.state.GrantRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.RequestRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Timers, and the end of rows that are kept a while after what they stand for has ended, so that a late report meets a name it knows.
 *
 * <p>A timer is set once, when something begins, and is not touched when it ends; when it falls due, it is either the time to forget the
 * row, or not yet, or the thing has not ended and is left for decide. That is one row less to write for everything that ends in time.
 * Without state. At most {@value #PER_TICK} timers are served by one tick.
 */
final class Forgetting {
    /** How long the name of an ended request or operation is known, in milliseconds of log time. */
    static final long KEPT_MS = 60_000;

    private static final int PER_TICK = 1_000;

    private Forgetting() {}

    /** Sets a timer that is due when the row may be forgotten. */
    static void remember(Tables t, Decision fact, int kind, String id) {
        remember(t, fact, kind, id, later(fact.envelope().timeMs()));
    }

    /** Sets a timer. */
    static void remember(Tables t, Decision fact, int kind, String id, long dueMs) {
        t.put(Rows.TIMERS, timer(fact, kind, id, dueMs), Rows.ENTRY);
    }

    /** Takes a timer back. */
    static void forget(Tables t, Decision fact, int kind, String id, long dueMs) {
        t.delete(Rows.TIMERS, timer(fact, kind, id, dueMs));
    }

    private static RowKey.Timer timer(Decision fact, int kind, String id, long dueMs) {
        return new RowKey.Timer(Aggregates.clockOf(fact.envelope().sender()), dueMs, kind, fact.envelope().aggregate(), id);
    }

    private static long later(long timeMs) {
        return timeMs > Long.MAX_VALUE - KEPT_MS ? Long.MAX_VALUE : timeMs + KEPT_MS;
    }

    /** The timers of a partition that are due, at most {@code most} of them. */
    static List<RowKey.Timer> due(Tables t, String clock, long nowMs, int most) {
        List<RowKey.Timer> due = new ArrayList<>();
        RowKey.Timer first = new RowKey.Timer(clock, Long.MIN_VALUE, 0, "", "");
        RowKey.@Nullable Timer end = nowMs == Long.MAX_VALUE ? null : new RowKey.Timer(clock, nowMs + 1, 0, "", "");
        try (var scan = t.range(Rows.TIMERS, first, end)) {
            while (due.size() < most && scan.next()) {
                due.add(scan.key());
            }
        }
        return due;
    }

    /** Forgets what has ended long enough ago. */
    static void run(Tables t, String clock, long nowMs) {
        for (RowKey.Timer timer : due(t, clock, nowMs, PER_TICK)) {
            RowKey.Text key = new RowKey.Text(timer.owner(), timer.id());
            switch (timer.kind()) {
                case RowKey.Timer.OPERATION -> operation(t, timer, key, nowMs);
                case RowKey.Timer.REQUEST -> request(t, timer, key, nowMs);
                // Timers of leases are taken back when the lease ends.
                case RowKey.Timer.LEASE -> {}
                // Those of marks go with the fact that the mark's time is over, or that it is gone.
                case RowKey.Timer.MARK -> {}
                case RowKey.Timer.MIGRATION -> EvolveMigrations.forget(t, timer, nowMs);
                case RowKey.Timer.PROMOTION -> promotion(t, timer, nowMs);
                case RowKey.Timer.ANSWER -> EvolveMigrations.forgetWhenAnswered(t, timer);
                case RowKey.Timer.GRANT -> grant(t, timer, key, nowMs);
                default -> throw new IllegalHistory("A timer of kind " + timer.kind());
            }
        }
    }

    private static void operation(Tables t, RowKey.Timer timer, RowKey.Text key, long nowMs) {
        OperationRow row = t.get(Rows.OPERATIONS, key);
        if (row == null || !EvolveOperations.isUnfinished(row.state())) {
            t.delete(Rows.TIMERS, timer);
            if (row != null && later(row.endedMs()) <= nowMs) {
                t.delete(Rows.OPERATIONS, key);
            } else if (row != null) {
                again(t, timer, later(row.endedMs()));
            }
        }
    }

    private static void request(Tables t, RowKey.Timer timer, RowKey.Text key, long nowMs) {
        t.delete(Rows.TIMERS, timer);
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row == null) {
            return;
        }
        long due = RequestStates.isEnd(row.state()) ? later(row.endedMs()) : later(nowMs);
        if (due > nowMs) {
            again(t, timer, due);
            return;
        }
        if (row.tail()) {
            dropSealed(t, key, row.attempt());
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
        GrantRow row = t.get(Rows.GRANTS, key);
        if (row == null) {
            return;
        }
        long due = row.blocks().isEmpty() ? later(row.endedMs()) : later(nowMs);
        if (due > nowMs) {
            again(t, timer, due);
        } else {
            t.delete(Rows.GRANTS, key);
        }
    }

    private static void again(Tables t, RowKey.Timer timer, long dueMs) {
        t.put(Rows.TIMERS, new RowKey.Timer(timer.aggregate(), dueMs, timer.kind(), timer.owner(), timer.id()), Rows.ENTRY);
    }

    /** Drops what an attempt has sealed and nobody has considered for write-back. */
    static void dropSealed(Tables t, RowKey.Text request, int attempt) {
        for (EvolveRequests.Sealed sealed : EvolveRequests.sealed(t, request.aggregate(), request.id(), attempt)) {
            t.delete(Rows.SEALED, sealed.key());
        }
    }
}
