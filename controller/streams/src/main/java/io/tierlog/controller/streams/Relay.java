/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.streams.api.LogLoop;
import io.tierlog.events.DeadLetter;
import io.tierlog.schemas.SkipReason;
import io.tierlog.threads.RareWarning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries committed messages of one aggregate to another: reads tierlog.messages and appends the same bytes and headers to the same partition
 * of tierlog.events by a plain producer. One thread of its own; the instances of a controller share the partitions as a consumer group.
 *
 * <p>What it carries it does not read: the controller that takes it up puts aside what it cannot. A message that is too large for an event goes to
 * the dead letters from here.
 *
 * <p>At least once: it commits after the append. Receivers drop repeats by sender and number. Trade-off: a message takes a commit and two
 * hops more than an event; nothing that a request waits for goes this way.
 */
final class Relay implements LogLoop.Round, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Relay.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final int MAX_POLL = 500;

    private final ControllerConfig config;
    private final String instanceId;
    private final ControllerMetrics metrics;
    private final Health health;
    private final RareWarning warning = new RareWarning(LOG);
    private final LogLoop loop = new LogLoop("tierlog-relay", this);
    private volatile boolean watched;
    private volatile Map<TopicPartition, Long> carried = Map.of();

    Relay(ControllerConfig config, String instanceId, ControllerMetrics metrics, Health health) {
        this.config = config;
        this.instanceId = instanceId;
        this.metrics = metrics;
        this.health = health;
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

    /** From now on {@link #hasCarried} knows what was carried. */
    void watch() {
        watched = true;
    }

    /** Whether all messages before these offsets, of each partition, are among the events. */
    boolean hasCarried(Map<TopicPartition, Long> ends) {
        Map<TopicPartition, Long> now = carried;
        return ends.entrySet().stream().allMatch(end -> now.getOrDefault(end.getKey(), -1L) >= end.getValue());
    }

    /** Positions and not committed offsets, since only these pass the markers of transactions at the end. */
    private void publish(Consumer<byte[], byte[]> consumer) {
        if (watched) {
            Map<TopicPartition, Long> positions = new HashMap<>();
            consumer.assignment().forEach(partition -> positions.put(partition, consumer.position(partition)));
            carried = positions;
        }
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
    public void failed(Throwable why) {}

    private void relay(Consumer<byte[], byte[]> consumer, Producer<byte[], byte[]> producer) {
        consumer.subscribe(List.of(config.topics().messages()));
        while (loop.isOpen()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            loop.progressed();
            if (records.isEmpty()) {
                publish(consumer);
                continue;
            }
            List<Future<RecordMetadata>> appended = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                appended.add(producer.send(
                        new ProducerRecord<>(config.topics().events(), record.partition(), record.key(), record.value(), record.headers())));
            }
            Iterator<Future<RecordMetadata>> append = appended.iterator();
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (isAppended(append.next())) {
                    metrics.relayed();
                } else {
                    putAside(record, producer);
                }
            }
            consumer.commitSync();
            publish(consumer);
        }
    }

    private void putAside(ConsumerRecord<byte[], byte[]> record, Producer<byte[], byte[]> producer) {
        String detail = record.serializedValueSize() + " bytes, more than an event may have";
        DeadLetter.Place place = new DeadLetter.Place(record.topic(), record.partition(), record.offset());
        if (!isAppended(producer.send(DeadLetter.of(
                config.topics().deadLetters(), place, record.key(), record.value(), record.headers(), SkipReason.TOO_LARGE, detail)))) {
            throw new IllegalStateException("a dead letter is too large");
        }
        metrics.messagePutAside();
        String what = "the message at partition " + record.partition() + " offset " + record.offset() + " of " + record.topic()
                + " is in the dead letters: " + detail;
        warning.warn("{}", what);
        health.putAside(what);
    }

    /** False when the record itself is too large. */
    private static boolean isAppended(Future<RecordMetadata> append) {
        try {
            append.get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecordTooLargeException) {
                return false;
            }
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
