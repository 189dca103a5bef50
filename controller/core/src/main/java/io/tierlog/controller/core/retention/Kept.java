/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * A block that a tier holds: its place in the prefix tree, and the few numbers that its policy keeps with it. Only {@link PrefixTier} changes the
 * first, only the policy the others. Confined to one thread.
 */
public final class Kept {
    /** Numbers that a policy keeps with a block, in bytes: {@link #place}, {@link #uses}, {@link #queue}. */
    static final int POLICY_BYTES = 8 + 4 + 4;

    private final long id;
    private final int index;
    private final @Nullable Kept parent;
    private int children;

    /** Its place among the leaves of its queue: the lowest leaves first. Changed only while it is in no {@link Leaves}. */
    long place;

    /** When it was last used, for {@link Gaps}. */
    long lastUse;

    /** What {@link Turns} remembers of it. */
    @Nullable TurnMemory memory;

    /** How often it was used, as far as the policy remembers. */
    int uses;

    /** Which queue of the policy it is in; 0 for a block that the policy has not seen yet. */
    int queue;

    Kept(long id, int index, @Nullable Kept parent) {
        this.id = id;
        this.index = index;
        this.parent = parent;
    }

    /** Its number; the same whenever the block comes back. */
    public long id() {
        return id;
    }

    /** Blocks before it in its prefix. */
    public int index() {
        return index;
    }

    /** The block before it; none for the first block of a prompt. */
    @Nullable Kept parent() {
        return parent;
    }

    /** Whether no block of the tier extends it. */
    public boolean isLeaf() {
        return children == 0;
    }

    void extend() {
        children++;
    }

    void shorten() {
        children--;
    }
}
