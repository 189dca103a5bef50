/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * ARC (FAST 2003) over leaves: blocks used once and blocks used more often, each coldest first, and ghosts of both. A ghost that comes back moves the
 * share of the tier that blocks used once may have. Confined to one thread.
 */
final class Arc implements RetentionPolicy {
    private final int capacity;
    private final Leaves once = new Leaves(1);
    private final Leaves often = new Leaves(2);
    private final Ghosts leftOnce;
    private final Ghosts leftOften;
    /** Blocks that {@link #once} may have. */
    private long target;
    private long uses;

    Arc(int capacity) {
        this.capacity = capacity;
        this.leftOnce = new Ghosts(capacity);
        this.leftOften = new Ghosts(capacity);
    }

    @Override
    public void used(Kept block, Use use) {
        long place = uses++;
        if (block.queue == 2) {
            often.move(block, place);
        } else if (block.queue == 1) {
            once.remove(block);
            often.add(block, place);
        } else if (leftOnce.remove(block) != 0) {
            target = Math.min(capacity, target + Math.max(1, leftOften.size() / (leftOnce.size() + 1)));
            often.add(block, place);
        } else if (leftOften.remove(block) != 0) {
            target = Math.max(0, target - Math.max(1, leftOnce.size() / (leftOften.size() + 1)));
            often.add(block, place);
        } else {
            once.add(block, place);
        }
    }

    @Override
    public void leaf(Kept block) {
        (block.queue == 1 ? once : often).leaf(block);
    }

    @Override
    public void extended(Kept block) {
        (block.queue == 1 ? once : often).extended(block);
    }

    @Override
    public Kept nextToLeave() {
        @Nullable Kept coldOnce = once.first();
        @Nullable Kept coldOften = often.first();
        if (coldOnce != null && (once.size() > target || coldOften == null)) {
            once.remove(coldOnce);
            leftOnce.add(coldOnce, 1);
            return coldOnce;
        }
        if (coldOften == null) {
            throw Leaves.empty();
        }
        often.remove(coldOften);
        leftOften.add(coldOften, 1);
        return coldOften;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES + 2 * Ghosts.BYTES;
    }
}
