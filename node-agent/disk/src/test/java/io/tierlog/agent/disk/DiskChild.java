/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.DiskLimits.Compaction;
import io.tierlog.agent.disk.DiskLimits.Space;
import io.tierlog.agent.disk.DiskLimits.Work;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A process of its own that uses a tier in a directory; what it prints is what its parent goes by. */
final class DiskChild {
    /** Blocks of a quarter of a MiB: long enough on their way for a kill to hit one. */
    static final int BLOCK = 256 << 10;

    private static final int THREADS = 3;

    private DiskChild() {}

    /** Arguments: "write" DIRECTORY FIRST_SEED, or "fill" DIRECTORY RESERVE. */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[1]);
        if (args[0].equals("write")) {
            writeUntilKilled(directory, Integer.parseInt(args[2]));
        } else {
            fill(directory, Boolean.parseBoolean(args[2]));
        }
    }

    /** Segments of eight blocks, more of them than any disk of these tests has. */
    static DiskLimits limits() {
        long record = RecordHeader.BYTES + BLOCK;
        return new DiskLimits(
                new Space(1L << 30, 0, 8 * record, Blocks.ALIGN),
                new DiskLimits.Blocks(100_000, BLOCK, 200, 10),
                new Work(2, 2, 100, 100L * BLOCK, 4, 3),
                new Compaction(50, 2 * record),
                ForcePolicy.NEVER);
    }

    static BlockWrite block(int seed) {
        return Blocks.block(seed, List.of(Blocks.content(seed, BLOCK)));
    }

    /** True when the block is there with exactly its bytes, false when it is not there; anything else is thrown. */
    static boolean isServed(BlockFile file, int seed) {
        var page = Blocks.content(0, BLOCK);
        DiskResult result = file.read(Blocks.MODEL, List.of(new BlockRead(Blocks.key(seed), 0, List.of(page)))).getFirst();
        if (result.reason() == OperationReason.NOT_FOUND) {
            return false;
        }
        if (!result.isDone() || !Arrays.equals(Blocks.bytes(page), Blocks.bytes(Blocks.content(seed, BLOCK)))) {
            throw new IllegalStateException("block " + seed + " is wrong: " + result);
        }
        return true;
    }

    private static void writeUntilKilled(Path directory, int first) throws IOException {
        BlockFile file = BlockFile.open(FileSegmentIo.open(directory, Blocks.ALIGN), limits(), sofar -> {});
        AtomicInteger next = new AtomicInteger(first);
        for (int i = 0; i < THREADS; i++) {
            Thread.ofPlatform().start(() -> {
                while (true) {
                    int seed = next.getAndIncrement();
                    if (file.write(Blocks.MODEL, List.of(block(seed))).getFirst().isDone()) {
                        System.out.println(seed);
                    }
                }
            });
        }
    }

    /** Writes until the disk is full, twice more, checks everything, drops, and writes again. */
    private static void fill(Path directory, boolean reserve) throws IOException {
        BlockFile file = BlockFile.open(FileSegmentIo.open(directory, Blocks.ALIGN, reserve), limits(), sofar -> {});
        int written = 0;
        DiskResult result = file.write(Blocks.MODEL, List.of(block(written))).getFirst();
        while (result.status() == BlockStatus.ARRIVED) {
            written++;
            result = file.write(Blocks.MODEL, List.of(block(written))).getFirst();
        }
        DiskResult again = file.write(Blocks.MODEL, List.of(block(written))).getFirst();
        int served = 0;
        for (int seed = 0; seed < written; seed++) {
            served += isServed(file, seed) ? 1 : 0;
        }
        file.drop(Blocks.MODEL, dropsOf(8));
        int after = 0;
        for (int seed = 0; seed < 8; seed++) {
            after += file.write(Blocks.MODEL, List.of(block(seed))).getFirst().isDone() && isServed(file, seed) ? 1 : 0;
        }
        file.close();
        BlockFile next = BlockFile.open(FileSegmentIo.open(directory, Blocks.ALIGN, reserve), limits(), sofar -> {});
        int restarted = 0;
        for (int seed = 0; seed < written; seed++) {
            restarted += isServed(next, seed) ? 1 : 0;
        }
        next.close();
        System.out.println("filled written=" + written + " served=" + served + " refused=" + result.reason() + "," + again.reason()
                + " afterDrop=" + after + " afterRestart=" + restarted + " | " + result.detail());
    }

    private static List<BlockDrop> dropsOf(int count) {
        List<BlockDrop> drops = new ArrayList<>();
        for (int seed = 0; seed < count; seed++) {
            drops.add(new BlockDrop(Blocks.key(seed), 0));
        }
        return drops;
    }

    /** Starts a child; {@code before} is what the command line begins with. */
    static Process start(List<String> before, String... args) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(commandLine(args));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** The command line of a child. */
    static List<String> commandLine(String... args) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                DiskChild.class.getName()));
        command.addAll(Arrays.asList(args));
        return command;
    }

    /** What a child prints, line by line. */
    static BufferedReader output(Process child) {
        return child.inputReader();
    }
}
