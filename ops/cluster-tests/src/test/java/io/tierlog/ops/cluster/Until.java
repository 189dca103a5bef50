/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting with a bound. Static and without state. */
final class Until {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long LOOK_AGAIN_NANOS = 20_000_000;

    private Until() {}

    /** Waits until it holds, 60 s at most. */
    static void holds(String what, BooleanSupplier condition) {
        if (!within(PATIENCE, condition)) {
            throw new AssertionError("not within " + PATIENCE.toSeconds() + " s: " + what);
        }
    }

    /** Lets so much time pass. */
    static void isOver(Duration time) {
        within(time, () -> false);
    }

    /** Whether it holds within {@code limit}. */
    static boolean within(Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            if (Thread.interrupted()) {
                throw new IllegalStateException("interrupted"); // by the time limit of the test
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
        return true;
    }
}
