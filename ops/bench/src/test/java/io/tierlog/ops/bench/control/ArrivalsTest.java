/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class ArrivalsTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Requests 10 (warm-up), 11, 12, due at 0, 5 and 10 ms. */
    private final Arrivals arrivals = new Arrivals(new Arrivals.Stretch(10, 1, 3, 5 * MS));

    @Test
    void timesCountFromTheMomentARequestShouldHaveBeenSent() {
        arrivals.begin(0);

        arrivals.arrived(10, 100 * MS);
        arrivals.arrived(12, 17 * MS);
        arrivals.arrived(11, 17 * MS);

        // 11: 17 - 5 = 12 ms; 12: 17 - 10 = 7 ms; 10 warmed up only.
        Histogram micros = arrivals.micros();
        assertEquals(2, micros.getTotalCount());
        assertEquals(7, TimeUnit.MICROSECONDS.toMillis(micros.getMinValue()));
        assertEquals(12, TimeUnit.MICROSECONDS.toMillis(micros.getMaxValue()));
        assertTrue(arrivals.count().isClean());
    }

    @Test
    void missingRepeatedAndForeignAnswersAreCounted() throws InterruptedException {
        arrivals.begin(0);

        arrivals.arrived(10, MS);
        arrivals.arrived(10, MS);
        arrivals.arrived(11, 6 * MS);
        arrivals.arrived(13, MS);
        arrivals.arrived(9, MS);
        arrivals.await(1);

        assertEquals(new Arrivals.Count(3, 2, 1, 1, 2), arrivals.count());
        assertFalse(arrivals.count().isClean());
    }
}
