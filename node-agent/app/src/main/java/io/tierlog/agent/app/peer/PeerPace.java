/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Limits the bytes per second that go to other nodes, all reads together. Safe for use by several threads; what waits holds none. Trade-off:
 * reads take turns by chance, chunk by chunk.
 */
final class PeerPace {
    private static final double NS_PER_S = 1e9;

    private final long bytesPerSecond;
    private final ScheduledExecutorService clock;
    private long freeAtNs = System.nanoTime();

    PeerPace(long bytesPerSecond, ScheduledExecutorService clock) {
        this.bytesPerSecond = bytesPerSecond;
        this.clock = clock;
    }

    /** Whether that number of bytes may go now; if not, {@code goOn} runs when another attempt is worth while, unless the server closes. */
    boolean pass(int bytes, Runnable goOn) {
        if (bytesPerSecond == PeerLimits.UNBOUNDED) {
            return true;
        }
        long waitNs;
        synchronized (this) {
            long nowNs = System.nanoTime();
            waitNs = freeAtNs - nowNs;
            if (waitNs <= 0) {
                freeAtNs = nowNs + (long) (bytes * NS_PER_S / bytesPerSecond);
                return true;
            }
        }
        try {
            var _ = clock.schedule(goOn, waitNs, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return false; // the server is closed, and its reads are over
        }
        return false;
    }
}
