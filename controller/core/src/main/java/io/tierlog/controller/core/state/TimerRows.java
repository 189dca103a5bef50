/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.state.ClockRow;
import java.util.ArrayList;
import java.util.List;

/** Which timers are due. Without state. */
public final class TimerRows {
    private TimerRows() {}

    /**
     * The timers of a queue that are due, the oldest first. It reads from the beginning of the queue that the clock has on record: a store that
     * marks removed rows, as RocksDB does, would otherwise pass all timers that it ever had.
     *
     * @param most timers, 1 or more
     */
    public static List<RowKey.Timer> due(Tables t, String clock, ClockRow time, RowKey.Timer.Queue queue, int most) {
        List<RowKey.Timer> due = new ArrayList<>();
        RowKey.Timer first = RowKey.Timer.first(clock, queue, ClockRows.from(time, queue));
        try (var scan = t.range(Rows.TIMERS, first, RowKey.Timer.first(clock, queue, time.logTimeMs() + 1))) {
            while (due.size() < most && scan.next()) {
                due.add(scan.key());
            }
        }
        return due;
    }

    /** How long the oldest timer of a queue that is due has been due, in milliseconds of log time; 0 when none is, or the partition is not open. */
    public static long lagMs(Tables t, String clock, RowKey.Timer.Queue queue) {
        ClockRow time = t.get(Rows.CLOCK, new RowKey.Aggregate(clock));
        List<RowKey.Timer> due = time == null ? List.of() : due(t, clock, time, queue, 1);
        return time == null || due.isEmpty() ? 0 : time.logTimeMs() - due.getFirst().dueMs();
    }
}
