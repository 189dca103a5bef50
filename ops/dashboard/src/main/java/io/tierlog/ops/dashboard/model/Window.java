/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

/**
 * What happened in a stretch of time.
 *
 * @param atMs its beginning, milliseconds since 1970; 0 for all of the log
 * @param counters counts by the names of {@link Names}
 * @param ready from submit to ready, of attempts that had to wait
 */
public record Window(long atMs, Counters counters, Durations ready) {
    /** An empty one. */
    public Window(long atMs) {
        this(atMs, new Counters(), new Durations());
    }

    /** Adds all of another. */
    public void add(Window other) {
        counters.add(other.counters);
        ready.add(other.ready);
    }
}
