/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatencyTest {
    private static Latency of(LongStream times, TimeUnit unit) {
        Histogram histogram = new Histogram(3_600_000_000L, 3);
        times.forEach(histogram::recordValue);
        return Latency.of(histogram, unit);
    }

    @Test
    void percentilesAreInMs() {
        Latency micros = of(LongStream.rangeClosed(1, 100).map(ms -> 10 * ms), TimeUnit.MICROSECONDS);
        assertEquals(100, micros.count());
        assertEquals(0.5, micros.p50());
        assertEquals(0.9, micros.p90());
        assertEquals(0.99, micros.p99());
        assertEquals(1.0, micros.max());
        assertEquals(50, of(LongStream.rangeClosed(1, 100), TimeUnit.MILLISECONDS).p50());
        assertEquals(0, of(LongStream.empty(), TimeUnit.MICROSECONDS).p99());
    }

    /** The percentile of both is not the mean of their percentiles. */
    @Test
    void twoAreCountedAsOne() {
        Latency quick = of(LongStream.generate(() -> 1).limit(98), TimeUnit.MILLISECONDS);
        Latency slow = of(LongStream.of(500, 700), TimeUnit.MILLISECONDS);

        Latency both = quick.plus(slow);

        assertEquals(100, both.count());
        assertEquals(1, both.p90());
        assertEquals(500, both.p99());
        assertEquals(700, both.max());
        assertEquals(98, quick.count());
        Latency other = of(LongStream.of(1), TimeUnit.MICROSECONDS);
        assertThrows(IllegalArgumentException.class, () -> quick.plus(other));
    }

    @Test
    void whatIsCountedLaterIsNotInIt() {
        Histogram histogram = new Histogram(3_600_000_000L, 3);
        histogram.recordValue(7);
        Latency before = Latency.of(histogram, TimeUnit.MILLISECONDS);
        histogram.recordValue(9);
        assertEquals(1, before.count());
        assertEquals(7, before.max());
    }
}
