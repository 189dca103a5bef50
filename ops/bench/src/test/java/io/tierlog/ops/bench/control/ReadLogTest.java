/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.bench.BenchException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A log that was recorded is replayed as it is, or refused. */
final class ReadLogTest {
    private static final Topics TOPICS = Topics.DEFAULT;

    private final RecordedLog made =
            new FullHost(new Codec(Schemas.bundled()), new FullHost.Shape("events", Workload.nodes(2, 2), 2, 1_000), 1_000_000).record(100);

    @Test
    void everyPartitionKeepsItsEventsAndTheirOrder() {
        RecordedLog read = ReadLog.of("made", source(0), TOPICS).log(1);

        assertEquals(made.records().size(), read.records().size());
        for (int partition = 0; partition < 2; partition++) {
            List<RecordedLog.Entry> expected = of(made, partition);
            List<RecordedLog.Entry> actual = of(read, partition);
            for (int offset = 0; offset < expected.size(); offset++) {
                assertArrayEquals(expected.get(offset).value(), actual.get(offset).value());
            }
        }
        assertEquals(made.records().size() / 10, read.warmUp());
        assertTrue(read.mix().requests() > 80 && read.mix().requests() <= 100, read.mix()::toString);
        assertEquals(30 * read.mix().requests(), read.mix().promptBlocks());
    }

    /** Ids follow from offsets: a log that lost its beginning would lead to other decisions. */
    @Test
    void aLogWithoutItsBeginningIsRefused() {
        BenchException refused = assertThrows(BenchException.class, () -> ReadLog.of("made", source(1), TOPICS));

        assertTrue(refused.isBadInput());
        assertEquals(
                "tierlog.events, partition 0, has no event at offset 0, so it cannot be replayed at the same offsets", refused.getMessage());
    }

    private static List<RecordedLog.Entry> of(RecordedLog log, int partition) {
        return log.records().stream().filter(record -> record.partition() == partition).toList();
    }

    /** The log that was made, in memory; without its decisions. */
    private LogSource source(long firstOffset) {
        return new LogSource() {
            @Override
            public int partitions(String topic) {
                return 2;
            }

            @Override
            public Stream open(String topic, int partition) {
                return new Entries(topic.equals(TOPICS.events()) ? of(made, partition) : List.of(), firstOffset);
            }

            @Override
            public Stream openAll(String topic) {
                throw new UnsupportedOperationException("partitions are read one by one");
            }

            @Override
            public boolean isLive() {
                return false;
            }

            @Override
            public void close() {}
        };
    }

    private static final class Entries implements LogSource.Stream {
        private final List<RecordedLog.Entry> entries;
        private final long first;
        private boolean read;

        Entries(List<RecordedLog.Entry> entries, long first) {
            this.entries = entries;
            this.first = first;
        }

        @Override
        public List<LogEntry> next() {
            List<LogEntry> all = new ArrayList<>();
            for (int index = 0; index < entries.size() && !read; index++) {
                all.add(new LogEntry.Data(first + index, index, entries.get(index).key(), entries.get(index).value()));
            }
            read = true;
            return all;
        }

        @Override
        public long begin() {
            return first;
        }

        @Override
        public long end() {
            return first + entries.size();
        }

        @Override
        public boolean showsAll() {
            return true;
        }

        @Override
        public void close() {}
    }
}
