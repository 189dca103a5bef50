/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.time.Duration;

/**
 * When one call of a store must have ended, whatever it is made of: a wait for a connection, several commands, retries. Immutable.
 *
 * @param atNs by the clock of {@link System#nanoTime}
 */
record Deadline(long atNs) {
    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    boolean isOver() {
        return atNs - System.nanoTime() <= 0;
    }

    /** What is left, 1 ms or more, so that it can be a time-out: 0 would mean none. */
    int leftMs() {
        return Math.clamp((atNs - System.nanoTime()) / 1_000_000, 1, Integer.MAX_VALUE);
    }
}
