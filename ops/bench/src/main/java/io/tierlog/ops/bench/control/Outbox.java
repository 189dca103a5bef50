/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The one plain producer of the benchmark: idempotent and without linger, like that of an agent. Safe for use by several threads.
 *
 * <p>No thread waits for a single send: {@link #check} reports a failed one.
 */
final class Outbox implements AutoCloseable {
    private final Codec codec;
    private final Optional<RecordSigning> signing;
    private final RecordReader<Event> events;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    Outbox(KafkaAccess access, Codec codec) {
        this.codec = codec;
        this.signing = access.signing();
        this.events = codec.reader(Event.class);
        this.producer = new KafkaProducer<>(
                access.producer(Map.of("acks", "all", "enable.idempotence", "true", "linger.ms", 0)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    Codec codec() {
        return codec;
    }

    /** Fetches the metadata of a topic now, so that the first record does not wait for it. */
    void prepare(String topic) {
        producer.partitionsFor(topic);
    }

    /** Where records have codes, an event is decoded to find who must sign it: an agent knows that. */
    void send(ProducerRecord<byte[], byte[]> record) {
        signing.ifPresent(on -> {
            if (events.read(record.value()) instanceof Reading.Decoded<Event> event) {
                on.sign(event.value(), record);
            }
        });
        var _ = producer.send(record, (_, failed) -> {
            if (failed != null) {
                failure.compareAndSet(null, failed);
            }
        });
    }

    /**
     * Waits until everything sent is acknowledged.
     *
     * @throws BenchException when a record could not be sent
     */
    void flush() {
        producer.flush();
        check();
    }

    /** @throws BenchException when a record could not be sent */
    void check() {
        Exception failed = failure.get();
        if (failed != null) {
            throw BenchException.failed("a record could not be sent: " + failed.getMessage(), "look at the broker").causedBy(failed);
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(2));
    }
}
