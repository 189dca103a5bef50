/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A queue of blocks, of which only the leaves are ordered: by place, among equals the deeper one first. A block that others extend keeps its place
 * and comes back to it as a leaf, so nothing searches past blocks that must stay. Confined to one thread.
 */
final class Leaves {
    /** A reference in the ordered set, with its node. */
    static final int BYTES = 48;

    private static final Comparator<Kept> ORDER = Comparator.<Kept>comparingLong(block -> block.place)
            .thenComparing(Comparator.comparingInt(Kept::index).reversed())
            .thenComparingLong(Kept::id);

    private final int queue;
    private final TreeSet<Kept> leaves = new TreeSet<>(ORDER);
    private int size;

    /** @param queue its number in the policy, 1 or more */
    Leaves(int queue) {
        this.queue = queue;
    }

    /** Blocks of the queue, leaves or not. */
    int size() {
        return size;
    }

    /** Takes in a block of no queue. */
    void add(Kept block, long place) {
        block.queue = queue;
        block.place = place;
        size++;
        leaf(block);
    }

    /** Orders the block again if it is a leaf: another block extended it, or this one's place changed. */
    void leaf(Kept block) {
        if (block.isLeaf()) {
            leaves.add(block);
        }
    }

    /** The block keeps its place in the queue, and may not leave. */
    void extended(Kept block) {
        leaves.remove(block);
    }

    /** Moves a block of this queue to {@code place}. */
    void move(Kept block, long place) {
        leaves.remove(block);
        block.place = place;
        leaf(block);
    }

    void remove(Kept block) {
        leaves.remove(block);
        block.queue = 0;
        size--;
    }

    /**
     * Moves a leaf of this queue to {@code other}, and those of its prefix that are here: as long as it stays they must stay too. The deeper comes
     * first, at a place from {@code place} on.
     *
     * @return the next place
     */
    long movePath(Kept leaf, Leaves other, long place) {
        long next = place;
        for (@Nullable Kept block = leaf; block != null && block.queue == queue; block = block.parent()) {
            remove(block);
            other.add(block, next++);
        }
        return next;
    }

    /** The leaf that leaves first; none when all blocks of the queue must stay. */
    @Nullable Kept first() {
        return leaves.isEmpty() ? null : leaves.first();
    }

    /** The leaves of now. */
    List<Kept> all() {
        return List.copyOf(leaves);
    }

    /** The first leaf behind {@code block}, which need not be in the queue; none at the end. */
    @Nullable Kept after(Kept block) {
        return leaves.higher(block);
    }

    /** What a policy reports that has no leaf to name. */
    static IllegalStateException empty() {
        return new IllegalStateException("No leaf can leave: the tier is empty");
    }
}
