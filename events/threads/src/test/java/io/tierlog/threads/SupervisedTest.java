/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SupervisedTest {
    private static final int PATIENCE_S = 30;

    private static long faults(String thread) {
        return ThreadFaults.ofProcess().counts().getOrDefault(thread, 0L);
    }

    @Test
    void aTaskThatThrowsRunsAgainUntilItReturns() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Thread thread = Supervised.start("again", () -> {
            if (runs.incrementAndGet() == 1) {
                throw new StackOverflowError("one");
            }
            if (runs.get() == 2) {
                throw new IllegalStateException("two");
            }
        });
        assertTrue(thread.isDaemon());
        assertTrue(thread.join(Duration.ofSeconds(PATIENCE_S)));
        assertEquals(3, runs.get());
        assertEquals(2, faults("again"));
    }

    /** A task that cannot go on, and is interrupted: it neither stays nor spins. */
    @Test
    void anInterruptEndsATaskThatThrows() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch first = new CountDownLatch(1);
        Thread thread = Supervised.start("interrupted", () -> {
            runs.incrementAndGet();
            first.countDown();
            throw new StackOverflowError("each time");
        });
        assertTrue(first.await(PATIENCE_S, TimeUnit.SECONDS));
        thread.interrupt();
        assertTrue(thread.join(Duration.ofSeconds(PATIENCE_S)));
        assertEquals(runs.get(), faults("interrupted"));
        assertTrue(runs.get() <= 2, () -> runs + " runs");
    }

    @Test
    void anInterruptedTaskHasEnded() throws Exception {
        Thread thread = Supervised.start("waits", new CountDownLatch(1)::await);
        thread.interrupt();
        assertTrue(thread.join(Duration.ofSeconds(PATIENCE_S)));
        assertEquals(0, faults("waits"));
    }

    @Test
    void aTaskThatRepeatsGoesOnAfterAnError() throws Exception {
        Semaphore runs = new Semaphore(0);
        try (var scheduler = Supervised.scheduler("repeats")) {
            var delayed = scheduler.scheduleWithFixedDelay(() -> throwAfter(runs), 0, 1, TimeUnit.MILLISECONDS);
            assertTrue(runs.tryAcquire(3, PATIENCE_S, TimeUnit.SECONDS));
            assertFalse(delayed.isDone());
            delayed.cancel(false);
            var atRate = scheduler.scheduleAtFixedRate(() -> throwAfter(runs), 0, 1, TimeUnit.MILLISECONDS);
            assertTrue(runs.tryAcquire(3, PATIENCE_S, TimeUnit.SECONDS));
            assertFalse(atRate.isDone());
            scheduler.shutdownNow();
        }
        assertTrue(faults("repeats") >= 4);
    }

    @Test
    void whatIsHandedInOnceIsCountedToo() throws Exception {
        Semaphore runs = new Semaphore(0);
        try (var scheduler = Supervised.scheduler("once")) {
            scheduler.execute(() -> throwAfter(runs));
            var _ = scheduler.submit(() -> throwAfter(runs));
            var _ = scheduler.schedule(() -> throwAfter(runs), 1, TimeUnit.MILLISECONDS);
        }
        assertEquals(3, runs.availablePermits());
        assertEquals(3, faults("once"));
    }

    @Test
    void poolsGoOnAndCountUnderTheirName() throws Exception {
        pool("pool", Supervised.pool("pool"), true);
        pool("tasks", Supervised.tasks("tasks"), false);
    }

    private static void pool(String name, ThreadFactory factory, boolean fixed) throws Exception {
        Semaphore runs = new Semaphore(0);
        try (ExecutorService threads = fixed ? Executors.newFixedThreadPool(1, factory) : Executors.newThreadPerTaskExecutor(factory)) {
            threads.execute(() -> throwAfter(runs));
            threads.execute(() -> throwAfter(runs));
            assertTrue(runs.tryAcquire(2, PATIENCE_S, TimeUnit.SECONDS));
        }
        // The pool is over before the handler of its last thread has run.
        while (faults(name) < 2) {
            Thread.onSpinWait();
        }
        assertEquals(2, faults(name));
    }

    private static void throwAfter(Semaphore runs) {
        runs.release();
        throw new StackOverflowError("no more stack");
    }
}
