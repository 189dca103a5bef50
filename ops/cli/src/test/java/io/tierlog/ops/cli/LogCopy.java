/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The events and decisions of a log, to be written again under another prefix with one record changed. */
final class LogCopy {
    private static final Codec CODEC = new Codec(Schemas.bundled());
    private static final RecordReader<Event> EVENTS = CODEC.reader(Event.class);
    private static final RecordReader<Fact> DECISIONS = CODEC.reader(Fact.class);

    private final List<List<byte[][]>> events;
    private final List<List<byte[][]>> decisions;
    private String prefix = "tierlog";
    private Change change = Change.NONE;
    private boolean inEvents;
    private int partition;
    private int offset;
    private int successor;
    private long sequence;
    private String chain = "";

    /** What is done to one record. */
    enum Change {
        NONE,
        /** It says another time, which no rule forbids. */
        ALTERED,
        /** It is not there. */
        REMOVED,
        /** It is there again, right after it. */
        DUPLICATED
    }

    private LogCopy(List<List<byte[][]>> events, List<List<byte[][]>> decisions) {
        this.events = events;
        this.decisions = decisions;
    }

    /** All of a log. */
    static LogCopy read(LogSource log) {
        return new LogCopy(read(log, Topics.DEFAULT.events()), read(log, Topics.DEFAULT.decisions()));
    }

    private static List<List<byte[][]>> read(LogSource log, String topic) {
        List<List<byte[][]>> partitions = new ArrayList<>();
        for (int p = 0; p < log.partitions(topic); p++) {
            List<byte[][]> records = new ArrayList<>();
            try (LogSource.Stream stream = log.open(topic, p)) {
                for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                    for (LogEntry entry : entries) {
                        if (entry instanceof LogEntry.Data data && data.key() != null && data.value() != null) {
                            records.add(new byte[][] {data.key(), data.value()});
                        }
                    }
                }
            }
            partitions.add(records);
        }
        return partitions;
    }

    /** A copy with one record changed, drawn from {@code seed}; never the last one of its sender about its aggregate. */
    LogCopy with(Change what, boolean ofEvents, long seed) {
        LogCopy copy = new LogCopy(new ArrayList<>(events), new ArrayList<>(decisions));
        copy.change = what;
        copy.inEvents = ofEvents;
        copy.prefix = "copy-" + what.name().toLowerCase(java.util.Locale.ROOT) + "-" + (ofEvents ? "events" : "decisions");
        List<List<byte[][]>> side = ofEvents ? copy.events : copy.decisions;
        Random random = new Random(seed);
        do {
            copy.partition = random.nextInt(side.size());
            copy.offset = random.nextInt(Math.max(1, side.get(copy.partition).size()));
        } while (!copy.findSuccessor(side.get(copy.partition)));
        List<byte[][]> records = new ArrayList<>(side.get(copy.partition));
        byte[][] record = records.get(copy.offset);
        switch (what) {
            case NONE -> {}
            case ALTERED -> records.set(copy.offset, new byte[][] {record[0], copy.later(record[1])});
            case REMOVED -> records.remove(copy.offset);
            case DUPLICATED -> records.add(copy.offset, record);
        }
        side.set(copy.partition, records);
        return copy;
    }

    private boolean findSuccessor(List<byte[][]> records) {
        if (records.isEmpty()) {
            return false;
        }
        Envelope mine = envelope(records.get(offset)[1]);
        chain = mine.sender() + " about " + mine.aggregate();
        sequence = mine.sequence();
        for (int i = offset + 1; i < records.size(); i++) {
            Envelope other = envelope(records.get(i)[1]);
            // Ticks and messages of the policy have rules of their own.
            if (other.sender().equals(mine.sender()) && other.aggregate().equals(mine.aggregate())) {
                successor = change == Change.REMOVED ? i - 1 : i;
                return !mine.sender().equals("policy") && !mine.sender().startsWith("clock/");
            }
        }
        return false;
    }

    private Envelope envelope(byte[] value) {
        return inEvents ? decoded(EVENTS.read(value)).envelope() : decoded(DECISIONS.read(value)).envelope();
    }

    private byte[] later(byte[] value) {
        Envelope e = envelope(value);
        Envelope later = new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), e.previousCrc32c(), e.timeMs() + 1, e.cause(),
                e.traceContext(), e.taken(), e.repeats());
        return inEvents
                ? CODEC.encode(topic(), decoded(EVENTS.read(value)).withEnvelope(later))
                : CODEC.encode(topic(), decoded(DECISIONS.read(value)).withEnvelope(later));
    }

    private static <F extends WireRecord> F decoded(Reading<F> reading) {
        if (reading instanceof Reading.Decoded<F>(F value)) {
            return value;
        }
        throw new AssertionError("a record of the log cannot be read: " + reading);
    }

    /** Writes it to a cluster, with topics of its own. */
    void write(KafkaAccess access) {
        Topics topics = new Topics(prefix);
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(topics, events.size(), 1);
        }
        Map<String, List<List<byte[][]>>> sides = new LinkedHashMap<>();
        sides.put(topics.events(), events);
        sides.put(topics.decisions(), decisions);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        // One request at a time: a second batch that overtakes the first on a new partition is refused as out of order, again and again.
        Map<String, Object> settings = access.client(Map.of("acks", "all", "linger.ms", 5, "max.in.flight.requests.per.connection", 1));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            sides.forEach((topic, partitions) -> {
                for (int p = 0; p < partitions.size(); p++) {
                    for (byte[][] record : partitions.get(p)) {
                        sent.add(producer.send(new ProducerRecord<>(topic, p, record[0], record[1])));
                    }
                }
            });
            producer.flush();
        }
        for (Future<RecordMetadata> one : sent) {
            try {
                one.get();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError("the copy of the log is not whole", e);
            }
        }
    }

    String prefix() {
        return prefix;
    }

    Change change() {
        return change;
    }

    /** Topic of the record that was changed. */
    String topic() {
        Topics topics = new Topics(prefix);
        return inEvents ? topics.events() : topics.decisions();
    }

    int partition() {
        return partition;
    }

    /** Where the record that was changed is or was. */
    long offset() {
        return offset;
    }

    /** Where the next one of its chain is in the copy. */
    long successor() {
        return successor;
    }

    /** Number of the record that was changed. */
    long sequence() {
        return sequence;
    }

    /** Whose record it is, and about whom. */
    String chain() {
        return chain;
    }
}
