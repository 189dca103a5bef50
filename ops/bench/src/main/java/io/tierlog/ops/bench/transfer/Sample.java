/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.util.Arrays;

/**
 * What one run of one way came to. Immutable.
 *
 * @param bytes moved, 1 or more
 * @param nanos that it took, 1 or more
 * @param p50Nanos median time of a block
 * @param p99Nanos the time within which 99 of 100 blocks moved
 */
record Sample(long bytes, long nanos, long p50Nanos, long p99Nanos) {
    private static final double MEDIAN = 0.50;
    private static final double NEARLY_ALL = 0.99;

    Sample {
        if (bytes < 1 || nanos < 1) {
            throw new IllegalArgumentException("a sample of " + bytes + " bytes in " + nanos + " ns");
        }
    }

    /** A run whose blocks took so long each; their order has no meaning. */
    static Sample of(long bytes, long nanos, long[] blockNanos) {
        long[] sorted = blockNanos.clone();
        Arrays.sort(sorted);
        return new Sample(bytes, nanos, percentile(sorted, MEDIAN), percentile(sorted, NEARLY_ALL));
    }

    /** Bytes per nanosecond, which is GB (10^9 bytes) per second. */
    double gbPerS() {
        return (double) bytes / nanos;
    }

    /** The smallest of the sorted values that at least this share of them does not exceed (nearest rank). */
    static long percentile(long[] sorted, double share) {
        return sorted[Math.clamp((int) Math.ceil(share * sorted.length) - 1, 0, sorted.length - 1)];
    }
}
