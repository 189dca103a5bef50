/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * Leaves in the order of one number that each use gives a block: the lowest leaves first. As it stands that number is the time of the use, which is
 * the eviction order LRU of the controller: coldest leaf first, among equals the deeper one. Confined to one thread.
 */
class LruLeaves implements RetentionPolicy {
    private final Leaves leaves = new Leaves(1);

    @Override
    public final void used(Kept block, Use use) {
        boolean held = block.queue != 0;
        block.uses = held ? block.uses + 1 : 1;
        if (held) {
            leaves.move(block, place(block, use));
        } else {
            leaves.add(block, place(block, use));
        }
    }

    /** The block's place from this use on. */
    long place(Kept block, Use use) {
        return use.atMs();
    }

    /** The block leaves. */
    void left(Kept block) {}

    @Override
    public final void leaf(Kept block) {
        leaves.leaf(block);
    }

    @Override
    public final void extended(Kept block) {
        leaves.extended(block);
    }

    @Override
    public final Kept nextToLeave() {
        @Nullable Kept first = leaves.first();
        if (first == null) {
            throw Leaves.empty();
        }
        leaves.remove(first);
        left(first);
        return first;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES;
    }
}
