/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.Partitions;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Appends the requests of operators to the events topic: plain and idempotent, acknowledged by all replicas. Safe for use by several threads.
 *
 * <p>Each request has a sender of its own, operator/NAME/ID, with one record, number 1: so numbers and checksums of the log hold without a count that
 * several instances would have to share. Trade-off: an auditor remembers as many senders as there were requests.
 */
final class OperatorLog implements AutoCloseable {
    private static final int DELIVERY_MS = 10_000;
    private static final int MAX_BLOCK_MS = 2_000;

    private final LogAccess log;
    private final Producer<byte[], byte[]> producer;

    OperatorLog(LogAccess log) {
        this(log, new KafkaProducer<>(
                log.kafka().signed(RecordSigner.Writer.of(KeyNames.OPERATOR), log.kafka().client(Map.of(
                        "acks", "all",
                        "enable.idempotence", "true",
                        "linger.ms", 0,
                        "max.block.ms", MAX_BLOCK_MS,
                        "delivery.timeout.ms", DELIVERY_MS,
                        "request.timeout.ms", DELIVERY_MS / 2))),
                new ByteArraySerializer(),
                new ByteArraySerializer()));
    }

    /** A log with another producer; it is closed with it. */
    OperatorLog(LogAccess log, Producer<byte[], byte[]> producer) {
        this.log = log;
        this.producer = producer;
    }

    /**
     * Appends one event, and waits until it is acknowledged.
     *
     * @param event makes the event around its envelope
     * @return its offset
     * @throws Problem LOG_UNAVAILABLE when the append is not confirmed: the event may be in the log nevertheless
     */
    long append(Caller caller, String aggregate, Function<Envelope, Event> event) {
        String sender = "operator/" + caller.name() + "/" + UUID.randomUUID();
        Event asked = event.apply(new Envelope(aggregate, sender, 0, 1, 0, System.currentTimeMillis(), null, null, null));
        String topic = log.topics().events();
        try {
            byte[] value = log.codec().encode(topic, asked);
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, Partitions.of(aggregate, log.partitions()), Partitions.key(aggregate), value);
            return producer.send(record).get(DELIVERY_MS + MAX_BLOCK_MS, TimeUnit.MILLISECONDS).offset();
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            Throwable why = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            throw new Problem(Problem.Kind.LOG_UNAVAILABLE, "the request could not be written to the log: " + why.getMessage(),
                    "retry with the same id: if the log has the request after all, it is done once");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(Problem.Kind.LOG_UNAVAILABLE, "the controller is stopping", "retry with the same id");
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(2));
    }
}
