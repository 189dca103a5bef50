/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

import java.util.Comparator;
import java.util.TreeSet;

/**
 * The blocks that a tier would hold at one rate of {@link Turns}, and how often they were used. A place is fixed at the use and a parent's is not
 * below its child's, but for changes of the learned gap in between: so the highest places are that tier, and no tree is needed. Confined to
 * one thread.
 */
final class Shadow {
    private final int capacity;
    private final int bit;
    private final TreeSet<TurnMemory> highest;
    private double hits;

    /**
     * @param capacity blocks of the tier
     * @param rate percent of the credit
     * @param number its bit in {@link TurnMemory#heldAt}, from 0
     */
    Shadow(int capacity, int rate, int number) {
        this.capacity = capacity;
        this.bit = 1 << number;
        this.highest = new TreeSet<>(Comparator.<TurnMemory>comparingLong(memory -> memory.place(rate))
                .thenComparing(Comparator.<TurnMemory>comparingInt(memory -> memory.index).reversed())
                .thenComparingLong(memory -> memory.id));
    }

    /** Before a use changes the place of {@code memory}: a hit where this tier would have held it. */
    void beforeUse(TurnMemory memory) {
        if ((memory.heldAt & bit) != 0) {
            hits++;
            highest.remove(memory);
        }
    }

    void afterUse(TurnMemory memory) {
        memory.heldAt |= bit;
        highest.add(memory);
    }

    /** After a request: what is too much leaves. */
    void shrink() {
        while (highest.size() > capacity) {
            highest.removeFirst().heldAt &= ~bit;
        }
    }

    /** The block is remembered no longer. */
    void forget(TurnMemory memory) {
        if ((memory.heldAt & bit) != 0) {
            highest.remove(memory);
        }
    }

    /** Hits of late. */
    double hits() {
        return hits;
    }

    /** Older hits count half. */
    void age() {
        hits /= 2;
    }
}
