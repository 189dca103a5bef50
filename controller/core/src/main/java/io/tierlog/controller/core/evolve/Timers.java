/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.state.ClockRow;

/** Sets and cancels timers, and how long rows of what has ended are kept. Without state. */
final class Timers {
    private Timers() {}

    /** How long the row of an ended request or operation is kept, in milliseconds of log time. */
    static final long KEPT_MS = 60_000;

    /** Sets a timer that is due when the row may be forgotten. */
    static void set(Tables t, Fact fact, RowKey.Timer.Kind kind, String id) {
        set(t, fact, kind, id, later(fact.envelope().timeMs()));
    }

    /** Sets a timer. */
    static void set(Tables t, Fact fact, RowKey.Timer.Kind kind, String id, long dueMs) {
        set(t, timer(fact, kind, id, dueMs));
    }

    /** Sets a timer; its queue begins with it when it is due before all others. */
    static void set(Tables t, RowKey.Timer timer) {
        t.put(Rows.TIMERS, timer, Rows.ENTRY);
        RowKey.Aggregate clock = new RowKey.Aggregate(timer.aggregate());
        ClockRow row = t.get(Rows.CLOCK, clock);
        if (row != null && timer.dueMs() < ClockRows.from(row, timer.queue())) {
            t.put(Rows.CLOCK, clock, ClockRows.from(row, timer.queue(), timer.dueMs()));
        }
    }

    /** Sets a timer again, at a later time. */
    static void again(Tables t, RowKey.Timer timer, long dueMs) {
        set(t, RowKey.Timer.of(timer.aggregate(), dueMs, timer.kind(), timer.owner(), timer.id()));
    }

    /** Takes a timer back. */
    static void cancel(Tables t, Fact fact, RowKey.Timer.Kind kind, String id, long dueMs) {
        t.delete(Rows.TIMERS, timer(fact, kind, id, dueMs));
    }

    private static RowKey.Timer timer(Fact fact, RowKey.Timer.Kind kind, String id, long dueMs) {
        return RowKey.Timer.of(Aggregates.clockOf(fact.envelope().sender()), dueMs, kind, fact.envelope().aggregate(), id);
    }

    /** Log time at which a row may be deleted whose subject ended at {@code timeMs}. */
    static long later(long timeMs) {
        return timeMs > Long.MAX_VALUE - KEPT_MS ? Long.MAX_VALUE : timeMs + KEPT_MS;
    }
}
