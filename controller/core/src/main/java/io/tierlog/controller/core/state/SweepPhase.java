/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import org.jspecify.annotations.Nullable;

/** Tables that the cleanup of a node's ended incarnations walks, in this order. The numbers stand in facts and never change. */
public enum SweepPhase {
    REQUESTS(0), OPERATIONS(1), LEASES(2), PLACEMENTS(3);

    /** Number that stands for the end: no table is left. */
    public static final int END = 4;

    private final int number;

    SweepPhase(int number) {
        this.number = number;
    }

    /** The phase of that number; null for the end. */
    public static @Nullable SweepPhase of(int number) {
        for (SweepPhase phase : values()) {
            if (phase.number == number) {
                return phase;
            }
        }
        return null;
    }

    public int number() {
        return number;
    }

    /** The next phase; null at the end. */
    public @Nullable SweepPhase next() {
        return of(number + 1);
    }
}
