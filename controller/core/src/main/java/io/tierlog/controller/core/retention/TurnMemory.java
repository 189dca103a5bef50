/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/** What {@link Turns} remembers of a block, while the tier holds it and for some time after. Confined to one thread. */
final class TurnMemory {
    /** With its header. */
    static final int BYTES = 56;

    final long id;
    final int index;

    /** When it was last used. */
    long touchMs;

    /** By how much its uses may delay its turn to leave. */
    long creditMs;

    /** Uses so far, to a bound. */
    int uses;

    /** Whether it was the partial block of its last prompt. */
    boolean partial;

    /** Whether it leaves before all others. */
    boolean first;

    /** The rates, as bits, whose tier would hold it. */
    int heldAt;

    TurnMemory(long id, int index) {
        this.id = id;
        this.index = index;
    }

    /** Its place in the order at {@code rate} percent of its credit; LRU at 0. It changes only with a use. */
    long place(int rate) {
        if (rate == 0) {
            return touchMs;
        }
        return first ? Long.MIN_VALUE : touchMs + creditMs * rate / 100;
    }
}
