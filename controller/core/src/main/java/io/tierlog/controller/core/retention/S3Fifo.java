/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * S3-FIFO (SOSP 2023) over leaves: new blocks wait in a small queue of a tenth of the tier; used again there they move to the main queue, with
 * their prefix, else they leave and are remembered for one capacity, and when they come back in that time they go to the main queue at once.
 * Confined to one thread.
 */
final class S3Fifo implements RetentionPolicy {
    private static final int SMALL_SHARE = 10;
    private static final int MOST_USES = 3;

    private final Leaves small = new Leaves(1);
    private final Leaves main = new Leaves(2);
    private final Ghosts ghosts;
    private final int smallBlocks;
    private long arrivals;

    S3Fifo(int capacity) {
        this.smallBlocks = Math.max(1, capacity / SMALL_SHARE);
        this.ghosts = new Ghosts(capacity);
    }

    @Override
    public void used(Kept block, Use use) {
        if (block.queue != 0) {
            block.uses = Math.min(MOST_USES, block.uses + 1);
            return;
        }
        block.uses = 0;
        queueOf(ghosts.remove(block) != 0).add(block, arrivals++);
    }

    private Leaves queueOf(boolean known) {
        return known ? main : small;
    }

    @Override
    public void leaf(Kept block) {
        queueOf(block.queue == 2).leaf(block);
    }

    @Override
    public void extended(Kept block) {
        queueOf(block.queue == 2).extended(block);
    }

    @Override
    public Kept nextToLeave() {
        while (true) {
            @Nullable Kept fromSmall = small.first();
            @Nullable Kept fromMain = main.first();
            if (fromSmall != null && (small.size() > smallBlocks || fromMain == null)) {
                if (fromSmall.uses == 0) {
                    small.remove(fromSmall);
                    ghosts.add(fromSmall, 1);
                    return fromSmall;
                }
                arrivals = small.movePath(fromSmall, main, arrivals);
            } else if (fromMain == null) {
                throw Leaves.empty();
            } else if (fromMain.uses == 0) {
                main.remove(fromMain);
                return fromMain;
            } else {
                fromMain.uses--;
                main.move(fromMain, arrivals++);
            }
        }
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES + Ghosts.BYTES;
    }
}
