/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import org.HdrHistogram.Histogram;

/** Histograms of durations in milliseconds, up to an hour: what is longer counts as an hour, what is negative as 0. Without state. */
public final class Latencies {
    private static final long MAX_MS = 3_600_000;

    private Latencies() {}

    /** An empty one. */
    public static Histogram histogram() {
        return new Histogram(MAX_MS, 3);
    }

    /** What is recorded for a duration, in milliseconds. */
    public static long clamp(long ms) {
        return Math.clamp(ms, 0, MAX_MS);
    }
}
