/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.util.concurrent.TimeUnit;

/**
 * Lets loads go before saves: while a load waits or is under way, no further piece of a save begins, so that a load never stands behind more
 * than the pieces that are moving already. For several threads.
 *
 * <p>A save waits so for each of its pieces at most for a bounded time: under loads without end, or behind one that does not move, saves are
 * slow and do not stop.
 */
final class LoadsFirst {
    private final long longestWaitNanos;
    private int loads;
    private boolean over;
    private boolean saveWaits;

    LoadsFirst(long longestWaitMs) {
        this.longestWaitNanos = TimeUnit.MILLISECONDS.toNanos(longestWaitMs);
    }

    synchronized void loadTaken() {
        loads++;
    }

    synchronized void loadEnded() {
        loads--;
        notifyAll();
    }

    /** True while a piece of a save lets loads go first. */
    synchronized boolean saveWaits() {
        return saveWaits;
    }

    /** No save waits any more. */
    synchronized void end() {
        over = true;
        notifyAll();
    }

    /** A piece of a save wants to begin: returns when it may. */
    synchronized void saveBegins() {
        long deadline = System.nanoTime() + longestWaitNanos;
        boolean interrupted = false;
        for (long left = longestWaitNanos; loads > 0 && !over && left > 0; left = deadline - System.nanoTime()) {
            saveWaits = true;
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        saveWaits = false;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
