/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;

/**
 * Configuration of the benchmark of restored states; checked once, here. Immutable.
 *
 * @param placements blocks on hosts, of prompts of 30 blocks
 * @param nodes that have them, spread evenly over the partitions
 * @param partitions of every topic
 * @param rounds of the three starts
 */
public record RestoreBenchConfig(int placements, int nodes, int partitions, int rounds) {
    /** A million blocks on 4 nodes, 4 partitions, 3 rounds. */
    public static final RestoreBenchConfig DEFAULTS = new RestoreBenchConfig(1_000_000, 4, 4, 3);

    /** 3,000 blocks, 2 nodes, 2 partitions, a round: a check that it works. */
    public static final RestoreBenchConfig QUICK = new RestoreBenchConfig(3_000, 2, 2, 1);

    private static final int MOST_PLACEMENTS = 8_000_000;

    /** Refuses values that would measure nothing. */
    public RestoreBenchConfig {
        BenchException.requireWithin("--placements", placements, 1, MOST_PLACEMENTS);
        BenchException.requireWithin("--nodes", nodes, 1, 256);
        BenchException.requireWithin("--partitions", partitions, 1, 64);
        BenchException.requireWithin("--rounds", rounds, 1, 100);
    }
}
