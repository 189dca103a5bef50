/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import org.jspecify.annotations.Nullable;

/** Tables that the cleanup of a node's ended incarnations walks, in this order. The numbers stand in facts and never change. */
public enum SweepPhase {
    REQUESTS, OPERATIONS, LEASES, PLACEMENTS;

    /** Number that stands for the end: no table is left. */
    public static final int END = 4;

    /** The phase of that number; null for the end. */
    public static @Nullable SweepPhase of(int number) {
        return number == END ? null : values()[number];
    }

    public int number() {
        return ordinal();
    }

    /** The next phase; null at the end. */
    public @Nullable SweepPhase next() {
        return of(ordinal() + 1);
    }
}
