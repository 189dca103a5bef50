/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import io.tierlog.ops.dashboard.fold.FoldLimits;

/**
 * The stretch of time that a page shows.
 *
 * @param fromMs its first window, milliseconds since 1970
 * @param toMs the end of its last window, exclusive
 * @param stepMs length of a point of its charts
 */
record Span(long fromMs, long toMs, long stepMs) {
    private static final long MOST_POINTS = 180;
    private static final long MINUTE_MS = 60_000;

    /** The last minutes up to the window of {@code lastMs}, and no time before the window of {@code firstMs}. */
    static Span last(int minutes, long firstMs, long lastMs) {
        long window = FoldLimits.WINDOW_MS;
        long to = (lastMs / window + 1) * window;
        long wanted = Math.clamp(to - firstMs / window * window, window, minutes * MINUTE_MS);
        long step = (wanted / MOST_POINTS + window - 1) / window * window;
        return new Span(to - wanted, to, Math.max(step, window));
    }

    /** The point of a time. */
    int point(long atMs) {
        return (int) ((atMs - fromMs) / stepMs);
    }

    /** How many points there are. */
    int points() {
        return (int) ((toMs - fromMs + stepMs - 1) / stepMs);
    }

    long seconds() {
        return (toMs - fromMs) / 1_000;
    }
}
