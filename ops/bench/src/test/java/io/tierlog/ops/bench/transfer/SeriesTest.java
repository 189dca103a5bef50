/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Percentiles and medians, with numbers that can be checked by hand. */
final class SeriesTest {
    private static final double EXACT = 1e-12;

    @Test
    void percentilesAreNearestRanks() {
        long[] hundred = LongStream.rangeClosed(1, 100).toArray();
        assertEquals(50, Sample.percentile(hundred, 0.50)); // the 50th of 100: 50 values are not above it
        assertEquals(99, Sample.percentile(hundred, 0.99));
        assertEquals(100, Sample.percentile(hundred, 1.0));
        assertEquals(1, Sample.percentile(hundred, 0.0));

        long[] three = {10, 20, 30};
        assertEquals(20, Sample.percentile(three, 0.50)); // 1.5 rounds up to the 2nd
        assertEquals(30, Sample.percentile(three, 0.99)); // 2.97 rounds up to the 3rd
        assertEquals(7, Sample.percentile(new long[] {7}, 0.50));
    }

    @Test
    void aSampleTakesBlocksInAnyOrder() {
        long[] blocks = {30, 10, 20, 40};
        Sample sample = Sample.of(4_000, 100, blocks);
        assertEquals(20, sample.p50Nanos());
        assertEquals(40, sample.p99Nanos());
        assertEquals(40.0, sample.gbPerS(), EXACT); // 4,000 bytes in 100 ns are 40 bytes a ns
        assertEquals(30, blocks[0], "the caller's array stays as it is");
        assertThrows(IllegalArgumentException.class, () -> new Sample(0, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Sample(1, 0, 1, 1));
    }

    @Test
    void aSeriesIsItsMedian() {
        Series series = new Series();
        series.add(new Sample(1_000, 100, 2_000_000, 9_000_000)); // 10 GB/s
        series.add(new Sample(1_000, 1_000, 1_000_000, 5_000_000)); // 1 GB/s
        series.add(new Sample(1_000, 500, 4_000_000, 7_000_000)); // 2 GB/s
        assertEquals(2.0, series.gbPerS(), EXACT);
        assertEquals(1.0, series.lowest(), EXACT);
        assertEquals(10.0, series.highest(), EXACT);
        assertEquals(2.0, series.p50Ms(), EXACT);
        assertEquals(7.0, series.p99Ms(), EXACT);

        series.add(new Sample(1_000, 250, 3_000_000, 5_000_000)); // 4 GB/s: now 1, 2, 4, 10
        assertEquals(3.0, series.gbPerS(), EXACT);
        assertEquals(2.5, series.p50Ms(), EXACT);
        assertThrows(IllegalStateException.class, () -> new Series().gbPerS());
    }
}
