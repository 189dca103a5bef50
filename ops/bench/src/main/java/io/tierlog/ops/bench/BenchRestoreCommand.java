/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import io.tierlog.ops.bench.control.RestoreBench;
import io.tierlog.ops.bench.control.RestoreBenchConfig;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tierlog bench restore}: prints the table; exit code 1 when a restored changelog has not all blocks, or a snapshot differs from the log. */
@Command(
        name = "restore",
        description = "Measure how soon a controller decides again, by what it has lost.",
        footer = {
            "",
            "A broker runs as a process of its own. A controller gets a state of so",
            "many blocks on hosts. Then, in each round, it starts without its state,",
            "with it, and from a snapshot after its changelog was deleted. Exit code",
            "1 when a restored changelog has not all blocks, or a snapshot differs",
            "from the log."
        })
public final class BenchRestoreCommand implements Callable<Integer> {
    @Option(names = "--quick", description = "A few seconds with few blocks: a check that it works.")
    boolean quick;

    @Option(names = "--placements", paramLabel = "N", description = "Blocks on hosts (default: 1000000).")
    @Nullable Integer placements;

    @Option(names = "--nodes", paramLabel = "N", description = "Nodes that have them (default: 4).")
    @Nullable Integer nodes;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions of the log (default: 4).")
    @Nullable Integer partitions;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of the three starts (default: 3).")
    @Nullable Integer rounds;

    @Mixin
    BenchOutput output;

    @Override
    public Integer call() throws Exception {
        return output.print(RestoreBench.run(config(), output::step));
    }

    private RestoreBenchConfig config() {
        RestoreBenchConfig base = quick ? RestoreBenchConfig.QUICK : RestoreBenchConfig.DEFAULTS;
        return new RestoreBenchConfig(
                placements == null ? base.placements() : placements,
                nodes == null ? base.nodes() : nodes,
                partitions == null ? base.partitions() : partitions,
                rounds == null ? base.rounds() : rounds);
    }
}
