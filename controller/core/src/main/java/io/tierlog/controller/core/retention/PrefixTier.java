/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One tier of blocks under a policy. A request is atomic: its hits are counted first, then all its blocks are in the tier, and then the policy names
 * leaves until the tier is no larger than its capacity; these may be blocks of that request. No block leaves while one that extends it is there.
 * Confined to one thread.
 */
public final class PrefixTier {
    private final int capacity;
    private final RetentionPolicy policy;
    private final Map<Long, Kept> held = new LinkedHashMap<>();

    /**
     * An empty tier.
     *
     * @param capacity blocks, 1 or more
     */
    public PrefixTier(int capacity, RetentionPolicy policy) {
        if (capacity < 1) {
            throw new IllegalArgumentException("Invalid capacity " + capacity + ": must be >= 1");
        }
        this.capacity = capacity;
        this.policy = policy;
    }

    /**
     * Runs one request.
     *
     * @param prompt numbers of its blocks, the first one first
     * @param whole blocks of the prompt that are whole: those that generated blocks extend
     * @param generated numbers of the blocks that the request generates
     * @param atMs when it comes
     * @return how many of its leading blocks the tier held
     */
    public int use(long[] prompt, int whole, long[] generated, long atMs) {
        int hits = 0;
        while (hits < prompt.length && held.containsKey(prompt[hits])) {
            hits++;
        }
        Kept[] path = new Kept[prompt.length + generated.length];
        for (int i = 0; i < prompt.length; i++) {
            path[i] = hold(prompt[i], i == 0 ? null : path[i - 1]);
        }
        @Nullable Kept before = whole == 0 ? null : path[whole - 1];
        for (int i = 0; i < generated.length; i++) {
            before = hold(generated[i], before);
            path[prompt.length + i] = before;
        }
        Use use = new Use(atMs, whole < prompt.length ? prompt[prompt.length - 1] : Use.NONE);
        for (int i = path.length - 1; i >= 0; i--) {
            policy.used(path[i], use);
        }
        while (held.size() > capacity) {
            leave(policy.nextToLeave());
        }
        return hits;
    }

    private Kept hold(long id, @Nullable Kept parent) {
        @Nullable Kept known = held.get(id);
        if (known != null) {
            return known;
        }
        Kept block = new Kept(id, parent == null ? 0 : parent.index() + 1, parent);
        held.put(id, block);
        if (parent != null) {
            boolean wasLeaf = parent.isLeaf();
            parent.extend();
            if (wasLeaf && parent.queue != 0) {
                policy.extended(parent);
            }
        }
        return block;
    }

    private void leave(Kept block) {
        if (!block.isLeaf() || !held.remove(block.id(), block)) {
            throw new IllegalStateException("Block " + block.id() + " cannot leave: it is no leaf of this tier");
        }
        @Nullable Kept parent = block.parent();
        if (parent != null) {
            parent.shorten();
            if (parent.isLeaf()) {
                policy.leaf(parent);
            }
        }
    }

    /** Whether the tier holds block {@code id}. */
    public boolean holds(long id) {
        return held.containsKey(id);
    }

    /** Blocks that the tier holds. */
    public int size() {
        return held.size();
    }
}
