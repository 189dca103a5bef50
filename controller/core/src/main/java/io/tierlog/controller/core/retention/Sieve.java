/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * SIEVE (NSDI 2024) over leaves: a queue in order of arrival, a mark on each block that was used again, and a hand that goes from the oldest to the
 * newest leaf, takes marks away, and stops at the first leaf without one. Confined to one thread.
 */
final class Sieve implements RetentionPolicy {
    private final Leaves queue = new Leaves(1);
    private long arrivals;
    private @Nullable Kept hand;

    @Override
    public void used(Kept block, Use use) {
        if (block.queue == 0) {
            block.uses = 0;
            queue.add(block, arrivals++);
        } else {
            block.uses = 1;
        }
    }

    @Override
    public void leaf(Kept block) {
        queue.leaf(block);
    }

    @Override
    public void extended(Kept block) {
        queue.extended(block);
    }

    @Override
    public Kept nextToLeave() {
        @Nullable Kept next = hand == null ? null : queue.after(hand);
        while (true) {
            if (next == null) {
                next = queue.first();
                if (next == null) {
                    throw Leaves.empty();
                }
            }
            if (next.uses == 0) {
                break;
            }
            next.uses = 0;
            next = queue.after(next);
        }
        // The hand stays where it is in the order, though this block leaves: its place remains readable.
        hand = next;
        queue.remove(next);
        return next;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES;
    }
}
