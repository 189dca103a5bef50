/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The log of a real run: the files of a stopped broker, or a cluster's. Held in memory, so that reading it is not measured. Immutable.
 *
 * <p>Partitions take turns, an event each, up to the last that led to a decision. The first tenth is the warm-up.
 */
final class ReadLog implements LogSupply {
    private static final int WARM_UP_PART = 10;
    private static final int MOST_RECORDS = 2_000_000;

    private final String name;
    private final RecordedLog log;

    private ReadLog(String name, RecordedLog log) {
        this.name = name;
        this.log = log;
    }

    /** @throws BenchException when it cannot be read, or not be replayed */
    static ReadLog of(String name, LogSource source, Topics topics) {
        Codec codec = new Codec(Schemas.bundled());
        try {
            int partitions = source.partitions(topics.events());
            List<RecordedLog.Entry> all = events(source, topics.events(), partitions);
            DecisionCount decisions = decisions(source, topics, codec.reader(Fact.class), RecordedLog.ends(partitions, all));
            List<RecordedLog.Entry> records = decided(all, partitions, decisions);
            int warmUp = records.size() / WARM_UP_PART;
            MixCount mix = new MixCount();
            RecordReader<Event> reader = codec.reader(Event.class);
            for (RecordedLog.Entry record : records.subList(warmUp, records.size())) {
                if (reader.read(record.value()) instanceof Reading.Decoded<Event> read) {
                    mix.add(read.value());
                }
            }
            if (mix.mix().requests() == 0) {
                throw BenchException.badInput(
                        "the log " + name + " has no decided request to replay", "give the log of a run with requests, for example of demo --keep");
            }
            return new ReadLog(name, new RecordedLog(partitions, records, warmUp, mix.mix(), decisions.types()));
        } catch (AuditException unreadable) {
            throw BenchException.badInput(String.valueOf(unreadable.getMessage()), unreadable.hint()).causedBy(unreadable);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public RecordedLog log(int requests) {
        return log;
    }

    private static List<RecordedLog.Entry> events(LogSource source, String topic, int partitions) {
        List<RecordedLog.Entry> records = new ArrayList<>();
        Deque<Reader> readers = new ArrayDeque<>(
                IntStream.range(0, partitions).mapToObj(p -> new Reader(new RecordCursor(source, topic, p), p)).toList());
        while (!readers.isEmpty()) {
            Reader reader = readers.remove();
            LogEntry.Data data = reader.cursor.next();
            if (data == null) {
                reader.cursor.close();
                continue;
            }
            records.add(reader.take(data, topic));
            readers.add(reader);
            if (records.size() > MOST_RECORDS) {
                throw BenchException.badInput(
                        "the log has more than " + MOST_RECORDS + " events, too many to hold in memory", "give the log of a shorter run");
            }
        }
        return records;
    }

    /** Of the events that were read: those of a running controller were read before, so that there are decisions of later ones. */
    private static DecisionCount decisions(LogSource source, Topics topics, RecordReader<Fact> reader, long[] ends) {
        DecisionCount count = new DecisionCount(ends);
        for (int partition = 0; partition < ends.length; partition++) {
            try (RecordCursor cursor = new RecordCursor(source, topics.decisions(), partition)) {
                for (LogEntry.Data data = cursor.next(); data != null; data = cursor.next()) {
                    if (data.value() != null && reader.read(data.value()) instanceof Reading.Decoded<Fact> read) {
                        count.add(partition, read.value());
                    }
                }
            }
        }
        return count;
    }

    /** Without the last events, if they led to nothing yet: a replay would decide them too. */
    private static List<RecordedLog.Entry> decided(List<RecordedLog.Entry> records, int partitions, DecisionCount decisions) {
        long[] offsets = new long[partitions];
        List<RecordedLog.Entry> decided = new ArrayList<>(records.size());
        for (RecordedLog.Entry record : records) {
            if (offsets[record.partition()]++ < decisions.decided(record.partition())) {
                decided.add(record);
            }
        }
        return decided;
    }

    /** One partition: events of the same millisecond were sent together, or nearly so. */
    private static final class Reader {
        private static final long PARTITIONS = 1_024;

        private final RecordCursor cursor;
        private final int partition;
        private long expected;
        private long timeMs;
        private long bursts;

        Reader(RecordCursor cursor, int partition) {
            this.cursor = cursor;
            this.partition = partition;
        }

        RecordedLog.Entry take(LogEntry.Data data, String topic) {
            if (data.offset() != expected || data.key() == null || data.value() == null) {
                throw BenchException.badInput(
                        topic + ", partition " + partition + ", has no event at offset " + expected
                                + ", so it cannot be replayed at the same offsets",
                        "give a log that has all its events from offset 0 on");
            }
            expected++;
            if (data.timestampMs() != timeMs) {
                timeMs = data.timestampMs();
                bursts++;
            }
            return new RecordedLog.Entry(partition, data.key(), data.value(), bursts * PARTITIONS + partition);
        }
    }
}
