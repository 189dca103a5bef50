/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.tierlog.ops.bench.report.BenchException;
import java.util.List;

/**
 * Configuration of the directory benchmark; checked once, here. Immutable.
 *
 * @param blocks numbers of blocks that are held, one round each
 * @param batches keys of a call
 * @param present shares of the keys that are held, in percent
 * @param clients callers at once
 * @param cellMs measured time of each path with each batch and share, in milliseconds, after a quarter of it as warm-up
 * @param partitions of the log
 * @param redis whether to run Redis beside it, where it is installed
 */
public record DirectoryBenchConfig(
        List<Integer> blocks, List<Integer> batches, List<Integer> present, int clients, int cellMs, int partitions, boolean redis) {
    /** 1 and 10 million blocks, batches of 1, 64 and 1,024, 90 and 10 percent present, 4 callers, 2 s a cell, 4 partitions. */
    public static final DirectoryBenchConfig DEFAULTS = new DirectoryBenchConfig(
            List.of(1_000_000, 10_000_000), List.of(1, 64, 1_024), List.of(90, 10), 4, 2_000, 4, true);

    /** 20,000 blocks, batches of 1 and 64, 90 percent present, 2 callers, 100 ms a cell: a check that it works. */
    public static final DirectoryBenchConfig QUICK =
            new DirectoryBenchConfig(List.of(20_480), List.of(1, 64), List.of(90), 2, 100, 2, true);

    private static final int MOST_BLOCKS = 50_000_000;

    /** Refuses values that would measure nothing. */
    public DirectoryBenchConfig {
        blocks = List.copyOf(blocks);
        batches = List.copyOf(batches);
        present = List.copyOf(present);
        blocks.forEach(value -> BenchException.requireWithin("--blocks", value, Keys.CHAIN, MOST_BLOCKS));
        batches.forEach(value -> BenchException.requireWithin("--batches", value, 1, Keys.CHAIN));
        present.forEach(value -> BenchException.requireWithin("--present", value, 0, 100));
        BenchException.requireWithin("--clients", clients, 1, 256);
        BenchException.requireWithin("--cell-ms", cellMs, 10, 600_000);
        BenchException.requireWithin("--partitions", partitions, 1, 64);
        if (blocks.isEmpty() || batches.isEmpty() || present.isEmpty()) {
            throw BenchException.badInput("nothing to measure", "give one or more --blocks, --batches and --present");
        }
    }
}
