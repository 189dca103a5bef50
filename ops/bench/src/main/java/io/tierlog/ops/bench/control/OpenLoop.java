/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.concurrent.locks.LockSupport;

/**
 * Sends at a fixed rate, whatever the answers: each request at its own time, and at once when that has passed. Static and without state.
 *
 * <p>Trade-off: a thread that the clock wakes is late by some tens of microseconds, in every part alike.
 */
final class OpenLoop {
    private OpenLoop() {}

    /** Sends the whole stretch; returns the bytes of the longest record when the last was handed to the producer. */
    static int run(Lane.Running lane, Arrivals arrivals) throws InterruptedException {
        Arrivals.Stretch stretch = arrivals.stretch();
        arrivals.begin(System.nanoTime());
        int longest = 0;
        for (int index = 0; index < stretch.count(); index++) {
            waitUntil(arrivals.dueNanos(index));
            longest = Math.max(longest, lane.submit(stretch.first() + index));
        }
        return longest;
    }

    private static void waitUntil(long dueNanos) throws InterruptedException {
        for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                throw new InterruptedException("the benchmark was interrupted");
            }
        }
    }
}
