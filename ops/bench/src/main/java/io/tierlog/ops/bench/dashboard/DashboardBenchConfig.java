/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.ops.bench.control.BusyNodes;
import io.tierlog.ops.bench.report.BenchException;
import java.util.OptionalInt;

/**
 * Configuration of the benchmark of the live page; checked once, here. Immutable.
 *
 * @param load what is written
 * @param nodes of the log
 * @param browsers streams of pages that are open
 * @param heapMb heap of the page's process, in MiB
 * @param core that the page's process is bound to; empty for the last one that this process may use
 */
public record DashboardBenchConfig(Load load, Nodes nodes, int browsers, int heapMb, OptionalInt core) {
    /** 5,000 events a second for 60 s, 500 nodes, 50 browsers, 512 MiB. */
    public static final DashboardBenchConfig DEFAULTS =
            new DashboardBenchConfig(new Load(5_000, 60, 0), new Nodes(500, 4, 1_000, 20), 50, 512, OptionalInt.empty());

    /** 300 events a second for 6 s, 10 nodes, 10 browsers: a check that it works. */
    public static final DashboardBenchConfig QUICK =
            new DashboardBenchConfig(new Load(300, 6, 0), new Nodes(10, 2, 1_000, 4), 10, 256, OptionalInt.empty());

    /** A request takes so many pages of a device. */
    private static final int COMPUTED = 12;

    private static final int PROMPTS_A_NODE = 200;

    /** The page itself has no place for more. */
    private static final int MOST_BROWSERS = 50;

    /** Refuses values that would measure nothing. */
    public DashboardBenchConfig {
        BenchException.requireWithin("--browsers", browsers, 1, MOST_BROWSERS);
        BenchException.requireWithin("--heap-mb", heapMb, 64, 65_536);
        core.ifPresent(number -> BenchException.requireWithin("--core", number, 0, 1_023));
    }

    /**
     * What is written while the page is measured, and before.
     *
     * @param rate events a second; decisions, commands and placements follow from them
     * @param seconds that are measured
     * @param pastHours hours of windows, and of the history of nodes, that the page holds before; commands are kept for a day only
     */
    public record Load(int rate, int seconds, int pastHours) {
        /** Refuses what cannot be measured. */
        public Load {
            BenchException.requireWithin("--rate", rate, 1, 100_000);
            BenchException.requireWithin("--seconds", seconds, 3, 86_400);
            BenchException.requireWithin("--past-hours", pastHours, 0, 23);
        }
    }

    /**
     * The nodes.
     *
     * @param count how many, spread evenly over the partitions
     * @param partitions of the log
     * @param hostBlocks capacity of each host, which is full
     * @param requests of each node before the page starts: they fill its device
     */
    public record Nodes(int count, int partitions, int hostBlocks, int requests) {
        /** Refuses what cannot be made. */
        public Nodes {
            BenchException.requireWithin("--nodes", count, 1, 2_000);
            BenchException.requireWithin("--partitions", partitions, 1, 64);
            BenchException.requireWithin("--host-blocks", hostBlocks, 1_000, 1_000_000);
        }

        BusyNodes.Shape shape() {
            return BusyNodes.Shape.of(count, partitions, hostBlocks, requests * COMPUTED, (count + 1L) * PROMPTS_A_NODE);
        }
    }
}
