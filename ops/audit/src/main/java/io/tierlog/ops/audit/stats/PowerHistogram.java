/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import java.util.ArrayList;
import java.util.List;

/** Counts of values by powers of two: 0, 1, 2 to 3, 4 to 7, and so on. Not thread-safe. */
public final class PowerHistogram {
    private final long[] counts = new long[Long.SIZE];

    /** How many values were from {@code from} to {@code to}, both included. */
    public record Bucket(long from, long to, long count) {}

    /** Counts a value, 0 or more. */
    void add(long value) {
        counts[Long.SIZE - Long.numberOfLeadingZeros(value)]++;
    }

    /** The buckets up to the last one that has a value. */
    List<Bucket> buckets() {
        int last = counts.length - 1;
        while (last >= 0 && counts[last] == 0) {
            last--;
        }
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i <= last; i++) {
            buckets.add(new Bucket(i == 0 ? 0 : 1L << (i - 1), (1L << i) - 1, counts[i]));
        }
        return buckets;
    }
}
