/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.Nullable;

/**
 * Admission by frequency, as in W-TinyLFU (ToS 2017), over leaves: new blocks come to a window of a hundredth of the tier. The coldest leaf of the
 * window takes the place of the coldest leaf of the main part, and takes its prefix along, only if a sketch counted more uses of it. Confined to
 * one thread.
 */
final class TinyLfu implements RetentionPolicy {
    private static final int WINDOW_SHARE = 100;

    private final Leaves window = new Leaves(1);
    private final Leaves main = new Leaves(2);
    private final Sketch sketch;
    private final int windowBlocks;
    private final int mainBlocks;
    private long uses;

    TinyLfu(int capacity) {
        this.windowBlocks = Math.max(1, capacity / WINDOW_SHARE);
        this.mainBlocks = capacity - windowBlocks;
        this.sketch = new Sketch(capacity);
    }

    @Override
    public void used(Kept block, Use use) {
        sketch.add(block.id());
        long place = uses++;
        if (block.queue == 0) {
            window.add(block, place);
        } else {
            queueOf(block).move(block, place);
        }
    }

    private Leaves queueOf(Kept block) {
        return block.queue == 1 ? window : main;
    }

    @Override
    public void leaf(Kept block) {
        queueOf(block).leaf(block);
    }

    @Override
    public void extended(Kept block) {
        queueOf(block).extended(block);
    }

    @Override
    public Kept nextToLeave() {
        while (true) {
            @Nullable Kept candidate = window.first();
            @Nullable Kept cold = main.first();
            if (candidate == null || (window.size() <= windowBlocks && cold != null)) {
                return leave(main, cold);
            }
            if (main.size() >= mainBlocks && (cold == null || sketch.count(candidate.id()) <= sketch.count(cold.id()))) {
                return leave(window, candidate);
            }
            boolean full = main.size() >= mainBlocks;
            uses = window.movePath(candidate, main, uses);
            if (full) {
                return leave(main, cold);
            }
        }
    }

    private static Kept leave(Leaves queue, @Nullable Kept block) {
        if (block == null) {
            throw Leaves.empty();
        }
        queue.remove(block);
        return block;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES + Sketch.BYTES_PER_BLOCK;
    }
}
