/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.KafkaAccess;
import io.tierlog.ops.bench.report.BenchException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A thread that forwards what it reads: a plain consumer and an idempotent producer that waits for nothing. It keeps no state, commits nothing and
 * loses or repeats records in a crash, so no controller can be faster.
 */
final class RelayLoop implements Application {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long JOIN_MS = 10_000;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final String to;
    private final Thread thread;
    private volatile boolean closing;

    /** When this returns, it is at the end of {@code from}. */
    static RelayLoop atEnd(KafkaAccess access, String from, String to) {
        return new RelayLoop(access, from, to, true);
    }

    /** Forwards everything that is in {@code from}. */
    static RelayLoop fromBeginning(KafkaAccess access, String from, String to) {
        return new RelayLoop(access, from, to, false);
    }

    private RelayLoop(KafkaAccess access, String from, String to, boolean atEnd) {
        this.to = to;
        consumer = new KafkaConsumer<>(
                access.client(Map.of("enable.auto.commit", "false", "auto.offset.reset", "earliest")),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        producer = new KafkaProducer<>(
                access.producer(Map.of("acks", "all", "enable.idempotence", "true", "linger.ms", 0)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        producer.partitionsFor(to);
        List<TopicPartition> partitions = IntStream.range(0, consumer.partitionsFor(from).size())
                .mapToObj(number -> new TopicPartition(from, number))
                .toList();
        consumer.assign(partitions);
        if (atEnd) {
            consumer.seekToEnd(partitions);
        }
        partitions.forEach(consumer::position);
        thread = Thread.ofPlatform().name("bench-relay").start(this::relay);
    }

    private void relay() {
        while (!closing) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                var _ = producer.send(new ProducerRecord<>(to, record.key(), record.value()));
            }
        }
    }

    @Override
    public void awaitRunning(Duration patience) {}

    @Override
    public void check() {
        if (!thread.isAlive()) {
            throw BenchException.failed("the bare relay stopped", "run again with --verbose");
        }
    }

    @Override
    public void close() {
        closing = true;
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        producer.close(Duration.ofSeconds(2));
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
    }
}
