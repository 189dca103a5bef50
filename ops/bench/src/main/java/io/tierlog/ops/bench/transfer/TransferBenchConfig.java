/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.BenchException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * What the transfer benchmark is run with; checked once, here. Immutable.
 *
 * @param tiers which are measured, one or more
 * @param device which device
 * @param shape what is moved
 * @param rounds how often all ways take turns; one more before the first is not measured
 * @param places where files are made
 * @param fio how fio reaches the disk
 */
public record TransferBenchConfig(Set<Tier> tiers, Device device, Shape shape, int rounds, Places places, FioEngine fio) {
    /** Blocks of Qwen3-4B: 36 layers, 8 heads of 128, bf16, 16 tokens. */
    public static final int QWEN_BLOCK_BYTES = 2_359_296;

    /** 256 blocks of Qwen3-4B (604 MB), 8 at a time, 5 rounds. */
    public static final TransferBenchConfig DEFAULTS = new TransferBenchConfig(
            Set.of(Tier.values()), Device.emulated, new Shape(QWEN_BLOCK_BYTES, 256, 8), 5, Places.TEMPORARY, FioEngine.psync);

    /** What {@code --only} takes; the names are what a user types. */
    public enum Tier {
        /** Host to device and back. */
        device,
        /** Host to disk and back. */
        disk,
        /** Host to a store in a directory and back. */
        store
    }

    /** What {@code --device} takes. */
    public enum Device {
        /** Real bytes in shared memory. */
        emulated,
        /** The first GPU of this machine. */
        cuda
    }

    /** What {@code --fio-engine} takes. */
    public enum FioEngine {
        /** As many threads as ours, each with one call at a time. */
        psync,
        /** One thread with as many requests under way. */
        libaio
    }

    /** Refuses what would measure nothing. */
    public TransferBenchConfig {
        tiers = Set.copyOf(tiers);
        if (tiers.isEmpty()) {
            throw BenchException.badInput("--only names no tier", "give device, disk, store, or several with commas");
        }
        within("--rounds", rounds, 1, 100);
    }

    /**
     * What is moved.
     *
     * @param blockBytes bytes of a block
     * @param blocks number of blocks, all moved in each round
     * @param depth transfers under way on disk and store
     */
    public record Shape(int blockBytes, int blocks, int depth) {
        private static final long MOST_BYTES = 64L << 30;

        /** Refuses what measures nothing, or more than a machine should be asked for. */
        public Shape {
            within("--block-bytes", blockBytes, 512, 64 << 20);
            within("--blocks", blocks, 1, 65_536);
            within("--depth", depth, 1, 64);
            within("--block-bytes times --blocks", (long) blockBytes * blocks, 1, MOST_BYTES);
        }

        /** Bytes of all blocks. */
        public long bytes() {
            return (long) blockBytes * blocks;
        }
    }

    /**
     * Where files are made, each time in a new directory there, which is removed.
     *
     * @param disk on the disk to be measured; empty for the system's temporary directory
     * @param store on the file system of the store; empty likewise
     */
    public record Places(Optional<Path> disk, Optional<Path> store) {
        /** The system's temporary directory for both. */
        public static final Places TEMPORARY = new Places(Optional.empty(), Optional.empty());
    }

    private static void within(String flag, long value, long least, long most) {
        if (value < least || value > most) {
            throw BenchException.badInput(flag + " " + value + " is not between " + least + " and " + most, "choose another value");
        }
    }
}
