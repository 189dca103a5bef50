/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import org.HdrHistogram.Histogram;

/**
 * Percentiles of durations, to three digits.
 *
 * @param count number of durations
 * @param p50 the median in milliseconds; 0 when there are none, as with the others
 * @param p90 nine of ten are not longer, in milliseconds
 * @param p99 99 of 100 are not longer, in milliseconds
 * @param max the longest in milliseconds
 */
public record Percentiles(long count, double p50, double p90, double p99, double max) {
    /** Of a histogram of milliseconds. */
    public static Percentiles of(Histogram ms) {
        return new Percentiles(
                ms.getTotalCount(), ms.getValueAtPercentile(50), ms.getValueAtPercentile(90), ms.getValueAtPercentile(99), ms.getMaxValue());
    }
}
