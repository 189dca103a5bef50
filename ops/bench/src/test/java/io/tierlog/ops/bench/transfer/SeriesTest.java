/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** Percentiles and medians, with numbers to check by hand. */
final class SeriesTest {
    private static final double EXACT = 1e-12;

    @Test
    void aSampleHasThePercentilesOfItsBlocksToThreeDigits() {
        Histogram blocks = Sample.times();
        LongStream.rangeClosed(1, 100).forEach(block -> blocks.recordValue(block * 1_000_000));
        Sample sample = Sample.of(4_000, 100, blocks);
        assertEquals(50e6, sample.p50Nanos(), 50e3); // the 50th of 100
        assertEquals(99e6, sample.p99Nanos(), 99e3);
        assertEquals(40.0, sample.gbPerS(), EXACT); // 4,000 bytes in 100 ns are 40 bytes a ns
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
