/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.ops.whatif.world.Delays.Sample;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DelaysTest {
    private static final long CONSTANT = 1;

    /** At 10, 20 and 40 ms. */
    private static final Delays DELAYS = new Delays(List.of(new Sample(10, 100), new Sample(20, 200), new Sample(40, 400)));

    @Test
    void aDelayHoldsUntilTheNextOne() {
        assertEquals(List.of(CONSTANT, 100L, 100L, 100L, 200L, 200L, 400L),
                LongStream.of(-1, 0, 10, 19, 20, 39, 40).mapToObj(ms -> DELAYS.micros(ms, CONSTANT)).toList());
        assertEquals(CONSTANT, Delays.NONE.micros(5, CONSTANT));
    }

    /** After 40 ms come 20 to 40 again: 41 is 20, 61 is 40, and 62 is 20 once more. */
    @Test
    void theSecondHalfComesAgain() {
        assertEquals(List.of(200L, 200L, 400L, 200L), LongStream.of(41, 60, 61, 62).mapToObj(ms -> DELAYS.micros(ms, CONSTANT)).toList());
        assertEquals(7, new Delays(List.of(new Sample(0, 7))).micros(1_000, CONSTANT));
    }

    @Test
    void manyAreThinned() {
        assertEquals(List.of(new Sample(1, 4), new Sample(2, 6)),
                Delays.of(List.of(new Sample(2, 6), new Sample(1, 5), new Sample(1, 4), new Sample(1, 7))).samples());

        Delays thinned = Delays.of(LongStream.range(0, 2_500).mapToObj(ms -> new Sample(ms, ms)).toList());

        assertEquals(834, thinned.samples().size()); // every third
        assertEquals(new Sample(2_499, 2_499), thinned.samples().getLast());
        assertThrows(IllegalArgumentException.class, () -> new Delays(LongStream.range(0, 1_001).mapToObj(ms -> new Sample(ms, 0)).toList()));
    }
}
