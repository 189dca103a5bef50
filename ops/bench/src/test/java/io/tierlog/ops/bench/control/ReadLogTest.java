/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A log that was recorded is replayed as it is, or refused. */
final class ReadLogTest {
    private static final Topics TOPICS = Topics.DEFAULT;

    private final Codec codec = new Codec(Schemas.bundled());
    private final RecordedLog made =
            new FullHost(codec, new FullHost.Shape("events", Workload.nodes(2, 2), 2, 1_000), 1_000_000).record(100);
    private final List<Decided> decided = decide(made.records());

    /** A decision, and the offset of the event that led to it. */
    private record Decided(long cause, String type, RecordedLog.Entry entry) {}

    @Test
    void everyPartitionKeepsItsEventsAndTheirOrder() {
        RecordedLog read = read(made.records(), decided);

        assertEquals(made.records().size(), read.records().size());
        for (int partition = 0; partition < 2; partition++) {
            List<RecordedLog.Entry> expected = of(made.records(), partition);
            List<RecordedLog.Entry> actual = of(read.records(), partition);
            for (int offset = 0; offset < expected.size(); offset++) {
                assertArrayEquals(expected.get(offset).value(), actual.get(offset).value());
            }
        }
        assertEquals(made.records().size() / 10, read.warmUp());
        assertTrue(read.mix().requests() > 80 && read.mix().requests() <= 100, read.mix()::toString);
        assertEquals(30 * read.mix().requests(), read.mix().promptBlocks());
        assertEquals(made.decisions(), read.decisions());
    }

    /** A running controller: its decisions are read after its events, and there are new ones meanwhile. */
    @Test
    void decisionsOfEventsThatWereNotReadYetDoNotCount() {
        List<RecordedLog.Entry> early = made.records().subList(0, made.records().size() - 100);

        RecordedLog read = read(early, decided);

        assertEquals(early.size(), read.records().size());
        assertEquals(types(decide(early)), read.decisions());
    }

    /** A controller that was killed: a replay would decide what it never decided. */
    @Test
    void eventsThatWereNeverDecidedAreNotReplayed() {
        List<Decided> early = decided.stream().filter(decision -> decision.cause < 200 + decision.entry.partition()).toList();

        RecordedLog read = read(made.records(), early);

        assertEquals(types(early), read.decisions());
        assertEquals(types(decide(read.records())), read.decisions());
        assertEquals(200, of(read.records(), 0).size());
        assertEquals(201, of(read.records(), 1).size());
    }

    /** Ids follow from offsets: a log that lost its beginning would lead to other decisions. */
    @Test
    void aLogWithoutItsBeginningIsRefused() {
        BenchException refused =
                assertThrows(BenchException.class, () -> ReadLog.of("made", source(made.records(), decided, 1), TOPICS));

        assertTrue(refused.isBadInput());
        assertEquals(
                "tierlog.events, partition 0, has no event at offset 0, so it cannot be replayed at the same offsets", refused.getMessage());
    }

    @Test
    void aLogWithoutDecisionsIsRefused() {
        BenchException refused = assertThrows(BenchException.class, () -> read(made.records(), List.of()));

        assertTrue(refused.isBadInput());
        assertEquals("the log made has no decided request to replay", refused.getMessage());
    }

    private static RecordedLog read(List<RecordedLog.Entry> events, List<Decided> decisions) {
        return ReadLog.of("made", source(events, decisions, 0), TOPICS).log(1);
    }

    /** What a core decides on these events. */
    private List<Decided> decide(List<RecordedLog.Entry> events) {
        Core core = new Core(Limits.of(2));
        List<HeapTables> tables = List.of(new HeapTables(), new HeapTables());
        long[] offsets = new long[2];
        List<Decided> all = new ArrayList<>();
        RecordReader<Event> reader = codec.reader(Event.class);
        for (RecordedLog.Entry record : events) {
            if (!(reader.read(record.value()) instanceof Reading.Decoded<Event> event)) {
                throw new AssertionError("an event that cannot be read");
            }
            int partition = record.partition();
            long offset = offsets[partition]++;
            int crc32c = RecordStamp.crc32cOfFramed(record.value());
            for (Fact fact : core.step(tables.get(partition), new Input.Recorded(partition, offset, event.value(), crc32c)).facts()) {
                byte[] value = codec.frame(TOPICS.decisions(), fact.schema(), Codec.avro(fact));
                byte[] key = Partitions.key(fact.envelope().aggregate());
                all.add(new Decided(offset, fact.schema().getName(), new RecordedLog.Entry(partition, key, value, 0)));
            }
        }
        return all;
    }

    private static Map<String, Long> types(List<Decided> decisions) {
        return decisions.stream().collect(Collectors.groupingBy(Decided::type, Collectors.counting()));
    }

    private static List<RecordedLog.Entry> of(List<RecordedLog.Entry> records, int partition) {
        return records.stream().filter(record -> record.partition() == partition).toList();
    }

    /** A log in memory. */
    private static LogSource source(List<RecordedLog.Entry> events, List<Decided> decisions, long firstOffset) {
        return new LogSource() {
            @Override
            public int partitions(String topic) {
                return 2;
            }

            @Override
            public Stream open(String topic, int partition) {
                List<RecordedLog.Entry> all = topic.equals(TOPICS.events())
                        ? events
                        : decisions.stream().map(Decided::entry).toList();
                return new Entries(of(all, partition), firstOffset);
            }

            @Override
            public Stream open(String topic, int partition, long from) {
                throw new UnsupportedOperationException("partitions are read from their beginning");
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
            public boolean hasTopic(String topic) {
                return true;
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
