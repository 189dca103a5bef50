/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The longest run of free pages, against one that is counted. */
class FreeRunsTest {
    @Test
    void aRunIsCutAndJoined() {
        FreeRuns runs = new FreeRuns(10);
        assertEquals(10, runs.largest());
        runs.take(3);
        assertEquals(6, runs.largest(), "4 to 9");
        runs.take(6);
        assertEquals(3, runs.largest(), "0 to 2, and 7 to 9");
        runs.give(3);
        assertEquals(6, runs.largest(), "0 to 5");
        runs.give(6);
        assertEquals(10, runs.largest());
        assertThrows(IllegalStateException.class, () -> runs.give(0));
        runs.take(9);
        assertThrows(IllegalStateException.class, () -> runs.take(9));
        assertEquals(0, new FreeRuns(0).largest());
    }

    @Test
    void anyOrderIsCountedRight() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            int capacity = random.nextInt(1, 40);
            FreeRuns runs = new FreeRuns(capacity);
            BitSet taken = new BitSet(capacity);
            for (int step = 0; step < 300; step++) {
                int page = random.nextInt(capacity);
                if (taken.get(page)) {
                    runs.give(page);
                } else {
                    runs.take(page);
                }
                taken.flip(page);
                int longest = 0;
                for (int from = taken.nextClearBit(0); from < capacity; from = taken.nextClearBit(from + 1)) {
                    int to = taken.nextSetBit(from);
                    longest = Math.max(longest, (to < 0 ? capacity : Math.min(to, capacity)) - from);
                }
                assertEquals(longest, runs.largest(), "seed " + seed + " step " + step);
            }
        }
    }
}
