/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which timers are due. Without state. */
public final class TimerRows {
    private TimerRows() {}

    /** The timers of a partition that are due, at most {@code most} of them. */
    public static List<RowKey.Timer> due(Tables t, String clock, long nowMs, int most) {
        List<RowKey.Timer> due = new ArrayList<>();
        RowKey.Timer first = new RowKey.Timer(clock, Long.MIN_VALUE, RowKey.Timer.Kind.NONE, "", "");
        RowKey.@Nullable Timer end = nowMs == Long.MAX_VALUE ? null : new RowKey.Timer(clock, nowMs + 1, RowKey.Timer.Kind.NONE, "", "");
        try (var scan = t.range(Rows.TIMERS, first, end)) {
            while (due.size() < most && scan.next()) {
                due.add(scan.key());
            }
        }
        return due;
    }
}
