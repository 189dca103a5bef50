/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tierlog's own: coldest leaf first, but a block's uses delay its turn to leave, at a rate that competes with LRU.
 *
 * <p>A block of a conversation comes back when a person has read and typed, which takes longer than LRU holds a block in a small tier; and the more
 * turns a conversation had, the more likely is another. So the {@code n}-th use earns {@code min(n - 1, 6)} gaps, where the gap is the mean
 * time between two uses of a block, learned from the stream; the order is that of the last use plus a rate of what was earned. Blocks that have
 * left are remembered for 8 capacities, so a conversation keeps what it earned in a tier that could not hold it. The partial block at the
 * end of a prompt is another one in the next turn: it leaves first where such blocks come back a quarter as often as others, or less.
 *
 * <p>Where what was used often is dead, as an agent's run that has ended, this is worse than LRU. So the tiers at the rates of 0 (LRU), 25, 50 and
 * 100 % are kept as lists of blocks side by side ({@link Shadow}), and the rate with most hits of late is in force. A higher rate
 * must be ahead by a little to replace a lower one; in doubt, LRU.
 *
 * <p>Trade-off: four entries a block in ordered sets, eight ghosts a block, and all leaves are ordered again when the rate changes, at most once in
 * 1,024 uses. Confined to one thread.
 */
final class Turns implements RetentionPolicy {
    private static final int[] RATES = {0, 25, 50, 100};
    private static final int MOST_GAPS = 6;
    private static final int GHOSTS_PER_BLOCK = 8;
    /** Gaps over which the mean is taken. */
    private static final int GAPS = 4_096;
    private static final int RARER = 4;
    private static final int USES_PER_CHECK = 1_024;
    /** Uses after which older ones count half: so many for each block, and no fewer. */
    private static final int USES_PER_BLOCK = 4;
    private static final int LEAST_USES = 8_192;
    /** Share of the uses by which a higher rate must be ahead. A lower one replaces it as soon as it is ahead at all. */
    private static final double AHEAD = 0.004;

    private final Leaves leaves = new Leaves(1);
    private final Map<Long, TurnMemory> ghosts = new LinkedHashMap<>();
    private final List<Shadow> shadows = new ArrayList<>();
    private final long mostGhosts;
    private final double window;
    private int rate;
    private double recentUses;
    private int unchecked;
    private @Nullable Use last;
    private double gapMs;
    private long gaps;
    private long partials;
    private long partialsBack;
    private long wholes;
    private long wholesBack;

    Turns(int capacity) {
        this.mostGhosts = (long) GHOSTS_PER_BLOCK * capacity;
        this.window = Math.max(LEAST_USES, (double) USES_PER_BLOCK * capacity);
        for (int i = 0; i < RATES.length; i++) {
            shadows.add(new Shadow(capacity, RATES[i], i));
        }
    }

    @Override
    public void used(Kept block, Use use) {
        if (last != null && !last.equals(use)) {
            shadows.forEach(Shadow::shrink);
        }
        last = use;
        TurnMemory memory = memory(block);
        shadows.forEach(shadow -> shadow.beforeUse(memory));
        learn(memory, use);
        shadows.forEach(shadow -> shadow.afterUse(memory));
        if (block.queue == 0) {
            leaves.add(block, memory.place(RATES[rate]));
        } else {
            leaves.move(block, memory.place(RATES[rate]));
        }
        recentUses++;
        if (++unchecked == USES_PER_CHECK) {
            unchecked = 0;
            choose();
        }
    }

    private TurnMemory memory(Kept block) {
        if (block.memory != null) {
            return block.memory;
        }
        @Nullable TurnMemory ghost = ghosts.remove(block.id());
        TurnMemory memory = ghost == null ? new TurnMemory(block.id(), block.index()) : ghost;
        block.memory = memory;
        return memory;
    }

    private void learn(TurnMemory memory, Use use) {
        boolean partial = memory.id == use.partial();
        if (memory.uses > 0) {
            gaps = Math.min(GAPS, gaps + 1);
            gapMs += (use.atMs() - memory.touchMs - gapMs) / gaps;
            if (memory.partial) {
                partialsBack++;
            } else {
                wholesBack++;
            }
        }
        if (partial) {
            partials++;
        } else {
            wholes++;
        }
        memory.uses = Math.min(memory.uses + 1, MOST_GAPS + 1);
        memory.touchMs = use.atMs();
        memory.creditMs = (long) ((memory.uses - 1) * gapMs);
        memory.partial = partial;
        memory.first = partial && (double) partialsBack / partials * RARER < (double) wholesBack / Math.max(1, wholes);
    }

    /** Puts the best rate in force. */
    private void choose() {
        int best = rate;
        for (int i = 0; i < RATES.length; i++) {
            if (shadows.get(i).hits() > shadows.get(best).hits()) {
                best = i;
            }
        }
        double ahead = shadows.get(best).hits() - shadows.get(rate).hits();
        if (best != rate && ahead > Math.min(recentUses, window) * (best > rate ? AHEAD : 0)) {
            rate = best;
            leaves.all().forEach(this::leaf);
        }
        if (recentUses > window) {
            recentUses /= 2;
            shadows.forEach(Shadow::age);
        }
    }

    /** Percent of what was earned that is in force. */
    int rate() {
        return RATES[rate];
    }

    @Override
    public void leaf(Kept block) {
        // Its place may be one of another rate.
        leaves.move(block, memory(block).place(RATES[rate]));
    }

    @Override
    public void extended(Kept block) {
        leaves.extended(block);
    }

    @Override
    public Kept nextToLeave() {
        @Nullable Kept first = leaves.first();
        if (first == null) {
            throw Leaves.empty();
        }
        leaves.remove(first);
        ghosts.put(first.id(), memory(first));
        if (ghosts.size() > mostGhosts) {
            TurnMemory oldest = ghosts.values().iterator().next();
            ghosts.remove(oldest.id);
            shadows.forEach(shadow -> shadow.forget(oldest));
        }
        return first;
    }

    @Override
    public double bytesPerBlock() {
        return Kept.POLICY_BYTES + Leaves.BYTES + TurnMemory.BYTES + RATES.length * Leaves.BYTES + GHOSTS_PER_BLOCK * (double) Ghosts.BYTES
                + GHOSTS_PER_BLOCK * (double) TurnMemory.BYTES;
    }
}
