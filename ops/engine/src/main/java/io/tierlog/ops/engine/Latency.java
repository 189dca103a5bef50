/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** How long something took, many times over: percentiles to three digits, in ms. Immutable. */
public final class Latency {
    private final Histogram times;
    private final double perMs;

    private Latency(Histogram times, double perMs) {
        this.times = times;
        this.perMs = perMs;
    }

    /** A copy of {@code times}, which count in {@code unit}; milliseconds or shorter. */
    public static Latency of(Histogram times, TimeUnit unit) {
        Histogram copy = new Histogram(times);
        copy.add(times);
        return new Latency(copy, unit.convert(1, TimeUnit.MILLISECONDS));
    }

    /** Both together, as if counted at once; {@code other} was made with the same unit. */
    public Latency plus(Latency other) {
        if (perMs != other.perMs) {
            throw new IllegalArgumentException(perMs + " and " + other.perMs + " units in a millisecond");
        }
        Histogram both = times.copy();
        both.add(other.times);
        return new Latency(both, perMs);
    }

    /** How many times. */
    public long count() {
        return times.getTotalCount();
    }

    /** The median; 0 when there were none, as with all the others. */
    public double p50() {
        return percentile(50);
    }

    /** What 9 of 10 did not exceed. */
    public double p90() {
        return percentile(90);
    }

    /** What 99 of 100 did not exceed. */
    public double p99() {
        return percentile(99);
    }

    /** The longest. */
    public double max() {
        return times.getMaxValue() / perMs;
    }

    private double percentile(double percent) {
        return times.getValueAtPercentile(percent) / perMs;
    }
}
