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
 * @param placements most placements of a partition, 1 or more: what would add more is refused as PARTITION_FULL, or not begun
 */
public record Limits(
        int partitions,
        int blocksPerDecision,
        int blocksPerInput,
        int dropsInFlight,
        int timersPerTick,
        int textLength,
        int enginesPerNode,
        long placements) {
    /**
     * Placements of a partition by default. They are in memory, some 60 bytes each with their keys: a gigabyte of heap. What only ends what goes on
     * is never refused; it may add some more, for which the tables have space.
     */
    public static final long PLACEMENTS = 16_000_000;

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
        if (placements < 1) {
            throw new IllegalArgumentException("placements is " + placements + " and must be 1 or more");
        }
    }

    /** Bounds with the usual number of placements. */
    public Limits(int partitions, int blocksPerDecision, int blocksPerInput, int dropsInFlight, int timersPerTick, int textLength,
            int enginesPerNode) {
        this(partitions, blocksPerDecision, blocksPerInput, dropsInFlight, timersPerTick, textLength, enginesPerNode, PLACEMENTS);
    }

    /** The usual bounds for a log of {@code partitions} partitions. */
    public static Limits of(int partitions) {
        return new Limits(partitions, 1_000, 65_536, 8, 10_000, 1_024, 64);
    }

    /** These bounds with another number of blocks for one decision. */
    public Limits withBlocksPerDecision(int blocks) {
        return new Limits(partitions, blocks, Math.max(blocks, blocksPerInput), dropsInFlight, timersPerTick, textLength, enginesPerNode,
                placements);
    }

    /** These bounds with another number of placements. */
    public Limits withPlacements(long most) {
        return new Limits(partitions, blocksPerDecision, blocksPerInput, dropsInFlight, timersPerTick, textLength, enginesPerNode, most);
    }

    private static void atLeast(int least, int value, String name) {
        if (value < least) {
            throw new IllegalArgumentException(name + " is " + value + " and must be " + least + " or more");
        }
    }
}
