/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.tierlog.ops.audit.stats.Latencies;
import io.tierlog.ops.audit.stats.Percentiles;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * Durations in milliseconds, each with its count, to the same three digits as the audit's histograms; a window has few of them, and a histogram would
 * take 100 kB. Memory: 16 bytes for each distinct value, at most some 15,000 of them. Not thread-safe.
 */
public final class Durations {
    /** Only its arithmetic is used: it holds nothing. */
    private static final Histogram DIGITS = Latencies.histogram();

    private long[] values = {};
    private long[] counts = {};

    /** No duration. */
    public Durations() {}

    /** Pairs of value and count, by value. */
    @JsonCreator
    public Durations(long[] pairs) {
        values = new long[pairs.length / 2];
        counts = new long[pairs.length / 2];
        for (int i = 0; i < values.length; i++) {
            values[i] = pairs[2 * i];
            counts[i] = pairs[2 * i + 1];
        }
    }

    /** Counts a duration. */
    public void add(long ms) {
        add(DIGITS.lowestEquivalentValue(Latencies.clamp(ms)), 1);
    }

    /** Adds all of another. Into an empty one this is a copy of its arrays; values are shared, since they are not changed in place. */
    public void add(Durations others) {
        if (isEmpty()) {
            values = others.values;
            counts = others.counts.clone();
            return;
        }
        for (int i = 0; i < others.values.length; i++) {
            add(others.values[i], others.counts[i]);
        }
    }

    private void add(long value, long count) {
        int at = Arrays.binarySearch(values, value);
        if (at < 0) {
            at = -at - 1;
            long[] longer = Arrays.copyOf(values, values.length + 1);
            long[] more = Arrays.copyOf(counts, counts.length + 1);
            System.arraycopy(values, at, longer, at + 1, values.length - at);
            System.arraycopy(counts, at, more, at + 1, counts.length - at);
            longer[at] = value;
            more[at] = 0;
            values = longer;
            counts = more;
        }
        counts[at] += count;
    }

    /** Whether there is none. */
    public boolean isEmpty() {
        return values.length == 0;
    }

    /** Their percentiles. */
    public Percentiles percentiles() {
        Histogram all = Latencies.histogram();
        for (int i = 0; i < values.length; i++) {
            all.recordValueWithCount(values[i], counts[i]);
        }
        return Percentiles.of(all);
    }

    /** Pairs of value and count, by value. */
    @JsonValue
    public long[] pairs() {
        long[] pairs = new long[2 * values.length];
        for (int i = 0; i < values.length; i++) {
            pairs[2 * i] = values[i];
            pairs[2 * i + 1] = counts[i];
        }
        return pairs;
    }
}
