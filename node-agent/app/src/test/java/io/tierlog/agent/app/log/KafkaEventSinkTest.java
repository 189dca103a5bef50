/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** Events as they leave, with a producer that acknowledges when told to: congested from 3 records on. */
class KafkaEventSinkTest {
    private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
    private final Codec codec = new Codec(Schemas.bundled());
    private final AgentLog log = new AgentLog(KafkaAccess.of("localhost:1"), Topics.DEFAULT, 4, codec, "a", "p1");
    private final List<Throwable> failures = new ArrayList<>();
    private final AtomicBoolean first = new AtomicBoolean(true);
    private final KafkaEventSink sink = new KafkaEventSink(
            log, new EventBuffer(3, 1 << 20, Duration.ofSeconds(5)), producer, () -> 77, failures::add);

    @Test
    void recordsAreNumberedAndChainedPerAggregate() throws InterruptedException {
        sink.incarnation(4);
        append("node/a", "");
        append("store/1", "cmd");
        append("node/a", "");
        List<Event> sent = producer.history().stream().map(record -> decode(record.value())).toList();
        assertEquals(new Envelope("node/a", "agent/a/p1", 4, 1, 0, 77, null, null, null), sent.get(0).envelope());
        assertEquals(new Envelope("store/1", "agent/a/p1", 4, 1, 0, 77, "cmd", null, null), sent.get(1).envelope());
        int first = RecordStamp.crc32c(Codec.avro(sent.get(0)));
        assertEquals(new Envelope("node/a", "agent/a/p1", 4, 2, first, 77, null, null, null), sent.get(2).envelope());
    }

    @Test
    void aFullBufferIsCongestedUntilTheLogHasAnswered() throws InterruptedException {
        append("node/a", "");
        append("node/a", "");
        assertFalse(sink.congested());
        append("node/a", "");
        assertTrue(sink.congested(), "3 of 3 wait");
        append("node/a", "");
        assertEquals(4, sink.unacknowledged(), "what the core still has to say is taken");
        producer.completeNext();
        producer.completeNext();
        assertFalse(sink.congested());
    }

    @Test
    void anEventThatCannotBeDeliveredIsReportedOnceAndNothingFollowsIt() throws InterruptedException {
        append("node/a", "");
        append("node/a", "");
        producer.errorNext(new TimeoutException("120000 ms have passed"));
        producer.errorNext(new TimeoutException("120000 ms have passed"));
        assertEquals(1, failures.size());
        String message = String.valueOf(failures.getFirst().getMessage());
        assertTrue(message.contains("tierlog.events") && message.contains("120000 ms") && message.contains("localhost:1"), message);
        append("node/a", "");
        assertEquals(2, producer.history().size(), "nothing follows a gap");
    }

    /** Both wait in the queue when the first one fails. */
    @Test
    void anEventThatWaitsBehindALostOneIsNotSent() throws InterruptedException {
        CountDownLatch gate = new CountDownLatch(1);
        MockProducer<byte[], byte[]> refusing = new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
            @Override
            public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                if (first.getAndSet(false)) {
                    throw new RecordTooLargeException("one too large");
                }
                return super.send(record, callback);
            }
        };
        try (KafkaEventSink closing = new KafkaEventSink(
                log, new EventBuffer(3, 1 << 20, Duration.ofSeconds(5)), refusing, () -> 77, failures::add)) {
            for (int i = 0; i < 3; i++) {
                closing.append("node/a", "", envelope -> new AgentStopping(envelope, "p1"));
            }
            gate.countDown();
            assertTrue(closing.awaitHandedOver(Duration.ofSeconds(30)));
            assertEquals(0, refusing.history().size());
            assertEquals(1, failures.size());
            assertEquals(0, closing.unacknowledged());
        }
    }

    /** A real producer without a broker blocks each call for seconds; here engines would wait behind it. */
    @Test
    void appendingDoesNotWaitForABroker() {
        EventBuffer buffer = new EventBuffer(1_000, 1 << 20, Duration.ofSeconds(10));
        try (KafkaEventSink real = KafkaEventSink.connect(log, buffer, failures::add)) {
            long startNs = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                real.append("node/a", "", envelope -> new AgentStopping(envelope, "p1"));
            }
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            assertTrue(tookMs < 8_000, () -> "20 calls took " + tookMs + " ms");
            assertEquals(20, real.unacknowledged());
        }
    }

    private void append(String aggregate, String cause) throws InterruptedException {
        sink.append(aggregate, cause, envelope -> new AgentStopping(envelope, "p1"));
        assertTrue(sink.awaitHandedOver(Duration.ofSeconds(30)));
    }

    private Event decode(byte[] value) {
        return switch (codec.reader(Event.class).read(value)) {
            case Reading.Decoded<Event> decoded -> decoded.value();
            case Reading.Unreadable<Event> bad -> throw new AssertionError(bad.detail());
        };
    }
}
