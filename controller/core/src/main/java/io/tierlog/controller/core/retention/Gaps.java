/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * The eviction order GAPS of the controller, its default, with its own credit ({@link UseGaps}). As there, a request uses the deepest block
 * that the tier holds of it and writes the new ones; a block hands its last use and its place to its parent when it leaves; and partial blocks,
 * which the controller never places, leave first. Time is that of the log: {@value #RECORDS} records a request. Confined to one thread.
 */
final class Gaps implements RetentionPolicy {
    private static final int RECORDS = 8;
    /** The place of partial blocks, before all others. */
    private static final long FIRST = Long.MIN_VALUE / 2;
    private static final int FLAT = 1;
    private static final int BRANCH = 2;

    private final Leaves leaves = new Leaves(1);
    private @Nullable Use last;
    private long offset;
    /** Whether the deepest block that was held has been seen. */
    private boolean hit;
    /** The leaf that this request extended. */
    private @Nullable Kept grown;

    @Override
    @SuppressWarnings("ReferenceEquality") // each request has an object of its own
    public void used(Kept block, Use use) {
        if (use != last) {
            last = use;
            offset += RECORDS;
            hit = false;
        }
        if (block.id() == use.partial()) {
            place(block, FIRST);
        } else if (block.queue == 0) {
            block.uses = FLAT;
            block.lastUse = offset;
            place(block, offset);
        } else if (!hit) {
            hit = true;
            block.uses = block.isLeaf() || block == grown ? block.uses : BRANCH;
            long credit = UseGaps.credit(block.lastUse, Math.max(0, block.place - block.lastUse), offset, block.uses == BRANCH);
            block.lastUse = offset;
            place(block, offset + credit);
        }
    }

    private void place(Kept block, long place) {
        if (block.queue == 0) {
            leaves.add(block, place);
        } else {
            leaves.move(block, place);
        }
    }

    @Override
    public void leaf(Kept block) {
        leaves.leaf(block);
    }

    @Override
    public void extended(Kept block) {
        grown = block;
        leaves.extended(block);
    }

    @Override
    public Kept nextToLeave() {
        @Nullable Kept first = leaves.first();
        if (first == null) {
            throw Leaves.empty();
        }
        leaves.remove(first);
        @Nullable Kept parent = first.parent();
        if (parent != null && first.place != FIRST) {
            parent.lastUse = Math.max(parent.lastUse, first.lastUse);
            parent.place = Math.max(parent.place, first.place);
        }
        return first;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Long.BYTES + Leaves.BYTES;
    }
}
