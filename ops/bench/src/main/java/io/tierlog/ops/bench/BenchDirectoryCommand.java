/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import io.tierlog.ops.bench.directory.DirectoryBench;
import io.tierlog.ops.bench.directory.DirectoryBenchConfig;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tierlog bench directory}: prints the table; exit code 1 when an answer was wrong. */
@Command(
        name = "directory",
        description = "Measure how fast the directory answers, beside Redis.",
        footer = {
            "",
            "Broker, directory and Redis (redis-server, where it is installed) run as",
            "processes of their own, hold the same blocks and answer the same",
            "batches in turn. Every answer is checked; exit code 1 when one is wrong."
        })
public final class BenchDirectoryCommand implements Callable<Integer> {
    private static final DirectoryBenchConfig DEFAULTS = DirectoryBenchConfig.DEFAULTS;

    @Option(names = "--quick", description = "A few seconds with few blocks: a check that it works.")
    boolean quick;

    @Option(names = "--blocks", paramLabel = "N", split = ",", description = "Numbers of blocks (default: 1000000,10000000).")
    @Nullable List<Integer> blocks;

    @Option(names = "--batches", paramLabel = "N", split = ",", description = "Keys of a call (default: 1,64,1024).")
    @Nullable List<Integer> batches;

    @Option(names = "--present", paramLabel = "PERCENT", split = ",", description = "Shares of keys that are held (default: 90,10).")
    @Nullable List<Integer> present;

    @Option(names = "--clients", paramLabel = "N", description = "Concurrent callers (default: 4).")
    @Nullable Integer clients;

    @Option(names = "--cell-ms", paramLabel = "N", description = "Measured milliseconds of each path, batch and share (default: 2000).")
    @Nullable Integer cellMs;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions of the log (default: 4).")
    @Nullable Integer partitions;

    @Option(names = "--no-redis", description = "Leave Redis out.")
    boolean noRedis;

    @Mixin
    BenchOutput output;

    @Override
    public Integer call() throws Exception {
        return output.print(DirectoryBench.run(config(), output::step));
    }

    private DirectoryBenchConfig config() {
        DirectoryBenchConfig base = quick ? DirectoryBenchConfig.QUICK : DEFAULTS;
        return new DirectoryBenchConfig(
                blocks == null ? base.blocks() : blocks,
                batches == null ? base.batches() : batches,
                present == null ? base.present() : present,
                clients == null ? base.clients() : clients,
                cellMs == null ? base.cellMs() : cellMs,
                partitions == null ? base.partitions() : partitions,
                !noRedis);
    }
}
