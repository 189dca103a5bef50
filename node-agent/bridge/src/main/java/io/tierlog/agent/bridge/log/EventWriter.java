/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.log;

import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.QueuedProducer;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.RareWarning;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the events of all nodes of a bridge, and its dead letters. No call waits for a broker. A record that cannot be delivered in time is fatal,
 * as it is for an agent: those after it would show a gap for ever. Safe for use by several threads.
 */
public final class EventWriter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EventWriter.class);
    private static final int DELIVERY_MS = 120_000;
    private static final int QUEUED_RECORDS = 10_000;
    private static final long QUEUED_BYTES = 64L << 20;
    private static final int CONGESTED_RECORDS = 5_000;
    private static final long CONGESTED_BYTES = 32L << 20;
    private static final int LETTERS = 1_000;
    private static final long LETTER_BYTES = 64L << 20;

    private final Log log;
    private final Consumer<Throwable> fatal;
    private final QueuedProducer events;
    private final QueuedProducer letters;
    private final RareWarning warning = new RareWarning(LOG);
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * What everything that talks to the log on behalf of one bridge shares.
     *
     * @param partitions of every topic
     * @param processId random id of this process
     */
    public record Log(KafkaAccess access, Topics topics, int partitions, Codec codec, String processId) {}

    /**
     * Connects; the cluster is not asked anything yet.
     *
     * @param fatal receives, once, the failure of an event that could not be delivered
     */
    public EventWriter(Log log, Consumer<Throwable> fatal) {
        this.log = log;
        this.fatal = fatal;
        events = new QueuedProducer("bridge-events", producer(log, "bridge/" + log.processId()),
                new QueuedProducer.Bounds(QUEUED_RECORDS, QUEUED_BYTES, Duration.ofMillis(DELIVERY_MS)), QueuedProducer.AfterFailure.STOP);
        letters = new QueuedProducer("bridge-dead-letters", producer(log, "bridge-letters/" + log.processId()),
                new QueuedProducer.Bounds(LETTERS, LETTER_BYTES, Duration.ofSeconds(30)));
    }

    private static KafkaProducer<byte[], byte[]> producer(Log log, String client) {
        return new KafkaProducer<>(log.access().signed(RecordSigner.Writer.BRIDGE, log.access().producer(Map.of(
                "acks", "all",
                "enable.idempotence", "true",
                "linger.ms", 2,
                "delivery.timeout.ms", DELIVERY_MS,
                "max.block.ms", QueuedProducer.MAX_BLOCK_MS,
                "client.id", client))), new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Whether so much is on its way that no more should be read from engines. */
    public boolean congested() {
        return records.get() >= CONGESTED_RECORDS || bytes.get() >= CONGESTED_BYTES;
    }

    /** Appends an event whose Avro binary is {@code avro}. */
    void append(Event event, byte[] avro) {
        String aggregate = event.envelope().aggregate();
        String topic = log.topics().events();
        byte[] value = log.codec().frame(topic, event.schema(), avro);
        records.incrementAndGet();
        bytes.addAndGet(value.length);
        events.send(new ProducerRecord<>(topic, Partitions.of(aggregate, log.partitions()), Partitions.key(aggregate), value),
                failure -> {
                    delivered(value.length);
                    fail(failure);
                },
                () -> delivered(value.length));
    }

    private void delivered(int size) {
        records.decrementAndGet();
        bytes.addAndGet(-size);
    }

    private void fail(Throwable failure) {
        if (failed.compareAndSet(false, true)) {
            fatal.accept(new IllegalStateException("an event could not be delivered to " + log.topics().events() + ": " + failure.getMessage()
                    + "; start the bridge again once " + log.access().bootstrapServers() + " answers", failure));
        }
    }

    /** Puts a payload that cannot be read aside as it came. */
    public void deadLetter(String source, byte[] payload, String reason) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("tierlog.source", source.getBytes(StandardCharsets.UTF_8));
        headers.add("tierlog.reason", "MALFORMED".getBytes(StandardCharsets.UTF_8));
        headers.add("tierlog.detail", reason.getBytes(StandardCharsets.UTF_8));
        letters.send(new ProducerRecord<>(log.topics().deadLetters(), null, source.getBytes(StandardCharsets.UTF_8), payload, headers),
                failure -> warning.warn("no dead letter for a payload of {}: {}", source, Causes.of(failure)), () -> {});
    }

    /** Waits for what is on its way, for some seconds at most. */
    @Override
    public void close() {
        events.close(Duration.ofSeconds(5));
        letters.close(Duration.ofSeconds(1));
    }
}
