/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The runs of one variant, a sample a round. Confined to one thread. */
final class Series {
    private static final double NANOS_PER_MS = 1e6;

    private final List<Sample> samples = new ArrayList<>();

    void add(Sample sample) {
        samples.add(sample);
    }

    /** The median of the rounds: with an even number of them, the mean of the two in the middle. */
    double gbPerS() {
        return median(Sample::gbPerS);
    }

    /** GB/s of the slowest round. */
    double lowest() {
        return samples.stream().mapToDouble(Sample::gbPerS).min().orElseThrow();
    }

    /** GB/s of the fastest round. */
    double highest() {
        return samples.stream().mapToDouble(Sample::gbPerS).max().orElseThrow();
    }

    /** The median of the rounds' medians, in milliseconds. */
    double p50Ms() {
        return median(Sample::p50Nanos) / NANOS_PER_MS;
    }

    /** The median of the rounds' 99th percentiles, in milliseconds. */
    double p99Ms() {
        return median(Sample::p99Nanos) / NANOS_PER_MS;
    }

    /** Its part of the report. */
    Row report() {
        return new Row()
                .rounded("gb_per_s", gbPerS())
                .rounded("lowest", lowest())
                .rounded("highest", highest())
                .rounded("p50_ms", p50Ms())
                .rounded("p99_ms", p99Ms());
    }

    private double median(ToDoubleFunction<Sample> of) {
        double[] sorted = samples.stream().mapToDouble(of).sorted().toArray();
        if (sorted.length == 0) {
            throw new IllegalStateException("no round has been measured");
        }
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
