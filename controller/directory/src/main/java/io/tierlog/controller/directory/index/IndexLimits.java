/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

/**
 * How much the index of one partition may hold. What is more is refused, and from then on the partition answers UNKNOWN.
 *
 * @param blocks most blocks
 * @param placements most placements of them together
 * @param namespaces most namespaces with a block
 * @param holdings most locations with a block, counted by location and incarnation
 */
public record IndexLimits(int blocks, long placements, int namespaces, int holdings) {
    /** 64 million blocks (some 5 GiB) and twice as many placements, 1 million namespaces, 262,144 locations by incarnation. */
    public static final IndexLimits DEFAULTS = new IndexLimits(64_000_000, 128_000_000L, 1_000_000, 262_144);

    private static final int MOST_BLOCKS = 700_000_000;

    /** Refuses bounds that hold nothing, or that the index cannot number. */
    public IndexLimits {
        if (blocks < 1 || blocks > MOST_BLOCKS || placements < blocks || placements > 2L * MOST_BLOCKS || namespaces < 1 || holdings < 1) {
            throw new IllegalArgumentException("a partition's index cannot hold " + blocks + " blocks, " + placements + " placements, " + namespaces
                    + " namespaces, " + holdings + " locations by incarnation: give 1 to " + MOST_BLOCKS
                    + " blocks, as many placements or up to twice "
                    + MOST_BLOCKS + ", and 1 or more of the others");
        }
    }
}
