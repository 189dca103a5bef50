/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.QueuedProducer;
import io.tierlog.events.sign.RecordSigner;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends ticks or commands outside of every transaction, at once and in order per partition. Safe for use by several threads.
 *
 * <p>{@link #send} never waits for the broker: a {@link QueuedProducer} does. What cannot be sent is reported to the caller and not sent
 * again: a tick is followed by another, a lost command shows as an overdue operation. Ticks and commands each have a producer, so that a
 * topic that is missing holds up nothing but its own records.
 */
final class PlainProducer implements AutoCloseable {
    private static final int DELIVERY_MS = 10_000;
    private static final int BUFFER_BYTES = 16 << 20;
    private static final QueuedProducer.Bounds BOUNDS = new QueuedProducer.Bounds(10_000, BUFFER_BYTES, Duration.ofMillis(DELIVERY_MS));

    private final Producer<byte[], byte[]> producer;
    private final QueuedProducer queue;

    /**
     * Connects.
     *
     * @param what it sends, for the name of its thread
     * @param writer signs the records
     */
    PlainProducer(String what, KafkaAccess access, RecordSigner.Writer writer) {
        this(what, new KafkaProducer<>(
                access.signed(writer, access.producer(Map.of(
                        "acks", "all",
                        "enable.idempotence", "true",
                        "linger.ms", 0,
                        "max.block.ms", QueuedProducer.MAX_BLOCK_MS,
                        "delivery.timeout.ms", DELIVERY_MS,
                        "request.timeout.ms", DELIVERY_MS / 2,
                        "buffer.memory", BUFFER_BYTES))),
                new ByteArraySerializer(),
                new ByteArraySerializer()));
    }

    /** For tests: any producer. */
    PlainProducer(String what, Producer<byte[], byte[]> producer) {
        this.producer = producer;
        this.queue = new QueuedProducer("tierlog-" + what, producer, BOUNDS);
    }

    /**
     * Requests the metadata of the topic now, so that the first record does not wait for it.
     *
     * @throws TimeoutException when that takes longer than {@code patience}
     */
    void prepare(String topic, Duration patience) {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        boolean known = false;
        while (!known) {
            known = isKnown(topic, deadlineNs);
        }
    }

    /** Waits for at most {@value QueuedProducer#MAX_BLOCK_MS} ms. */
    private boolean isKnown(String topic, long deadlineNs) {
        try {
            return !producer.partitionsFor(topic).isEmpty();
        } catch (TimeoutException e) {
            if (System.nanoTime() > deadlineNs) {
                throw e;
            }
            return false;
        }
    }

    /** Queues; calls one of the two with the outcome: on the caller's thread when the queue is full, else on another. */
    void send(ProducerRecord<byte[], byte[]> record, Consumer<Throwable> failed, Runnable acknowledged) {
        queue.send(record, failed, acknowledged);
    }

    /** Waits until Kafka's producer has all records; false when {@code patience} was too short. For tests. */
    boolean awaitHandedOver(Duration patience) throws InterruptedException {
        return queue.awaitHandedOver(patience);
    }

    @Override
    public void close() {
        queue.close(Duration.ofSeconds(2));
    }
}
