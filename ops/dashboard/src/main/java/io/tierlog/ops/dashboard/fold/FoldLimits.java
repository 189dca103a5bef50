/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

/**
 * Bounds of one partition's rows. What is oldest leaves first, except where it says otherwise.
 *
 * @param windows windows of {@link #WINDOW_MS} that are kept
 * @param nodes nodes; one that is not up gives way to a further one, the oldest report first; while all are up, a further one is not shown, and what
 *     happens on it is counted
 * @param operations operations in flight, and as many that ended
 * @param requests recent attempts, and as many prefixes and senders
 * @param removals recent removals of each node
 * @param chunks stretches of {@link #CHUNK_MS} of each node's history
 * @param migrations migrations of operators
 */
public record FoldLimits(int windows, int nodes, int operations, int requests, int removals, int chunks, int migrations) {
    /** Length of a window in milliseconds. */
    public static final long WINDOW_MS = 10_000;

    /** Length of a stretch of history in milliseconds. */
    public static final long CHUNK_MS = 600_000;

    /** A day of windows, six hours of history. */
    public static final FoldLimits DEFAULTS = new FoldLimits(8_640, 2_000, 2_000, 1_000, 30, 36, 200);

    /** Refuses bounds that hold nothing. */
    public FoldLimits {
        if (windows < 1 || nodes < 1 || operations < 1 || requests < 1 || removals < 1 || chunks < 1 || migrations < 1) {
            throw new IllegalArgumentException("Invalid fold limits: each must be >= 1");
        }
    }
}
