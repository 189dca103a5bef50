/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tier itself, and what every policy keeps to. */
class PrefixTierTest {
    private static final long[] NONE = {};

    @Test
    void aRequestsHitsAreCountedBeforeAnythingLeaves() {
        PrefixTier tier = new PrefixTier(3, RetentionPolicies.LRU_LEAVES.make(3));

        assertEquals(0, use(tier, 0, 1, 2, 3));
        // 1, 2 are hits; then 1 2 3 4 5 are in the tier, and of the five the leaves 3 (older), then 5 (deeper) leave.
        assertEquals(2, use(tier, 1, 1, 2, 4, 5));
        assertHolds(tier, 1, 2, 4);
        // Hits end at the first block that is not there: 3 is not, so 4 does not count, though it is held.
        assertEquals(2, use(tier, 2, 1, 2, 3));
    }

    @Test
    void theDefaultDropsTheColdestLeafAndAmongEqualsTheDeeperOne() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.LRU_LEAVES.make(4));

        use(tier, 0, 1, 2, 3);
        use(tier, 1, 7);
        // Five blocks for four: 2 and 3 were used at 0 and 3 is the leaf.
        use(tier, 2, 8);
        assertHolds(tier, 1, 2, 7, 8);
        // 2 is the coldest leaf now, then 1: 7 at 1 is younger.
        use(tier, 3, 9, 10);
        assertHolds(tier, 7, 8, 9, 10);
    }

    @Test
    void generatedBlocksExtendTheWholeOnesOfThePrompt() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.LRU_LEAVES.make(4));

        // 1 is whole, 2 is partial: 5 follows 1, and 6 follows 5.
        tier.use(new long[] {1, 2}, 1, new long[] {5, 6}, 0);
        assertHolds(tier, 1, 2, 5, 6);
        assertEquals(3, use(tier, 1, 1, 5, 6));
        // 2 leaves first (of 0), then 6 before 5: all are of 1 but 9.
        use(tier, 2, 9);
        assertHolds(tier, 1, 5, 6, 9);
        use(tier, 3, 10);
        assertHolds(tier, 1, 5, 9, 10);
    }

    @Test
    void aPromptLargerThanTheTierKeepsItsBeginning() {
        PrefixTier tier = new PrefixTier(2, RetentionPolicies.LRU_LEAVES.make(2));

        use(tier, 0, 1, 2, 3, 4);

        assertHolds(tier, 1, 2);
    }

    @Test
    void noPolicyDropsABlockThatOthersExtend() {
        List<Kept> seen = new ArrayList<>();
        PrefixTier wrong = new PrefixTier(1, new RetentionPolicy() {
            @Override
            public void used(Kept block, Use use) {
                seen.add(block);
            }

            @Override
            public void leaf(Kept block) {}

            @Override
            public void extended(Kept block) {}

            @Override
            public Kept nextToLeave() {
                return seen.getLast();
            }

            @Override
            public double bytesPerBlock() {
                return 0;
            }
        });

        // The last one used is the first of the prompt, which the other one extends.
        IllegalStateException error = assertThrows(IllegalStateException.class, () -> use(wrong, 0, 1, 2));
        assertEquals("Block 1 cannot leave: it is no leaf of this tier", error.getMessage());
    }

    @Test
    void aTierHasAtLeastOneBlock() {
        RetentionPolicy policy = RetentionPolicies.LRU_LEAVES.make(1);
        assertThrows(IllegalArgumentException.class, () -> new PrefixTier(0, policy));
    }

    /** 400 requests over a tree of 3 roots with up to 4 children each, 6 deep: after each one the tier is no larger than it may be, and whole. */
    @ParameterizedTest
    @EnumSource
    void everyPolicyKeepsPrefixesWholeAndTheTierSmall(RetentionPolicies policy) {
        for (int capacity : new int[] {1, 2, 7, 40}) {
            for (long seed = 1; seed <= 20; seed++) {
                List<Integer> first = run(policy, capacity, seed);
                assertEquals(first, run(policy, capacity, seed), policy + " is not the same twice, seed " + seed);
            }
        }
    }

    private static List<Integer> run(RetentionPolicies policy, int capacity, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        PrefixTier tier = new PrefixTier(capacity, policy.make(capacity));
        Map<Long, Long> parents = new HashMap<>();
        List<Integer> hits = new ArrayList<>();
        long atMs = 0;
        for (int i = 0; i < 400; i++) {
            int length = random.nextInt(1, 7);
            long[] prompt = new long[length];
            long id = 0;
            for (int k = 0; k < length; k++) {
                // Skewed, so that some prefixes are popular. A block's number says its whole path.
                long next = id * 5 + 1 + Math.min(random.nextInt(4), random.nextInt(4));
                parents.put(next, id);
                id = next;
                prompt[k] = id;
            }
            boolean partial = random.nextBoolean();
            atMs += random.nextInt(3);
            int expected = (int) LongStream.of(prompt).takeWhile(tier::holds).count();
            int hit = tier.use(prompt, partial ? length - 1 : length, NONE, atMs);
            assertEquals(expected, hit);
            hits.add(hit);
            int held = 0;
            for (Map.Entry<Long, Long> block : parents.entrySet()) {
                if (tier.holds(block.getKey())) {
                    held++;
                    assertTrue(block.getValue() == 0 || tier.holds(block.getValue()),
                            () -> policy + " holds " + block.getKey() + " without " + block.getValue() + ", seed " + seed);
                }
            }
            assertEquals(held, tier.size());
            assertTrue(held <= capacity, policy + " seed " + seed);
        }
        return hits;
    }

    private static int use(PrefixTier tier, long atMs, long... prompt) {
        return tier.use(prompt, prompt.length, NONE, atMs);
    }

    private static void assertHolds(PrefixTier tier, long... blocks) {
        LongStream.of(blocks).forEach(block -> assertTrue(tier.holds(block), "block " + block));
        assertEquals(blocks.length, tier.size());
        assertFalse(tier.holds(99));
    }
}
