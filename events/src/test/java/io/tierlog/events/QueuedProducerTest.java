/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.threads.ThreadFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** Records through the queue, with a producer that has no broker and with one that refuses at first. */
class QueuedProducerTest {
    private static final int PATIENCE_S = 30;

    private final LinkedBlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    /** Real producers without a broker block every call for max.block.ms: 20 calls of 1 s. */
    @Test
    void theCallerDoesNotWaitForABroker() throws Exception {
        Map<String, Object> settings = KafkaAccess.of("localhost:1").client(Map.of("max.block.ms", 1_000));
        var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        try (QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(2))) {
            long startNs = System.nanoTime();
            IntStream.range(0, 20).forEach(i -> send(queue, i));
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            assertTrue(tookMs < 8_000, () -> "20 calls took " + tookMs + " ms");
            assertInstanceOf(TimeoutException.class, failures.poll(PATIENCE_S, TimeUnit.SECONDS));
        }
        assertEquals(19, failures.size(), "each record fails once, at the latest when the queue closes");
    }

    @Test
    void aRecordThatTheProducerRefusesAtFirstIsSentBeforeThoseBehindIt() throws Exception {
        AtomicInteger refusals = new AtomicInteger(3);
        try (RefusesFirst producer = new RefusesFirst(refusals);
                QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(PATIENCE_S))) {
            IntStream.range(0, 5).forEach(i -> send(queue, i));
            assertTrue(queue.awaitHandedOver(Duration.ofSeconds(PATIENCE_S)));
            assertEquals(List.of(0, 1, 2, 3, 4), producer.history().stream().map(record -> (int) record.value()[0]).toList());
            assertEquals(0, failures.size());
        }
    }

    @Test
    void aFullQueueRefusesAtOnceAndSaysSo() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        List<Throwable> refused = new ArrayList<>();
        try (Gated producer = new Gated(gate);
                QueuedProducer byNumber = queue(producer, 2, 1_000, Duration.ofSeconds(PATIENCE_S))) {
            for (int i = 0; i < 3; i++) {
                byNumber.send(record(i), refused::add, () -> {});
            }
            gate.countDown();
            assertTrue(byNumber.awaitHandedOver(Duration.ofSeconds(PATIENCE_S)));
            assertEquals(1, refused.size());
            String why = assertInstanceOf(QueuedProducer.NotQueuedException.class, refused.getFirst()).getMessage();
            assertTrue(why.contains("2 records") && why.contains("events"), why);
            assertEquals(2, producer.history().size());
        }
        try (Gated producer = new Gated(new CountDownLatch(0));
                QueuedProducer byBytes = queue(producer, 100, 1, Duration.ofSeconds(PATIENCE_S))) {
            byBytes.send(new ProducerRecord<>("events", 0, null, new byte[2]), refused::add, () -> {});
            assertEquals(2, refused.size());
        }
    }

    @Test
    void aCallbackThatThrowsEndsNothing() throws Exception {
        CountDownLatch acknowledged = new CountDownLatch(1);
        try (Gated producer = new Gated(new CountDownLatch(0));
                QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(PATIENCE_S))) {
            producer.sendException = new IllegalArgumentException("not a Kafka failure");
            queue.send(record(0), failure -> {
                failures.add(failure);
                throw new IllegalStateException("a fault of the caller");
            }, () -> {});
            assertInstanceOf(IllegalArgumentException.class, failures.poll(PATIENCE_S, TimeUnit.SECONDS));
            assertTrue(queue.awaitHandedOver(Duration.ofSeconds(PATIENCE_S)));
            producer.sendException = null;
            queue.send(record(1), failures::add, () -> {
                throw new IllegalStateException("a fault of the caller");
            });
            queue.send(record(2), failures::add, acknowledged::countDown);
            assertTrue(acknowledged.await(PATIENCE_S, TimeUnit.SECONDS));
            assertEquals(0, failures.size());
            assertEquals(2, producer.history().size());
        }
    }

    /** Neither one of the producer nor one of a callback takes the thread from the records behind it. */
    @Test
    void anErrorEndsNothing() throws Exception {
        CountDownLatch acknowledged = new CountDownLatch(1);
        try (Gated producer = new Gated(new CountDownLatch(0));
                QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(PATIENCE_S))) {
            producer.error = 1;
            send(queue, 1);
            queue.send(record(2), failures::add, () -> {
                throw new StackOverflowError("in a callback");
            });
            queue.send(record(3), failures::add, acknowledged::countDown);
            assertTrue(acknowledged.await(PATIENCE_S, TimeUnit.SECONDS));
            assertInstanceOf(StackOverflowError.class, failures.poll());
            assertEquals(0, failures.size());
            assertEquals(2, producer.history().size());
            assertEquals(Map.of("queue-under-test", 2L), ThreadFaults.ofProcess().counts());
        } finally {
            ThreadFaults.ofProcess().forget();
        }
    }

    @Test
    void aQueueThatStopsSendsNothingBehindAFailure() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (Gated producer = new Gated(gate);
                QueuedProducer queue = new QueuedProducer("queue-under-test", producer,
                        new QueuedProducer.Bounds(100, 1_000, Duration.ofSeconds(PATIENCE_S)), QueuedProducer.AfterFailure.STOP)) {
            producer.tooLarge = 1;
            IntStream.range(0, 5).forEach(i -> send(queue, i));
            gate.countDown();
            assertTrue(queue.awaitHandedOver(Duration.ofSeconds(PATIENCE_S)));
            assertEquals(1, producer.history().size(), "the record before the failure");
            assertInstanceOf(RecordTooLargeException.class, failures.poll());
            assertEquals(3, failures.size());
            send(queue, 5);
            assertEquals(4, failures.size());
            failures.forEach(failure -> assertInstanceOf(QueuedProducer.NotQueuedException.class, failure));
        }
    }

    /** The record that waits for its next try has left the queue, and is reported all the same. */
    @Test
    void aRecordThatWaitsForItsNextTryFailsWhenTheQueueCloses() throws Exception {
        try (RefusesFirst producer = new RefusesFirst(new AtomicInteger(Integer.MAX_VALUE))) {
            QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(PATIENCE_S));
            send(queue, 0);
            queue.close(Duration.ofMillis(200));
            assertInstanceOf(QueuedProducer.NotQueuedException.class, failures.poll(PATIENCE_S, TimeUnit.SECONDS));
        }
    }

    /** What another thread does with the queue must not wait for a callback. */
    @Test
    void callbacksOfAClosingQueueRunWithoutItsLock() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        try (RefusesFirst producer = new RefusesFirst(new AtomicInteger(Integer.MAX_VALUE))) {
            QueuedProducer queue = queue(producer, 100, 1_000, Duration.ofSeconds(PATIENCE_S));
            send(queue, 0);
            queue.send(record(1), failure -> {
                Thread.ofVirtual().start(() -> {
                    send(queue, 2);
                    sent.countDown();
                });
                try {
                    failures.add(sent.await(PATIENCE_S, TimeUnit.SECONDS) ? failure : new AssertionError("the lock was held"));
                } catch (InterruptedException e) {
                    failures.add(e);
                }
            }, () -> {});
            queue.close(Duration.ofMillis(200));
            for (int i = 0; i < 3; i++) {
                assertInstanceOf(QueuedProducer.NotQueuedException.class, failures.poll(2 * PATIENCE_S, TimeUnit.SECONDS));
            }
        }
    }

    private void send(QueuedProducer queue, int value) {
        queue.send(record(value), failures::add, () -> {});
    }

    private static ProducerRecord<byte[], byte[]> record(int value) {
        return new ProducerRecord<>("events", 0, null, new byte[] {(byte) value});
    }

    private static QueuedProducer queue(
            Producer<byte[], byte[]> producer, int records, long bytes, Duration patience) {
        return new QueuedProducer("queue-under-test", producer, new QueuedProducer.Bounds(records, bytes, patience));
    }

    /** As a real producer without metadata: the failure comes by the callback, before send returns. */
    private static final class RefusesFirst extends MockProducer<byte[], byte[]> {
        private final AtomicInteger refusals;

        RefusesFirst(AtomicInteger refusals) {
            super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
            this.refusals = refusals;
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            if (refusals.getAndDecrement() > 0) {
                TimeoutException failure = new TimeoutException("no metadata");
                callback.onCompletion(null, failure);
                return CompletableFuture.failedFuture(failure);
            }
            return super.send(record, callback);
        }
    }

    private static final class Gated extends MockProducer<byte[], byte[]> {
        private final CountDownLatch gate;
        private volatile int tooLarge = -1;
        private volatile int error = -1;

        Gated(CountDownLatch gate) {
            super(true, null, new ByteArraySerializer(), new ByteArraySerializer());
            this.gate = gate;
        }

        @Override
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (record.value()[0] == error) {
                throw new StackOverflowError("in the producer");
            }
            if (record.value()[0] == tooLarge) {
                throw new RecordTooLargeException();
            }
            return super.send(record, callback);
        }
    }
}
