/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * The result of one run of one variant. Immutable.
 *
 * @param bytes moved, 1 or more
 * @param nanos that it took, 1 or more
 * @param p50Nanos median time of a block
 * @param p99Nanos the time within which 99 of 100 blocks moved
 */
record Sample(long bytes, long nanos, long p50Nanos, long p99Nanos) {
    private static final int DIGITS = 3;
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);

    Sample {
        if (bytes < 1 || nanos < 1) {
            throw new IllegalArgumentException("a sample of " + bytes + " bytes in " + nanos + " ns");
        }
    }

    /** For times of blocks, in nanoseconds, from any thread. */
    static Histogram times() {
        return new ConcurrentHistogram(LONGEST_NANOS, DIGITS);
    }

    /** A run, with the times of its blocks. */
    static Sample of(long bytes, long nanos, Histogram blockNanos) {
        return new Sample(bytes, nanos, blockNanos.getValueAtPercentile(50), blockNanos.getValueAtPercentile(99));
    }

    /** Bytes per nanosecond, which is GB (10^9 bytes) per second. */
    double gbPerS() {
        return (double) bytes / nanos;
    }
}
