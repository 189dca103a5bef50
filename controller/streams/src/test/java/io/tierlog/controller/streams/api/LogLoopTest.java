/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.streams.TestLog;
import io.tierlog.threads.LoggedLines;
import io.tierlog.threads.ThreadFaults;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

class LogLoopTest {
    /** Counts how often it was woken. */
    private static final class Reader extends MockConsumer<byte[], byte[]> {
        final AtomicInteger woken = new AtomicInteger();

        Reader() {
            super("earliest");
        }

        @Override
        public synchronized void wakeup() {
            woken.incrementAndGet();
            super.wakeup();
        }
    }

    /** The first round fails, the second reads until it is woken. */
    private static final class Rounds implements LogLoop.Round {
        final Reader reader = new Reader();
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger failures = new AtomicInteger();
        final CountDownLatch ended = new CountDownLatch(1);
        /** How the loop was after the failure. */
        volatile HealthParts.State between = HealthParts.State.WELL;
        private final Error error;

        /** Fails by this, or by a KafkaException for null. */
        Rounds(Error error) {
            this.error = error;
        }

        @Override
        public void run(LogLoop loop) {
            if (runs.incrementAndGet() == 1) {
                if (error != null) {
                    throw error;
                }
                throw new KafkaException("no broker");
            }
            between = loop.state("nothing is read");
            loop.reads(reader);
            loop.progressed();
            try {
                while (true) {
                    reader.poll(Duration.ZERO);
                    LockSupport.parkNanos(1_000_000);
                }
            } finally {
                ended.countDown();
            }
        }

        @Override
        public void failed(Throwable why) {
            failures.incrementAndGet();
        }
    }

    @Test
    void itRestartsAfterAFailureAndIsWokenToClose() {
        try (LoggedLines lines = new LoggedLines(LogLoop.class)) {
            restarts(new Rounds(null), "no broker");
            assertEquals(1, lines.with("test-loop restarts in 1000 ms: no broker"), lines::toString);
        }
        assertEquals(Map.of(), ThreadFaults.ofProcess().counts());
    }

    @Test
    void itRestartsAfterAnError() {
        try (LoggedLines lines = new LoggedLines(ThreadFaults.class)) {
            restarts(new Rounds(new StackOverflowError()), "stack overflow");
            assertEquals(1, lines.with("the thread test-loop met a fault"), lines::toString);
        }
        HealthParts parts = new HealthParts(new PrometheusRegistry());
        assertTrue(parts.detail().contains("the thread test-loop met a fault"), parts::detail);
        assertEquals(Map.of("test-loop", 1L), ThreadFaults.ofProcess().counts());
        ThreadFaults.ofProcess().forget();
    }

    private static void restarts(Rounds rounds, String why) {
        LogLoop loop = new LogLoop("test-loop", rounds);
        loop.start();
        TestLog.await("the second round makes progress", () -> rounds.runs.get() == 2 && rounds.between.level() == HealthParts.Level.DEGRADED
                && loop.state("nothing is read").level() == HealthParts.Level.WELL);
        assertTrue(rounds.between.detail().startsWith("nothing is read: ") && rounds.between.detail().contains(why), rounds.between::detail);
        assertEquals(1, rounds.failures.get());
        assertTrue(loop.isOpen());

        loop.close();

        assertFalse(loop.isOpen());
        assertEquals(0, rounds.ended.getCount(), "the round has ended with it");
        assertTrue(rounds.reader.woken.get() >= 1);
        assertEquals(2, rounds.runs.get());
    }

    /** It was closed before the round had its consumer: the consumer is woken when it is named. */
    @Test
    void aConsumerSetAfterCloseIsWokenAtOnce() {
        Reader reader = new Reader();
        LogLoop loop = new LogLoop("test-loop", new Rounds(null));
        loop.close();
        loop.reads(reader);
        assertEquals(1, reader.woken.get());
    }
}
