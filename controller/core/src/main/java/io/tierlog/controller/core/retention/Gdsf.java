/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/**
 * Greedy-dual size-frequency (Cherkasova, 1998) over leaves: a block's place is the place of the last one that left, plus its uses in the tier times
 * what its recomputation costs. All blocks have the same size. A block at index {@code i} costs {@code 1 + i / 64}: what attention over the
 * blocks before it adds equals all the rest of its prefill at about 64 blocks of 512 tokens. Confined to one thread.
 */
final class Gdsf extends LruLeaves {
    private static final int ATTENTION_EQUALS_REST_BLOCKS = 64;

    private long lastPlace;

    @Override
    long place(Kept block, Use use) {
        return lastPlace + (long) block.uses * (ATTENTION_EQUALS_REST_BLOCKS + block.index());
    }

    @Override
    void left(Kept block) {
        lastPlace = Math.max(lastPlace, block.place);
    }
}
