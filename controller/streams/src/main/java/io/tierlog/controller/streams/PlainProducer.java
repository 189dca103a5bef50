/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.KafkaAccess;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends ticks and commands outside of every transaction, at once and in order per partition. Safe for use by several threads.
 *
 * <p>{@link #send} does not wait for the broker, except when its buffer is full, and then at most {@value #MAX_BLOCK_MS} ms. What cannot be
 * sent is reported to the caller and not retried: a tick is followed by another, a lost command shows as an overdue operation.
 */
final class PlainProducer implements AutoCloseable {
    private static final int MAX_BLOCK_MS = 1_000;
    private static final int DELIVERY_MS = 10_000;
    private static final int BUFFER_BYTES = 16 << 20;

    private final Producer<byte[], byte[]> producer;

    PlainProducer(KafkaAccess access) {
        this(new KafkaProducer<>(
                access.client(Map.of(
                        "acks", "all",
                        "enable.idempotence", "true",
                        "linger.ms", 0,
                        "max.block.ms", MAX_BLOCK_MS,
                        "delivery.timeout.ms", DELIVERY_MS,
                        "request.timeout.ms", DELIVERY_MS / 2,
                        "buffer.memory", BUFFER_BYTES)),
                new ByteArraySerializer(),
                new ByteArraySerializer()));
    }

    /** For tests: any producer. */
    PlainProducer(Producer<byte[], byte[]> producer) {
        this.producer = producer;
    }

    /**
     * Requests the metadata of topics now, so that the first record does not wait for it.
     *
     * @throws TimeoutException when that takes longer than {@code patience}
     */
    void prepare(List<String> topics, Duration patience) {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        for (String topic : topics) {
            boolean known = false;
            while (!known) {
                known = isKnown(topic, deadlineNs);
            }
        }
    }

    /** Waits for at most {@value #MAX_BLOCK_MS} ms. */
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

    /** Sends; calls one of the two with the outcome, on the producer's thread or at once. */
    void send(ProducerRecord<byte[], byte[]> record, Consumer<Throwable> failed, Runnable acknowledged) {
        try {
            Future<RecordMetadata> _ = producer.send(record, (metadata, failure) -> {
                if (failure == null) {
                    acknowledged.run();
                } else {
                    failed.accept(failure);
                }
            });
        } catch (KafkaException e) {
            failed.accept(e);
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(2));
    }
}
