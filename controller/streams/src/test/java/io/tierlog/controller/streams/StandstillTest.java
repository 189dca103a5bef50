/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

final class StandstillTest {
    @RegisterExtension
    static final TestBroker BROKER = new TestBroker();

    private static final Standstill.Seen RUNNING = new Standstill.Seen(true, true, 0);
    private static final Standstill.Seen NO_THREAD = new Standstill.Seen(false, true, 0);

    private final AtomicLong nanos = new AtomicLong(-1);
    private Standstill.Seen seen = RUNNING;
    private final Standstill standstill = new Standstill(() -> seen, nanos::get);

    private Optional<String> after(Duration time, Standstill.Seen now) {
        nanos.addAndGet(time.toNanos());
        seen = now;
        return standstill.look();
    }

    private static Standstill.Seen restoring(double restored) {
        return new Standstill.Seen(true, false, restored);
    }

    @Test
    void noThreadForTenMinutesIsAStandstill() {
        assertEquals(Optional.empty(), after(Duration.ofSeconds(30), RUNNING));
        for (int s = 30; s < 600; s += 30) {
            assertEquals(Optional.empty(), after(Duration.ofSeconds(30), NO_THREAD), s + " s");
        }
        assertEquals(Optional.of("Kafka Streams has had no thread for 10 min"), after(Duration.ofSeconds(30), NO_THREAD));
    }

    @Test
    void aTaskThatNothingRestoresIsAStandstill() {
        assertEquals(Optional.empty(), after(Duration.ofSeconds(30), restoring(7)), "7 records since the last look");
        for (int s = 30; s < 600; s += 30) {
            assertEquals(Optional.empty(), after(Duration.ofSeconds(30), restoring(7)), s + " s");
        }
        assertEquals(Optional.of("Kafka Streams has neither got its partitions nor restored a record for 10 min"),
                after(Duration.ofSeconds(30), restoring(7)));
    }

    /** 20 minutes of restoring, one record in each. */
    @Test
    void aSlowRestoreIsNone() {
        for (int record = 1; record <= 20; record++) {
            assertEquals(Optional.empty(), after(Duration.ofMinutes(1), restoring(record)));
        }
    }

    /** Looks are made when the brokers answer: here they did not for an hour. */
    @Test
    void theTimeWithoutBrokersDoesNotCount() {
        assertEquals(Optional.empty(), after(Duration.ofMinutes(1), NO_THREAD));
        assertEquals(Optional.empty(), after(Duration.ofHours(1), NO_THREAD));
        assertEquals(Optional.empty(), after(Duration.ofMinutes(1), NO_THREAD));
    }

    private static Properties settings(TestLog log, Path state) {
        Properties all = new Properties();
        all.putAll(log.access.client(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG, log.topics.prefix() + "-standstill",
                StreamsConfig.STATE_DIR_CONFIG, state.toString(),
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest")));
        return all;
    }

    private static Topology topology(TestLog log, ProcessorSupplier<byte[], byte[], Void, Void> processor) {
        return new Topology().addSource("in", new ByteArrayDeserializer(), new ByteArrayDeserializer(), log.topics.events())
                .addProcessor("p", processor, "in");
    }

    /** A task loads its state, in its stream thread: no record is restored meanwhile. */
    @Test
    void aThreadThatIsAtWorkIsNoStandstill(@TempDir Path state) throws Exception {
        CountDownLatch loaded = new CountDownLatch(1);
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                KafkaStreams streams = new KafkaStreams(topology(log, () -> new ContextualProcessor<>() {
                    @Override
                    public void init(ProcessorContext<Void, Void> context) {
                        awaitEnd(loaded);
                    }

                    @Override
                    public void process(Record<byte[], byte[]> record) {}
                }), settings(log, state))) {
            streams.start();
            TestLog.await("the load", () -> Standstill.see(streams, 1).equals(new Standstill.Seen(true, true, 0)));
            assertEquals(KafkaStreams.State.REBALANCING, streams.state());
            assertEquals(new Standstill.Seen(true, false, 0), Standstill.see(streams, 1_000), "as in its first minute");
            loaded.countDown();
            TestLog.await("its end", () -> streams.state() == KafkaStreams.State.RUNNING);
        }
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            assertTrue(end.await(TestLog.PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The records of a changelog, read into another state directory. */
    @Test
    void whatIsRestoredIsCounted(@TempDir Path first, @TempDir Path second) throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            CountDownLatch written = new CountDownLatch(20);
            for (byte i = 0; i < 20; i++) {
                log.append(0, new byte[] {i}, new byte[] {i});
            }
            for (Path state : List.of(first, second)) {
                Topology topology = topology(log, () -> new ContextualProcessor<>() {
                    @Override
                    public void process(Record<byte[], byte[]> record) {
                        KeyValueStore<byte[], byte[]> store = context().getStateStore("rows");
                        store.put(record.key(), record.value());
                        written.countDown();
                    }
                }).addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("rows"), Serdes.ByteArray(), Serdes.ByteArray()), "p");
                try (KafkaStreams streams = new KafkaStreams(topology, settings(log, state))) {
                    streams.start();
                    TestLog.await("RUNNING", () -> streams.state() == KafkaStreams.State.RUNNING);
                    awaitEnd(written);
                    assertEquals(state.equals(first) ? 0 : 20, Standstill.see(streams, 60).restored());
                }
                log.forgetMembers(log.topics.prefix() + "-standstill");
            }
        }
    }

    /** A thread fails, and Streams cannot make the consumer of the one that replaces it: it says RUNNING from then on. */
    @Test
    void streamsWithoutAThreadIsSeen(@TempDir Path state) throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            AtomicBoolean failing = new AtomicBoolean();
            CountDownLatch failed = new CountDownLatch(1);
            Topology topology = topology(log, () -> new ContextualProcessor<>() {
                @Override
                public void process(Record<byte[], byte[]> record) {
                    failing.set(true);
                    throw new KafkaException("fails at a record");
                }
            });
            try (KafkaStreams streams = new KafkaStreams(topology, settings(log, state), new DefaultKafkaClientSupplier() {
                        @Override
                        public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
                            if (failing.get()) {
                                throw new KafkaException("no name of a broker resolves");
                            }
                            return super.getConsumer(config);
                        }
                    })) {
                streams.setUncaughtExceptionHandler(_ -> {
                    failed.countDown();
                    return StreamThreadExceptionResponse.REPLACE_THREAD;
                });
                AtomicLong time = new AtomicLong();
                Standstill watched = new Standstill(() -> Standstill.see(streams, 60), time::get);
                streams.start();
                TestLog.await("RUNNING", () -> streams.state() == KafkaStreams.State.RUNNING);
                assertEquals(Optional.empty(), watched.look());
                time.addAndGet(Standstill.PATIENCE.toNanos());
                assertEquals(Optional.empty(), watched.look(), "it has a thread");
                log.append(0, new byte[1], new byte[1]);
                assertTrue(failed.await(TestLog.PATIENCE.toSeconds(), TimeUnit.SECONDS));
                TestLog.await("the finding", () -> {
                    time.addAndGet(Duration.ofSeconds(30).toNanos());
                    return watched.look().equals(Optional.of("Kafka Streams has had no thread for 10 min"));
                });
            }
        }
    }
}
