/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.streams.api.LogLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Carries committed messages of one aggregate to another: reads tierlog.messages and appends the same bytes and headers to the same partition
 * of tierlog.events by a plain producer. One thread of its own; the instances of a controller share the partitions as a consumer group.
 *
 * <p>At least once: it commits after the append. Receivers drop repeats by sender and number. Trade-off: a message takes a commit and two
 * hops more than an event; nothing that a request waits for goes this way.
 */
final class Relay implements LogLoop.Round, AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final int MAX_POLL = 500;

    private final ControllerConfig config;
    private final String instanceId;
    private final ControllerMetrics metrics;
    private final LogLoop loop = new LogLoop("tierlog-relay", this);

    Relay(ControllerConfig config, String instanceId, ControllerMetrics metrics) {
        this.config = config;
        this.instanceId = instanceId;
        this.metrics = metrics;
    }

    void start() {
        loop.start();
    }

    @Override
    public void close() {
        loop.close();
    }

    /** How it is. */
    HealthParts.State state() {
        return loop.state("no message is carried from partition to partition");
    }

    /** Recreates its clients after a failure and reads again what was not committed. */
    @Override
    public void run(LogLoop its) {
        try (Producer<byte[], byte[]> producer = producer();
                Consumer<byte[], byte[]> consumer = consumer()) {
            its.reads(consumer);
            relay(consumer, producer);
        }
    }

    /** No message is lost by it. */
    @Override
    public void failed(RuntimeException why) {}

    private void relay(Consumer<byte[], byte[]> consumer, Producer<byte[], byte[]> producer) {
        consumer.subscribe(List.of(config.topics().messages()));
        while (loop.isOpen()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            loop.progressed();
            if (records.isEmpty()) {
                continue;
            }
            List<Future<RecordMetadata>> appended = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                appended.add(producer.send(
                        new ProducerRecord<>(config.topics().events(), record.partition(), record.key(), record.value(), record.headers())));
            }
            appended.forEach(Relay::await);
            consumer.commitSync();
            metrics.relayed(appended.size());
        }
    }

    private static void await(Future<RecordMetadata> append) {
        try {
            append.get();
        } catch (ExecutionException e) {
            throw new KafkaException("a message could not be appended", e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private Producer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
                config.kafka().producer(Map.of("acks", "all", "enable.idempotence", "true", "linger.ms", 0, "delivery.timeout.ms", 30_000)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private Consumer<byte[], byte[]> consumer() {
        return new KafkaConsumer<>(
                config.kafka().client(Map.of(
                        "group.id", config.applicationId() + "-relay",
                        "group.instance.id", instanceId,
                        "session.timeout.ms", config.streams().sessionTimeoutMs(),
                        "heartbeat.interval.ms", config.streams().sessionTimeoutMs() / 4,
                        "isolation.level", "read_committed",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest",
                        "max.poll.records", MAX_POLL)),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
