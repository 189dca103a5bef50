/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.BenchException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Configuration of the transfer benchmark; checked once, here. Immutable.
 *
 * @param tiers tiers to measure, one or more
 * @param device which device
 * @param shape what is moved
 * @param rounds measured rounds, in each of which all variants take turns
 * @param places where files are created
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
        store,
        /** Host to a store in S3 and back. */
        s3,
        /** Host to a store in Redis and back. */
        redis
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
        /** As many threads as the agent, each with one call at a time. */
        psync,
        /** One thread with as many requests in flight. */
        libaio
    }

    /** Refuses values that would measure nothing. */
    public TransferBenchConfig {
        tiers = Set.copyOf(tiers);
        if (tiers.isEmpty()) {
            throw BenchException.badInput("--only is empty", "name device, disk, store, s3, redis, or several with commas");
        }
        BenchException.requireWithin("--rounds", rounds, 1, 100);
    }

    /**
     * What is moved.
     *
     * @param blockBytes bytes of a block
     * @param blocks number of blocks, all moved in each round
     * @param depth concurrent transfers on the disk and with each store
     */
    public record Shape(int blockBytes, int blocks, int depth) {
        private static final long MOST_BYTES = 64L << 30;

        /** Refuses values that measure nothing, or need too much memory. */
        public Shape {
            BenchException.requireWithin("--block-bytes", blockBytes, 512, 64 << 20);
            BenchException.requireWithin("--blocks", blocks, 1, 65_536);
            BenchException.requireWithin("--depth", depth, 1, 64);
            BenchException.requireWithin("--block-bytes times --blocks", (long) blockBytes * blocks, 1, MOST_BYTES);
        }

        /** Bytes of all blocks. */
        public long bytes() {
            return (long) blockBytes * blocks;
        }
    }

    /**
     * Where files are created, in a new directory that is removed at the end, and where programs are.
     *
     * @param disk on the disk to be measured; empty for the system's temporary directory
     * @param store on the file system of the store, and of the objects of a server of S3; empty likewise
     * @param s3mock the program of S3Mock; empty when there is none
     */
    public record Places(Optional<Path> disk, Optional<Path> store, Optional<Path> s3mock) {
        /** The system's temporary directory for both, and no S3Mock. */
        public static final Places TEMPORARY = new Places(Optional.empty(), Optional.empty(), Optional.empty());
    }
}
