/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import org.HdrHistogram.Histogram;

/** A summary of times, in ms. */
public record Latency(long count, double p50, double p90, double p99, double max) {
    private static final double MICROS_PER_MS = 1_000;

    /** Sums up a histogram of microseconds. */
    static Latency of(Histogram micros) {
        return new Latency(
                micros.getTotalCount(),
                micros.getValueAtPercentile(50) / MICROS_PER_MS,
                micros.getValueAtPercentile(90) / MICROS_PER_MS,
                micros.getValueAtPercentile(99) / MICROS_PER_MS,
                micros.getMaxValue() / MICROS_PER_MS);
    }
}
