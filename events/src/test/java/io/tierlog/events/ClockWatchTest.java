/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.threads.ThreadFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ClockWatchTest {
    private static final long HOUR_MS = 3_600_000;

    private long wallMs = 1_000_000_000_000L;
    private long monotonicNs = -5_000_000_000L;

    private void pass(long monotonicMs, long wallTimeMs) {
        monotonicNs += monotonicMs * 1_000_000;
        wallMs += wallTimeMs;
    }

    @Test
    void onlyAClockThatIsSetBackIsReportedEachTimeOnce() {
        List<Long> back = new ArrayList<>();
        try (ClockWatch watch = new ClockWatch(() -> wallMs, () -> monotonicNs, back::add, "test")) {
            pass(1_000, 1_000);
            watch.look();
            pass(60_000, 60_000); // its thread was late
            watch.look();
            pass(1_000, -9_000); // by 10 s, which is tolerated
            watch.look();
            pass(1_000, 5 * HOUR_MS);
            watch.look();
            assertEquals(List.of(), back);
            pass(1_000, 1_000 - 5 * HOUR_MS);
            watch.look();
            pass(1_000, 1_000);
            watch.look();
            assertEquals(List.of(5 * HOUR_MS), back);
            pass(1_000, -9_001);
            watch.look();
            assertEquals(List.of(5 * HOUR_MS, 10_001L), back);
        }
    }

    /** The receiver fails, and receives the next report all the same. */
    @Test
    void itGoesOnAfterAnError() throws Exception {
        AtomicLong wall = new AtomicLong();
        Semaphore reports = new Semaphore(0);
        try (ClockWatch watch = new ClockWatch(() -> wall.addAndGet(-HOUR_MS), () -> 0, _ -> {
            reports.release();
            throw new StackOverflowError();
        }, "error")) {
            watch.begin(1);
            assertTrue(reports.tryAcquire(3, 30, TimeUnit.SECONDS));
        }
        assertTrue(ThreadFaults.ofProcess().counts().containsKey("error-clock"));
        ThreadFaults.ofProcess().forget();
    }
}
