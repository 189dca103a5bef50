/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.agent.core.port.EventSink;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.QueuedProducer;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.Supervised;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Events to the log, by a plain idempotent producer: numbered per aggregate from 1, each with the checksum of the one before.
 *
 * <p>Safe for use by several threads; the order of calls is the order in the log. No call waits for a broker: a {@link QueuedProducer}
 * does. After a record that cannot be delivered in time none follows: it would carry a number that shows a gap for ever. The process goes on as
 * another sender, with a sink of its own. Trade-off: what waited then is never reported; what the node holds is.
 */
public final class KafkaEventSink implements EventSink, AutoCloseable {
    private static final int REQUEST_TIMEOUT_MS = 10_000;
    private static final int END_MS = 5_000;

    private final AgentLog log;
    private final EventBuffer buffer;
    private final QueuedProducer producer;
    private final LongSupplier wallMs;
    private final Consumer<EventsLostException> lost;
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    private final AtomicInteger records = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final LongAdder appended = new LongAdder();
    /** When the log last acknowledged something, or the first event that waits was appended. */
    private volatile long progressNs = System.nanoTime();
    private final AtomicBoolean failed = new AtomicBoolean();
    private volatile long incarnation;

    KafkaEventSink(AgentLog log, EventBuffer buffer, Producer<byte[], byte[]> producer, LongSupplier wallMs,
            Consumer<EventsLostException> lost) {
        this.log = log;
        this.buffer = buffer;
        QueuedProducer.Bounds bounds = new QueuedProducer.Bounds(buffer.queuedRecords(), buffer.queuedBytes(), buffer.deliveryTimeout());
        this.producer = new QueuedProducer("agent-" + log.node() + "-events", producer, bounds, QueuedProducer.AfterFailure.STOP);
        this.wallMs = wallMs;
        this.lost = lost;
    }

    /**
     * Connects; the cluster is not asked anything yet.
     *
     * @param lost receives, once, the failure of an event that could not be delivered
     */
    public static KafkaEventSink connect(AgentLog log, EventBuffer buffer, Consumer<EventsLostException> lost) {
        int timeoutMs = Math.toIntExact(buffer.deliveryTimeout().toMillis());
        Map<String, Object> settings = log.access().signed(RecordSigner.Writer.of(KeyNames.agent(log.node())), log.access().producer(Map.of(
                "acks", "all",
                "enable.idempotence", "true",
                "linger.ms", 0,
                "delivery.timeout.ms", timeoutMs,
                "request.timeout.ms", Math.min(REQUEST_TIMEOUT_MS, timeoutMs),
                "max.block.ms", QueuedProducer.MAX_BLOCK_MS,
                "buffer.memory", (long) buffer.bytes(),
                "client.id", log.sender())));
        Producer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        return new KafkaEventSink(log, buffer, producer, System::currentTimeMillis, lost);
    }

    /** The life that later events speak for. */
    public void incarnation(long accepted) {
        incarnation = accepted;
    }

    @Override
    public synchronized void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
        if (failed.get()) {
            return;
        }
        @Nullable String why = cause.isEmpty() ? null : cause;
        RecordStamp stamp = stamps.getOrDefault(aggregate, RecordStamp.NONE);
        Envelope blank = new Envelope(aggregate, log.sender(), incarnation, 0, 0, wallMs.getAsLong(), why, null, null);
        Event event = withEnvelope.apply(stamp.onto(blank));
        byte[] avro = Codec.avro(event);
        stamps.put(aggregate, stamp.after(avro));
        send(aggregate, log.codec().frame(log.topics().events(), event.schema(), avro));
    }

    @Override
    public boolean congested() {
        return !failed.get() && (records.get() >= buffer.records() || bytes.get() >= buffer.bytes());
    }

    /** Records that the log has not acknowledged yet. */
    public int unacknowledged() {
        return records.get();
    }

    /** The same in bytes. */
    public long unacknowledgedBytes() {
        return bytes.get();
    }

    /** Events appended so far. */
    public long appended() {
        return appended.sum();
    }

    /** How long some events have waited without the log acknowledging any, ms; 0 when none waits. */
    public long silentMs() {
        return records.get() == 0 ? 0 : (System.nanoTime() - progressNs) / 1_000_000;
    }

    /** Waits until Kafka's producer has all records; false when {@code patience} was too short. For tests. */
    boolean awaitHandedOver(Duration patience) throws InterruptedException {
        return producer.awaitHandedOver(patience);
    }

    /** Gives up what the log has not acknowledged, and its memory; nothing is sent any more. */
    public void giveUp() {
        failed.set(true);
        Supervised.tasks("agent-" + log.node() + "-events-end").newThread(() -> producer.close(Duration.ZERO)).start();
    }

    /** Waits for what is on its way, for ten seconds at most, and gives the connections back. */
    @Override
    public void close() {
        producer.close(Duration.ofMillis(END_MS));
    }

    private void send(String aggregate, byte[] value) {
        if (records.getAndIncrement() == 0) {
            progressNs = System.nanoTime();
        }
        appended.increment();
        bytes.addAndGet(value.length);
        String topic = log.topics().events();
        int partition = Partitions.of(aggregate, log.partitions());
        producer.send(
                new ProducerRecord<>(topic, partition, Partitions.key(aggregate), value),
                failure -> {
                    acknowledged(value.length);
                    fail(failure);
                },
                () -> acknowledged(value.length));
    }

    private void acknowledged(int size) {
        records.decrementAndGet();
        bytes.addAndGet(-size);
        progressNs = System.nanoTime();
    }

    private void fail(Throwable failure) {
        if (failed.compareAndSet(false, true)) {
            lost.accept(new EventsLostException("an event of " + log.sender() + " could not be delivered to " + log.topics().events()
                    + " on " + log.access().bootstrapServers() + ": " + failure.getMessage(), failure));
        }
    }
}
