/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/**
 * The bounds of decisions. They must be identical on every instance that works on one log, for as long as the log exists.
 *
 * @param partitions partitions of the log, fixed when it was made, 1 or more
 * @param blocksPerDecision most blocks that the controller moves, drops or cleans up by its own decision for one input, 1 or more
 * @param blocksPerInput most blocks that one event may name; an event with more is refused
 * @param dropsInFlight most DROP operations of a tier in flight, 1 or more
 * @param timersPerTick most timers that one tick acts on, and most marks that it ends; the rest is served by the next, 1 or more
 * @param textLength longest id or namespace in characters, 16 or more
 * @param enginesPerNode most engine instances of a node, 1 or more
 */
public record Limits(
        int partitions,
        int blocksPerDecision,
        int blocksPerInput,
        int dropsInFlight,
        int timersPerTick,
        int textLength,
        int enginesPerNode) {
    /** Bounds for a log of one partition. */
    public static final Limits DEFAULTS = of(1);

    public Limits {
        atLeast(1, partitions, "partitions");
        atLeast(1, blocksPerDecision, "blocksPerDecision");
        atLeast(blocksPerDecision, blocksPerInput, "blocksPerInput");
        atLeast(1, dropsInFlight, "dropsInFlight");
        atLeast(1, timersPerTick, "timersPerTick");
        atLeast(16, textLength, "textLength");
        atLeast(1, enginesPerNode, "enginesPerNode");
    }

    /** The usual bounds for a log of {@code partitions} partitions. */
    public static Limits of(int partitions) {
        return new Limits(partitions, 1_000, 65_536, 8, 10_000, 1_024, 64);
    }

    /** These bounds with another number of blocks for one decision. */
    public Limits withBlocksPerDecision(int blocks) {
        return new Limits(partitions, blocks, Math.max(blocks, blocksPerInput), dropsInFlight, timersPerTick, textLength, enginesPerNode);
    }

    private static void atLeast(int least, int value, String name) {
        if (value < least) {
            throw new IllegalArgumentException(name + " is " + value + " and must be " + least + " or more");
        }
    }
}
