/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each policy in a world small enough to follow by hand. */
class RetentionPoliciesTest {
    private long nowMs;

    @Test
    void theyAreFoundByName() {
        assertEquals(Optional.of(RetentionPolicies.S3_FIFO), RetentionPolicies.of("s3-fifo"));
        assertEquals(Optional.empty(), RetentionPolicies.of("lifo"));
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyTierHasNothingToDrop(RetentionPolicies policy) {
        RetentionPolicy made = policy.make(4);
        assertEquals("No leaf can leave: the tier is empty", assertThrows(IllegalStateException.class, made::nextToLeave).getMessage());
        assertTrue(made.bytesPerBlock() > 0);
    }

    /** Small queue of 1. A block that was used again before it reached the end of the small queue moves to the main one; the scan passes it by. */
    @Test
    void s3FifoLetsAScanPass() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.S3_FIFO.make(4));
        use(tier, 1);
        use(tier, 1);
        use(tier, 2, 3, 4);
        // 1 moves to main; of 2 3 4 5 the oldest leaf leaves: 4, inserted first as the deepest.
        use(tier, 5);
        assertEquals(List.of(1L, 2L, 3L, 5L), held(tier, 9));
        scan(tier, 10, 20);
        assertTrue(tier.holds(1));
    }

    /** 4 leaves the small queue unused and is remembered for four blocks: when it comes back it goes to the main queue. */
    @Test
    void s3FifoRemembersWhatLeft() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.S3_FIFO.make(4));
        use(tier, 4);
        scan(tier, 10, 14);
        assertEquals(0, use(tier, 4));
        scan(tier, 20, 40);
        assertTrue(tier.holds(4));
    }

    /** The hand takes the mark of 1, stops at 2, and goes on behind it: 3 is next though 1 is older and has no mark. */
    @Test
    void sievesHandGoesOn() {
        PrefixTier tier = new PrefixTier(3, RetentionPolicies.SIEVE.make(3));
        use(tier, 1);
        use(tier, 2);
        use(tier, 3);
        use(tier, 1);
        use(tier, 4);
        assertEquals(List.of(1L, 3L, 4L), held(tier, 9));
        use(tier, 5);
        assertEquals(List.of(1L, 4L, 5L), held(tier, 9));
    }

    /** 1 was used twice; a scan of blocks used once does not reach it, since once-used blocks may have target = 0 blocks. */
    @Test
    void arcKeepsWhatWasUsedTwice() {
        PrefixTier tier = new PrefixTier(3, RetentionPolicies.ARC.make(3));
        use(tier, 1);
        use(tier, 1);
        scan(tier, 10, 30);
        assertTrue(tier.holds(1));
        // A ghost of once-used blocks comes back: the target grows to 1, and 28 is a block used often now.
        assertEquals(0, use(tier, 27));
        assertTrue(tier.holds(27));
    }

    /** Window of 1, main part of 3. 1, 2, 3 were used twice: a block used once does not take the place of any of them. */
    @Test
    void tinyLfuDoesNotAdmitWhatIsUsedLess() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.TINYLFU.make(4));
        for (long block : new long[] {1, 2, 3, 1, 2, 3}) {
            use(tier, block);
        }
        scan(tier, 10, 13);
        assertEquals(List.of(1L, 2L, 3L), held(tier, 9));
    }

    @Test
    void theSketchCountsUpTo15AndHalves() {
        Sketch sketch = new Sketch(10);
        for (int i = 0; i < 20; i++) {
            sketch.add(7);
        }
        assertEquals(15, sketch.count(7));
        // 100 uses are ten for each block: all counts are halved.
        for (int i = 20; i < 100; i++) {
            sketch.add(8);
        }
        assertEquals(7, sketch.count(7));
        assertEquals(7, sketch.count(8));
    }

    /** At index 0 a use is worth 64, at index 2 it is worth 66: the deeper leaf 3 stays longer than the single block 4, though it is colder. */
    @Test
    void gdsfKeepsWhatCostsMore() {
        PrefixTier tier = new PrefixTier(4, RetentionPolicies.GDSF.make(4));
        use(tier, 1, 2, 3);
        use(tier, 4);
        use(tier, 5);
        assertEquals(List.of(1L, 2L, 3L, 5L), held(tier, 9));
        // 4 left at 64, so 6 is worth 128, and 5 with 64 is next.
        use(tier, 6);
        assertEquals(List.of(1L, 2L, 3L, 6L), held(tier, 9));
    }

    /**
     * Rounds of 60 s: each of 10 conversations has one prompt of 4 blocks, and 100 prompts of 4 blocks come once. LRU in 200 blocks holds what
     * 50 prompts used, half a round: it never has a hit. Turns learns the gap of 60 s, and the second use of a conversation earns one: its 40 blocks
     * stay beside the last 40 prompts.
     */
    @Test
    void turnsHoldsConversationsThatLruCannot() {
        Turns policy = new Turns(200);
        PrefixTier turns = new PrefixTier(200, policy);
        PrefixTier lru = new PrefixTier(200, new LruLeaves());
        long hits = 0;
        for (int round = 0; round < 40; round++) {
            for (int i = 0; i < 110; i++) {
                long first = i % 11 == 0 ? i * 4L : 10_000 + (round * 110L + i) * 4;
                long[] prompt = LongStream.range(first, first + 4).toArray();
                nowMs = round * 60_000L + i * 545L;
                int hit = turns.use(prompt, 4, new long[0], nowMs);
                hits += round < 30 ? 0 : hit;
                assertEquals(0, lru.use(prompt, 4, new long[0], nowMs));
            }
        }

        assertTrue(policy.rate() > 0);
        assertEquals(10 * 10 * 4, hits);
    }

    /**
     * Runs that use 10 blocks 20 times, a second apart, and end, five at a time: 50 live blocks in 60. What a run earned keeps dead blocks;
     * LRU has all hits but the first of each run, and Turns stays with LRU.
     */
    @Test
    void turnsStaysWithLruWhereWhatWasUsedOftenIsDead() {
        Turns policy = new Turns(60);
        PrefixTier turns = new PrefixTier(60, policy);
        PrefixTier lru = new PrefixTier(60, new LruLeaves());
        long hits = 0;
        long lruHits = 0;
        for (int step = 0; step < 6_000; step++) {
            // Five places for runs; the runs at a place follow each other, 20 steps each.
            long run = step % 5 + 5L * (step / 100);
            long[] prompt = LongStream.range(run * 10, run * 10 + 10).toArray();
            hits += turns.use(prompt, 10, new long[0], step * 200L);
            lruHits += lru.use(prompt, 10, new long[0], step * 200L);
        }

        assertEquals(0, policy.rate());
        assertEquals(lruHits, hits);
    }

    /** The last block of each prompt is partial and never comes back, the one before does: the partial one leaves before all others. */
    @Test
    void turnsDropsPartialBlocksFirst() {
        TurnMemory partial = new TurnMemory(1, 1);
        partial.touchMs = 900;
        partial.first = true;
        TurnMemory other = new TurnMemory(2, 0);
        other.touchMs = 100;
        other.creditMs = 400;

        // LRU knows no such thing.
        assertEquals(List.of(900L, Long.MIN_VALUE), List.of(partial.place(0), partial.place(50)));
        assertEquals(List.of(100L, 300L, 500L), List.of(other.place(0), other.place(50), other.place(100)));
    }

    private int use(PrefixTier tier, long... prompt) {
        return tier.use(prompt, prompt.length, new long[0], nowMs++);
    }

    private void scan(PrefixTier tier, long from, long to) {
        LongStream.range(from, to).forEach(block -> use(tier, block));
    }

    private static List<Long> held(PrefixTier tier, long most) {
        List<Long> held = new ArrayList<>();
        LongStream.rangeClosed(1, most).filter(tier::holds).forEach(held::add);
        return held;
    }
}
