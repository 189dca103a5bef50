/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.streams.TestLog;
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
            loop.reads(reader);
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
        restarts(new Rounds(null));
        assertEquals(Map.of(), ThreadFaults.ofProcess().counts());
    }

    @Test
    void itRestartsAfterAnError() {
        restarts(new Rounds(new StackOverflowError()));
        assertEquals(Map.of("test-loop", 1L), ThreadFaults.ofProcess().counts());
        ThreadFaults.ofProcess().forget();
    }

    private static void restarts(Rounds rounds) {
        LogLoop loop = new LogLoop("test-loop", rounds);
        loop.start();
        TestLog.await("the second round", () -> rounds.runs.get() == 2);
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
