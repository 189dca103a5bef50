/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.ops.bench.transfer.TransferBench;
import io.tierlog.ops.bench.transfer.TransferBenchConfig;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tierlog bench transfer}: prints the tables. */
@Command(
        name = "transfer",
        description = "Measure how fast blocks move between the tiers, beside plain copies, fio and redis-benchmark.",
        footer = {
            "",
            "All variants take turns in the same run; the ratios count: the machine's",
            "speed and noise hit all of them alike. Everything Tierlog moves is",
            "verified by CRC32C, which plain copies and fio do not do; a further",
            "line shows what that costs. Files are created in new directories that are",
            "removed at the end. Redis and S3Mock are started on free ports, and ended;",
            "S3Mock has no benchmark of its own, so plain HTTP requests for the same",
            "bytes stand beside it. What is not installed is reported as NOT RUN."
        })
public final class BenchTransferCommand implements Callable<Integer> {
    private static final TransferBenchConfig DEFAULTS = TransferBenchConfig.DEFAULTS;

    @Option(
            names = "--only",
            paramLabel = "TIER",
            split = ",",
            description = "${COMPLETION-CANDIDATES}, several with commas (default: all).")
    Set<TransferBenchConfig.Tier> tiers = EnumSet.allOf(TransferBenchConfig.Tier.class);

    @Option(names = "--device", paramLabel = "DEVICE", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    TransferBenchConfig.Device device = DEFAULTS.device();

    @Option(names = "--block-bytes", paramLabel = "N", description = "Bytes of a block (default: ${DEFAULT-VALUE}, one of Qwen3-4B).")
    int blockBytes = DEFAULTS.shape().blockBytes();

    @Option(names = "--blocks", paramLabel = "N", description = "Blocks that each variant moves in each round (default: ${DEFAULT-VALUE}).")
    int blocks = DEFAULTS.shape().blocks();

    @Option(names = "--depth", paramLabel = "N", description = "Concurrent transfers on the disk and with each store (default: ${DEFAULT-VALUE}).")
    int depth = DEFAULTS.shape().depth();

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds in which all variants take turns (default: ${DEFAULT-VALUE}).")
    int rounds = DEFAULTS.rounds();

    @Option(names = "--disk", paramLabel = "DIR", description = "On the disk to measure (default: the temporary directory).")
    @Nullable Path disk;

    @Option(names = "--store", paramLabel = "DIR", description = "On the file system of the store (default: the temporary directory).")
    @Nullable Path store;

    @Option(names = "--s3mock", paramLabel = "JAR", description = "S3Mock's -exec.jar, for s3; without it s3 is not run.")
    @Nullable Path s3mock;

    @Option(names = "--fio-engine", paramLabel = "ENGINE", description = "${COMPLETION-CANDIDATES}, for the disk (default: ${DEFAULT-VALUE}).")
    TransferBenchConfig.FioEngine fioEngine = DEFAULTS.fio();

    @Mixin
    BenchOutput output;

    @Override
    public Integer call() throws JsonProcessingException {
        return output.print(TransferBench.run(config(), output::step));
    }

    private TransferBenchConfig config() {
        return new TransferBenchConfig(
                tiers,
                device,
                new TransferBenchConfig.Shape(blockBytes, blocks, depth),
                rounds,
                new TransferBenchConfig.Places(Optional.ofNullable(disk), Optional.ofNullable(store), Optional.ofNullable(s3mock)),
                fioEngine);
    }
}
