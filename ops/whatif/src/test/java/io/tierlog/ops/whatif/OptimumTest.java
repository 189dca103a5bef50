/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The references: the optimum against all choices there are, and LRU by hand. */
class OptimumTest {
    @Test
    void itKeepsWhatComesNextAndNothingThatDoesNot() {
        // After the second request 1 and 2 come again, 3 and 4 never do: with two blocks 1, 2 are kept. Hits 1 + 2 of 7.
        Prompts workload = prompts(new long[][] {{1, 2}, {1, 3, 4}, {1, 2}});

        assertEquals(3, Optimum.hits(workload, 2));
        // With one block only 1 can stay: 1 + 1.
        assertEquals(2, Optimum.hits(workload, 1));
        assertEquals(7, workload.accesses());
        assertEquals(4, workload.uniqueBlocks());
    }

    /** The first of a cold prompt leaves before its end: 1 of 1 2 3, in a tier of three, when 9 comes. 2 and 3 are there and cannot be hit. */
    @Test
    void plainLruDropsTheBeginningFirst() {
        Prompts workload = prompts(new long[][] {{1, 2, 3}, {9}, {1, 2, 3}});

        assertEquals(0, PlainLru.hits(workload, 3));
        assertEquals(3, PlainLru.hits(workload, 4));
        // By prefix, the default drops 3 and has two hits.
        assertEquals(2.0 / 7, OneTier.run(workload, 0.75, "default").hitRatio());
    }

    @Test
    void aGeneratedBlockCountsFromTheNextPromptThatHasIt() {
        Prompts.Prompt first = new Prompts.Prompt(0, new long[] {1, 2}, 1, new long[] {3});
        Prompts.Prompt second = new Prompts.Prompt(1, new long[] {1, 3}, 2, new long[0]);
        Prompts workload = Prompts.of("two turns", List.of(first, second));

        // 3 extends 1, the whole block; 2 never comes again. Four accesses, two hits.
        assertEquals(2, Optimum.hits(workload, 2));
        assertEquals(3, workload.uniqueBlocks());
        assertEquals(2, PlainLru.hits(workload, 3));
        // Generated after the prompt, 2 and 3 are the last two: 1 is gone.
        assertEquals(0, PlainLru.hits(workload, 2));
    }

    /** 300 worlds of 7 requests over a tree of up to 14 blocks, tiers of 1 to 3 blocks: every choice of what to keep is tried. */
    @Test
    void noChoiceOfBlocksHasMoreHits() {
        for (long seed = 1; seed <= 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            long[][] requests = new long[7][];
            for (int i = 0; i < requests.length; i++) {
                requests[i] = new long[random.nextInt(1, 4)];
                long id = 0;
                for (int k = 0; k < requests[i].length; k++) {
                    id = id * 2 + 1 + random.nextInt(2);
                    requests[i][k] = id;
                }
            }
            Prompts workload = prompts(requests);
            for (int capacity = 1; capacity <= 3; capacity++) {
                long best = best(workload, capacity, 0, 0, new HashMap<>());
                assertEquals(best, Optimum.hits(workload, capacity), "seed " + seed + ", capacity " + capacity);
                assertTrue(PlainLru.hits(workload, capacity) <= best);
                for (String policy : OneTier.policies()) {
                    double ratio = OneTier.run(workload, (double) capacity / workload.uniqueBlocks(), policy).hitRatio();
                    assertTrue(ratio <= (double) best / workload.accesses() || workload.uniqueBlocks() < capacity, policy + ", seed " + seed);
                }
            }
        }
    }

    /** Most hits from request {@code i} on, when the tier holds the blocks whose bits are set in {@code held}. */
    private static long best(Prompts workload, int capacity, int i, int held, Map<Long, Long> known) {
        if (i == workload.prompts().size()) {
            return 0;
        }
        long key = (long) i << 32 | held;
        Long found = known.get(key);
        if (found != null) {
            return found;
        }
        long[] blocks = workload.prompts().get(i).blocks();
        int hits = 0;
        while (hits < blocks.length && (held >> blocks[hits] & 1) != 0) {
            hits++;
        }
        int all = held;
        for (long block : blocks) {
            all |= 1 << block;
        }
        long best = 0;
        for (int kept = all;; kept = kept - 1 & all) {
            if (Integer.bitCount(kept) <= capacity) {
                best = Math.max(best, best(workload, capacity, i + 1, kept, known));
            }
            if (kept == 0) {
                break;
            }
        }
        known.put(key, hits + best);
        return hits + best;
    }

    private static Prompts prompts(long[][] requests) {
        List<Prompts.Prompt> prompts = new ArrayList<>();
        for (long[] request : requests) {
            prompts.add(new Prompts.Prompt(prompts.size(), request, request.length, new long[0]));
        }
        return Prompts.of("by hand", prompts);
    }
}
