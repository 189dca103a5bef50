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
        return new ClockRow(logTimeMs, ticks, row.coreVersion(), row.policyVersion(), row.policy(), row.actFromMs(), row.markFromMs(),
                row.forgetFromMs(), row.expireFromMs(), row.expiredIncarnation(), row.placements(),
                counter);
    }

    /** The same clock, decided by a later version of the core. */
    public static ClockRow raised(ClockRow row, int coreVersion) {
        return new ClockRow(row.logTimeMs(), row.ticks(), coreVersion, row.policyVersion(), row.policy(), row.actFromMs(), row.markFromMs(),
                row.forgetFromMs(), row.expireFromMs(), row.expiredIncarnation(), row.placements(), row.counter());
    }

    /** The same clock with another policy. */
    public static ClockRow with(ClockRow row, long version, Policy policy) {
        return new ClockRow(row.logTimeMs(), row.ticks(), row.coreVersion(), version, policy, row.actFromMs(), row.markFromMs(),
                row.forgetFromMs(), row.expireFromMs(), row.expiredIncarnation(), row.placements(),
                row.counter());
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
        return new ClockRow(row.logTimeMs(), row.ticks(), row.coreVersion(), row.policyVersion(), row.policy(),
                queue == RowKey.Timer.Queue.ACT ? fromMs : row.actFromMs(),
                queue == RowKey.Timer.Queue.MARK ? fromMs : row.markFromMs(),
                queue == RowKey.Timer.Queue.FORGET ? fromMs : row.forgetFromMs(),
                queue == RowKey.Timer.Queue.EXPIRE ? fromMs : row.expireFromMs(), row.expiredIncarnation(), row.placements(),
                row.counter());
    }

    /** The same clock after a node has expired whose last incarnation was {@code incarnation}. */
    public static ClockRow expired(ClockRow row, long incarnation) {
        return new ClockRow(row.logTimeMs(), row.ticks(), row.coreVersion(), row.policyVersion(), row.policy(), row.actFromMs(), row.markFromMs(),
                row.forgetFromMs(), row.expireFromMs(), Math.max(row.expiredIncarnation(), incarnation), row.placements(), row.counter());
    }

    /** The same clock with so many more rows of placements in its partition. */
    public static ClockRow placed(ClockRow row, long more) {
        return new ClockRow(row.logTimeMs(), row.ticks(), row.coreVersion(), row.policyVersion(), row.policy(), row.actFromMs(), row.markFromMs(),
                row.forgetFromMs(), row.expireFromMs(), row.expiredIncarnation(), row.placements() + more, row.counter());
    }
}
