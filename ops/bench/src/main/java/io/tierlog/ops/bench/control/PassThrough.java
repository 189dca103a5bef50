/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.report.BenchException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;

/**
 * An empty Kafka Streams application, exactly once, with the settings of the controller. Its time beyond the relay's is the cost of Kafka Streams and
 * its transactions; the controller's time beyond its own is the cost of the controller.
 */
final class PassThrough {
    private static final Duration CLOSE = Duration.ofSeconds(20);
    private static final int POLL_MS = 5;
    private static final int SESSION_MS = 10_000;

    private final Environment environment;
    private final KafkaAccess access;
    private final String name;
    private final String from;
    private final Topology topology;

    private PassThrough(Environment environment, KafkaAccess access, String name, String from, Topology topology) {
        this.environment = environment;
        this.access = access;
        this.name = name;
        this.from = from;
        this.topology = topology;
    }

    /** Forwards every record. */
    static PassThrough forwarding(Environment environment, String name, String from, String to) {
        return forwarding(environment, environment.access(), name, from, to);
    }

    /** Forwards every record, by a producer with the compression of {@code access}. */
    static PassThrough forwarding(Environment environment, KafkaAccess access, String name, String from, String to) {
        Topology topology = source(from);
        topology.addProcessor("pass", Forward::new, "in");
        topology.addSink("out", to, new ByteArraySerializer(), new ByteArraySerializer(), "pass");
        return new PassThrough(environment, access, name, from, topology);
    }

    /** Has the controller's topics and a store with a changelog, and does nothing with any record. */
    static PassThrough idle(Environment environment, KafkaAccess access, String name, String from, Topics topics, int partitions) {
        // Made by Streams otherwise, which complains that it is not there yet.
        environment.topic(name + "-state-changelog", partitions);
        Topology topology = source(from);
        topology.addProcessor("pass", Drop::new, "in");
        topology.addStateStore(
                Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("state"), Serdes.ByteArray(), Serdes.ByteArray()), "pass");
        for (Topics.Spec spec : topics.specs()) {
            if (spec.ofEachLog() && !spec.name().equals(topics.events())) {
                topology.addSink(spec.name(), spec.name(), new ByteArraySerializer(), new ByteArraySerializer(), "pass");
            }
        }
        return new PassThrough(environment, access, name, from, topology);
    }

    private static Topology source(String from) {
        Topology topology = new Topology();
        topology.addSource("in", new ByteArrayDeserializer(), new ByteArrayDeserializer(), from);
        return topology;
    }

    String from() {
        return from;
    }

    /** The consumer group of its offsets. */
    String group() {
        return environment.named(name);
    }

    /** Starts it. */
    Application start() {
        KafkaStreams streams = new KafkaStreams(topology, settings());
        CountDownLatch running = new CountDownLatch(1);
        streams.setStateListener((state, _) -> {
            if (state == KafkaStreams.State.RUNNING || state == KafkaStreams.State.ERROR) {
                running.countDown();
            }
        });
        streams.start();
        return new Started(streams, running);
    }

    private record Started(KafkaStreams streams, CountDownLatch running) implements Application {
        @Override
        public void awaitRunning(Duration patience) throws InterruptedException {
            if (!running.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw BenchException.failed("the empty pass-through did not start: it is " + streams.state(), "run again with --verbose");
            }
            check();
        }

        @Override
        public void check() {
            KafkaStreams.State state = streams.state();
            if (state == KafkaStreams.State.PENDING_ERROR || state == KafkaStreams.State.ERROR || state == KafkaStreams.State.NOT_RUNNING) {
                throw BenchException.failed("the empty pass-through stopped: it is " + state, "run again with --verbose");
            }
        }

        @Override
        public void close() {
            streams.close(CLOSE);
        }
    }

    private Properties settings() {
        Properties all = new Properties();
        all.putAll(access.properties());
        all.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, access.bootstrapServers());
        all.put(StreamsConfig.APPLICATION_ID_CONFIG, group());
        all.put(StreamsConfig.STATE_DIR_CONFIG, environment.directory(name).toString());
        all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, environment.config().tuning().commitIntervalMs());
        all.put(StreamsConfig.POLL_MS_CONFIG, POLL_MS);
        // Without a value Kafka warns that the default will change.
        all.put("processing.exception.handler.global.enabled", true);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 0);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), access.compression());
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG), "bench");
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), SESSION_MS);
        all.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        return all;
    }

    /** Forwards every record. */
    private static final class Forward extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
        @Override
        public void process(Record<byte[], byte[]> record) {
            context().forward(record);
        }
    }

    /** Forwards no record. */
    private static final class Drop extends ContextualProcessor<byte[], byte[], byte[], byte[]> {
        @Override
        public void process(Record<byte[], byte[]> record) {}
    }
}
