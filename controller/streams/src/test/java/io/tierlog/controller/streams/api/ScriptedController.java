/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.BytesTables;
import io.tierlog.controller.core.table.OrderedBytes;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.streams.TestLog;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The records of a controller, one by one as a test writes them: rows to the changelog and facts to the decisions topic, in transactions, by the
 * core's
 * own encoding. So a test can call the API at every moment of a decision, and with rows that would take long to produce. One thread.
 */
final class ScriptedController implements AutoCloseable {
    final LogAccess access;
    private final TestLog log;
    private final KafkaProducer<byte[], byte[]> producer;
    private final LogReader<Event> events;
    private final List<LogReader.Entry<Event>> read = new ArrayList<>();
    private final BytesTables tables;
    private int home;

    ScriptedController(TestLog log) throws Exception {
        this.log = log;
        access = new LogAccess(log.access, log.topics, log.codec, log.partitions, log.topics.prefix() + "-played-changelog");
        try (Admin admin = Admin.create(log.access.client(Map.of()))) {
            admin.createTopics(List.of(new NewTopic(access.changelog(), log.partitions, (short) 1))).all().get();
        }
        producer = new KafkaProducer<>(
                log.access.client(Map.of("transactional.id", log.topics.prefix() + "-played", "transaction.timeout.ms", 60_000)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        producer.initTransactions();
        events = log.reader(log.topics.events(), Event.class, Isolation.ALL);
        tables = new BytesTables(new Changelog());
    }

    /** Does all of it in one transaction. */
    void commit(Runnable work) {
        begin(work);
        producer.commitTransaction();
    }

    /** Does all of it, and leaves the transaction open. */
    void begin(Runnable work) {
        producer.beginTransaction();
        work.run();
        producer.flush();
    }

    void abort() {
        producer.abortTransaction();
    }

    /** Within a transaction: sets a row, or removes it. */
    <K extends RowKey<K>, V extends WireRecord> void row(Table<K, V> table, K key, @Nullable V row) {
        home = Partitions.of(key.aggregate(), log.partitions);
        if (row == null) {
            tables.delete(table, key);
        } else {
            tables.put(table, key, row);
        }
    }

    /** Within a transaction: puts a fact on record. */
    void fact(Fact fact) {
        String aggregate = fact.envelope().aggregate();
        send(log.topics.decisions(), Partitions.of(aggregate, log.partitions), Partitions.key(aggregate),
                log.codec.encode(log.topics.decisions(), fact));
    }

    /** Within a transaction: time goes on after the input at {@code offset}, in the partition of an aggregate. */
    void tickAfter(String aggregate, long offset) {
        int partition = Partitions.of(aggregate, log.partitions);
        String clock = Partitions.clock(partition);
        fact(new TimeAdvanced(envelope(clock, clock + "@" + (offset + 1)), 1, 1));
    }

    /** Envelope of a fact. */
    Envelope envelope(String aggregate, String cause) {
        return new Envelope(aggregate, "controller/" + Partitions.of(aggregate, log.partitions), 0, 1, 0, 1, cause, null, null);
    }

    /** The next event of that type that was not taken yet. */
    <E extends Event> Asked<E> next(Class<E> type) {
        List<Asked<E>> found = new ArrayList<>();
        TestLog.await("a " + type.getSimpleName(), () -> {
            events.readToEnd(read::add);
            found.clear();
            for (LogReader.Entry<Event> entry : read) {
                if (entry.reading() instanceof Reading.Decoded<Event>(Event event) && type.isInstance(event)) {
                    found.add(new Asked<>(type.cast(event), entry.offset()));
                }
            }
            return !found.isEmpty();
        });
        Asked<E> first = found.getFirst();
        read.removeIf(entry -> entry.reading() instanceof Reading.Decoded<Event>(Event event) && event == first.event());
        return first;
    }

    /** How many events of that type were appended and not taken. */
    long waiting(Class<? extends Event> type) {
        events.readToEnd(read::add);
        return read.stream().filter(entry -> entry.reading() instanceof Reading.Decoded<Event>(Event event) && type.isInstance(event)).count();
    }

    /** An event, and where it stands. */
    record Asked<E extends Event>(E event, long offset) {
        String cause() {
            return event.envelope().aggregate() + "@" + offset;
        }
    }

    @Override
    public void close() {
        events.close();
        producer.close();
    }

    private void send(String topic, int partition, byte[] key, byte @Nullable [] value) {
        Future<RecordMetadata> _ = producer.send(new ProducerRecord<>(topic, partition, key, value));
    }

    private final class Changelog implements OrderedBytes {
        @Override
        public byte @Nullable [] get(byte[] key) {
            throw new UnsupportedOperationException("rows are written, not read");
        }

        @Override
        public void put(byte[] key, byte[] value) {
            send(access.changelog(), home, key, value);
        }

        @Override
        public void delete(byte[] key) {
            send(access.changelog(), home, key, null);
        }

        @Override
        public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
            throw new UnsupportedOperationException("rows are written, not read");
        }
    }
}
