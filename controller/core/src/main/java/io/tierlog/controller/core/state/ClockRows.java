/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.TickCounter;
import io.tierlog.schemas.state.ClockRow;
import org.jspecify.annotations.Nullable;

/** What rows of clocks mean. Without state. */
public final class ClockRows {
    private ClockRows() {}

    /** The clock of a partition that has just been opened. */
    public static ClockRow opened(int coreVersion) {
        return new ClockRow(0, 0, coreVersion, 0, Policies.INITIAL, 0, 0, 0, 0, 0, 0);
    }

    /** The same clock at another time. */
    public static ClockRow at(ClockRow row, long logTimeMs, long ticks, @Nullable TickCounter counter) {
        ClockRow.Edit clock = row.edit();
        clock.logTimeMs = logTimeMs;
        clock.ticks = ticks;
        clock.counter = counter;
        return clock.row();
    }

    /** The same clock, decided by a later version of the core. */
    public static ClockRow raised(ClockRow row, int coreVersion) {
        ClockRow.Edit clock = row.edit();
        clock.coreVersion = coreVersion;
        return clock.row();
    }

    /** The same clock with another policy. */
    public static ClockRow with(ClockRow row, long version, Policy policy) {
        ClockRow.Edit clock = row.edit();
        clock.policyVersion = version;
        clock.policy = policy;
        return clock.row();
    }

    /** The node session in milliseconds: the ticks without an event after which a node counts as lost; null when that time is not known. */
    public static @Nullable Long sessionMs(ClockRow row) {
        TickCounter counter = row.counter();
        int ticks = row.policy().nodeTimeoutTicks();
        return counter == null || ticks == 0 ? null : Long.valueOf((long) ticks * counter.intervalMs());
    }

    /** No timer of the queue is due before this log time. */
    public static long from(ClockRow row, RowKey.Timer.Queue queue) {
        return switch (queue) {
            case ACT -> row.actFromMs();
            case MARK -> row.markFromMs();
            case FORGET -> row.forgetFromMs();
            case EXPIRE -> row.expireFromMs();
        };
    }

    /** The same clock, with a queue whose first timer is due at {@code fromMs} or later. */
    public static ClockRow from(ClockRow row, RowKey.Timer.Queue queue, long fromMs) {
        ClockRow.Edit clock = row.edit();
        switch (queue) {
            case ACT -> clock.actFromMs = fromMs;
            case MARK -> clock.markFromMs = fromMs;
            case FORGET -> clock.forgetFromMs = fromMs;
            case EXPIRE -> clock.expireFromMs = fromMs;
        }
        return clock.row();
    }

    /** The same clock after a node has expired whose last incarnation was {@code incarnation}. */
    public static ClockRow expired(ClockRow row, long incarnation) {
        ClockRow.Edit clock = row.edit();
        clock.expiredIncarnation = Math.max(row.expiredIncarnation(), incarnation);
        return clock.row();
    }

    /** The same clock with so many more rows of placements in its partition. */
    public static ClockRow placed(ClockRow row, long more) {
        ClockRow.Edit clock = row.edit();
        clock.placements += more;
        return clock.row();
    }
}
