/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Awaits conditions with a deadline. */
public final class Eventually {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final long LOOK_EVERY_NS = 2_000_000;

    private Eventually() {}

    /** Returns when {@code condition} holds; fails with {@code what} when it does not within the deadline. */
    public static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                fail("not within " + DEADLINE.toSeconds() + " s: " + what);
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
    }
}
