/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/**
 * The eviction order GAPS: a leaf's place is its last use and a credit, lowest first. A use earns credit by the gap since the use before it: what was
 * used twice within a gap is likely to be used again within some more of them, and what was never used again earns nothing, so one-shot
 * prompts leave first. A block that prompts branch at, as the end of a shared system prompt, earns {@value #BRANCH_GAPS} gaps; the end of a
 * conversation, which only its next turn can use, earns half a gap. A place never falls. No gap is longer than the tier has held the block, so
 * credit cannot keep dead blocks for longer than a few times what LRU would. Trade-off: two numbers and a flag a block, and nothing of what has left:
 * a conversation that does not fit the tier earns nothing. Without state.
 */
public final class UseGaps {
    private static final int BRANCH_GAPS = 4;
    private static final int GAPS_PER_TURN = 2;

    private UseGaps() {}

    /**
     * The credit from a use on.
     *
     * @param lastUse the use before it
     * @param credit the credit until now, 0 or more
     * @param use this one, not before {@code lastUse}
     * @param branch whether prompts branch at the block
     * @return 0 or more
     */
    public static long credit(long lastUse, long credit, long use, boolean branch) {
        long gap = use - lastUse;
        return Math.max(lastUse + credit - use, branch ? gap * BRANCH_GAPS : gap / GAPS_PER_TURN);
    }
}
