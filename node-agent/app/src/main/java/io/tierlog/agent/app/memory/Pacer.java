/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Holds a stream to a bandwidth: a piece ends no earlier than it would on a link of that speed. Confined to one thread.
 *
 * <p>Trade-off: a park is at least some 50 microseconds on most systems, so debts below that are carried over to the next piece.
 */
final class Pacer {
    private static final long SMALLEST_PARK_NS = 50_000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final long bytesPerSecond;
    private final BooleanSupplier hurry;
    private long freeAtNs = System.nanoTime();

    /**
     * @param bytesPerSecond 0 for no limit
     * @param hurry true when the wait must end at once
     */
    Pacer(long bytesPerSecond, BooleanSupplier hurry) {
        this.bytesPerSecond = bytesPerSecond;
        this.hurry = hurry;
    }

    /** A piece begins: an idle link saves nothing up. */
    void begin() {
        if (bytesPerSecond > 0) {
            long now = System.nanoTime();
            freeAtNs = freeAtNs - now > 0 ? freeAtNs : now;
        }
    }

    /** The piece has been copied: waits until the link would have carried it. */
    void end(long bytes) {
        if (bytesPerSecond > 0) {
            freeAtNs += (long) (bytes * NANOS_PER_SECOND / bytesPerSecond);
            for (long debt = debt(); debt > SMALLEST_PARK_NS && !hurry.getAsBoolean(); debt = debt()) {
                LockSupport.parkNanos(this, debt);
            }
        }
    }

    private long debt() {
        return freeAtNs - System.nanoTime();
    }
}
