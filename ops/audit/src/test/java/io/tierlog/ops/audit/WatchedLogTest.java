/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** How much of a log in memory is read, whose streams return two entries at a time. */
class WatchedLogTest {
    private final WatchedLog log = new WatchedLog(new MemoryLog()
            .withPartition("t", List.of(data(0), data(1), new LogEntry.Passed(2, 5), data(6)))
            .withPartition("t", List.of(data(10), data(11), data(12))));

    private static LogEntry data(long offset) {
        return new LogEntry.Data(offset, 0, null, null);
    }

    private List<Long> state() {
        return List.of(log.read(), log.total());
    }

    @Test
    void whatWasOpenedIsTheTotal() {
        assertEquals(List.of(0L, 0L), state());
        try (LogSource.Stream first = log.open("t", 0)) {
            assertEquals(List.of(0L, 7L), state());
            first.next();
            assertEquals(List.of(2L, 7L), state());
            try (LogSource.Stream second = log.open("t", 1, 11)) {
                assertEquals(List.of(2L, 7L + 2), state(), "of the second partition only what is from 11 on");
                first.next();
                second.next();
                assertEquals(List.of(7L + 1, 7L + 2), state());
                assertEquals(12, second.next().getFirst().offset());
                assertEquals(List.of(7L + 2, 7L + 2), state());
                assertEquals(List.of(), first.next());
            }
        }
        assertEquals(List.of(9L, 9L), state());
    }

    /** A reader that ends before the end, or opens a partition only to see where it ends. */
    @Test
    void whatAReaderLeavesOutIsNotLeft() {
        try (LogSource.Stream first = log.open("t", 0)) {
            first.next();
        }
        assertEquals(List.of(2L, 2L), state());
        try (RecordCursor only = new RecordCursor(log, "t", 1)) {
            assertEquals(13, only.end());
            assertEquals(List.of(2L, 2L + 3), state());
        }
        assertEquals(List.of(2L, 2L), state());
    }
}
