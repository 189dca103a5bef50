/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import io.tierlog.ops.bench.dashboard.DashboardBench;
import io.tierlog.ops.bench.dashboard.DashboardBenchConfig;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tierlog bench dashboard}: prints the table; exit code 1 when the page did not count every record once, or a stream ended. */
@Command(
        name = "dashboard",
        description = "Measure whether the live page keeps up with a busy log.",
        footer = {
            "",
            "A broker and the live page run as processes of their own, the page on",
            "one core. This process writes what busy nodes and their controller",
            "write, and opens browsers. Exit code 1 when a record was not counted",
            "once, or a stream ended; whether it keeps up is in the report."
        })
public final class BenchDashboardCommand implements Callable<Integer> {
    private static final DashboardBenchConfig DEFAULTS = DashboardBenchConfig.DEFAULTS;

    @Option(names = "--quick", description = "A few seconds with few nodes: a check that it works.")
    boolean quick;

    @Option(names = "--rate", paramLabel = "N", description = "Events a second (default: 5000).")
    @Nullable Integer rate;

    @Option(names = "--seconds", paramLabel = "N", description = "Measured seconds (default: 60).")
    @Nullable Integer seconds;

    @Option(names = "--nodes", paramLabel = "N", description = "Nodes whose hosts are full (default: 500).")
    @Nullable Integer nodes;

    @Option(names = "--browsers", paramLabel = "N", description = "Open pages, 50 at most (default: 50).")
    @Nullable Integer browsers;

    @Option(names = "--past-hours", paramLabel = "HOURS",
            description = "Hours that the page holds before, 23 at most: shows its memory of a long run (default: 0).")
    @Nullable Integer pastHours;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions of the log (default: 4).")
    @Nullable Integer partitions;

    @Option(names = "--host-blocks", paramLabel = "N", description = "Capacity of each host (default: 1000).")
    @Nullable Integer hostBlocks;

    @Option(names = "--heap-mb", paramLabel = "MIB", description = "Heap of the live page (default: 512).")
    @Nullable Integer heapMb;

    @Option(names = "--core", paramLabel = "NUMBER", description = "Core of the live page (default: the last that may be used).")
    @Nullable Integer core;

    @Mixin
    BenchOutput output;

    @Override
    public Integer call() throws Exception {
        return output.print(DashboardBench.run(config(), output::step));
    }

    private DashboardBenchConfig config() {
        DashboardBenchConfig base = quick ? DashboardBenchConfig.QUICK : DEFAULTS;
        return new DashboardBenchConfig(
                new DashboardBenchConfig.Load(
                        or(rate, base.load().rate()), or(seconds, base.load().seconds()), or(pastHours, base.load().pastHours())),
                new DashboardBenchConfig.Nodes(
                        or(nodes, base.nodes().count()), or(partitions, base.nodes().partitions()), or(hostBlocks, base.nodes().hostBlocks()),
                        base.nodes().requests()),
                or(browsers, base.browsers()),
                or(heapMb, base.heapMb()),
                core == null ? OptionalInt.empty() : OptionalInt.of(core));
    }

    private static int or(@Nullable Integer given, int otherwise) {
        return given == null ? otherwise : given;
    }
}
