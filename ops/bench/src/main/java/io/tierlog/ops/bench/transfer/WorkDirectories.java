/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Cleanup;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Device;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The directories of a run: created when there is enough space, removed at its end, also after a signal, with the programs ended before. For one
 * thread, and that of the signal.
 */
final class WorkDirectories implements AutoCloseable {
    private static final Path MEMORY = Path.of("/dev/shm");
    /** The agent's memory of a device, and the baseline's. */
    private static final int DEVICE_COPIES = 2;
    /** Those, and the host pages. */
    private static final int MEMORY_COPIES = DEVICE_COPIES + 1;

    /** What Redis holds, and the host pages. */
    private static final int REDIS_COPIES = 2;

    /** Bytes that stay free on a disk. */
    private static final long SPARE_BYTES = 256L << 20;

    private final TemporaryDirectory memory;
    private final TemporaryDirectory disk;
    private final TemporaryDirectory store;
    private final List<Runnable> programs = new CopyOnWriteArrayList<>();
    private final Cleanup cleanup;

    /** @throws BenchException when there is not enough space or memory */
    WorkDirectories(TransferBenchConfig config) throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        Path inMemory = Files.isWritable(MEMORY) ? MEMORY : temporary;
        Path onDisk = directory("--disk", config.places().disk(), temporary);
        Path inStore = directory("--store", config.places().store(), temporary);
        Shape shape = config.shape();
        memoryFor(config);
        if (config.tiers().contains(Tier.device) && config.device() == Device.emulated) {
            requireSpace(inMemory, DEVICE_COPIES * shape.bytes());
        }
        if (config.tiers().contains(Tier.disk)) {
            requireSpace(onDisk, DiskBench.neededBytes(shape) + SPARE_BYTES);
        }
        if (config.tiers().contains(Tier.store)) {
            requireSpace(inStore, StoreBench.neededBytes(shape) + SPARE_BYTES);
        }
        if (config.tiers().contains(Tier.s3) && config.places().s3mock().isPresent()) {
            requireSpace(inStore, S3Bench.neededBytes(shape) + SPARE_BYTES);
        }
        memory = TemporaryDirectory.create(inMemory);
        disk = TemporaryDirectory.create(onDisk);
        store = TemporaryDirectory.create(inStore);
        cleanup = Cleanup.of(this::abandon);
    }

    private static Path directory(String flag, Optional<Path> named, Path otherwise) {
        named.filter(path -> !Files.isDirectory(path) || !Files.isWritable(path)).ifPresent(path -> {
            throw BenchException.badInput(flag + " " + path + " is not a writable directory", "name an existing one");
        });
        return named.orElse(otherwise);
    }

    private static void memoryFor(TransferBenchConfig config) {
        boolean emulated = config.tiers().contains(Tier.device) && config.device() == Device.emulated;
        // One after the other, so the larger counts.
        int copies = emulated ? MEMORY_COPIES : config.tiers().contains(Tier.redis) ? REDIS_COPIES : 1;
        long needed = config.shape().bytes() * copies;
        boolean known = java.lang.management.ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean;
        long machine = known ? machineBytes() : Long.MAX_VALUE;
        if (needed > machine / 2) {
            throw BenchException.badInput(
                    "--blocks " + config.shape().blocks() + " need " + needed + " bytes of memory, more than half of the " + machine
                            + " of this machine",
                    "use fewer --blocks");
        }
    }

    private static long machineBytes() {
        return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }

    private static void requireSpace(Path directory, long bytes) throws IOException {
        long free = Files.getFileStore(directory).getUsableSpace();
        if (free < bytes) {
            throw BenchException.badInput(
                    directory + " has " + free + " bytes free, the benchmark needs " + bytes, "use fewer --blocks, or a directory with more space");
        }
    }

    /** For the memory of emulated devices. */
    TemporaryDirectory memory() {
        return memory;
    }

    /** On the disk to be measured. */
    TemporaryDirectory disk() {
        return disk;
    }

    /** On the file system of the store. */
    TemporaryDirectory store() {
        return store;
    }

    /** A program that is ended with this, if it still runs. */
    void endWith(Runnable program) {
        programs.add(program);
    }

    /** Removes the memory of devices that are closed. */
    void clearMemory() throws IOException {
        memory.close();
        Files.createDirectory(memory.path());
    }

    @Override
    public void close() {
        cleanup.close();
    }

    private void abandon() {
        programs.forEach(Runnable::run);
        for (TemporaryDirectory directory : List.of(memory, disk, store)) {
            directory.closeUnderWriters();
        }
    }
}
