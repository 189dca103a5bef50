/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.ops.bench.BenchException;
import java.util.List;
import java.util.Optional;

/**
 * Configuration of the control benchmark; checked once, here. Immutable.
 *
 * @param bootstrapServers a running cluster; empty starts a broker in a process of its own
 * @param load how much is sent
 * @param shape what is sent, and to how many partitions
 * @param tuning settings of the controller and of the empty pass-through beside it
 * @param commands the deliveries of commands that are measured, each in turn; the ratios are about the first
 */
public record ControlBenchConfig(
        Optional<String> bootstrapServers, Load load, Shape shape, Tuning tuning, List<CommandDelivery> commands) {
    /** A few minutes on a small machine: 200 requests a second, 5 s a part and round, 3 rounds, 60,000 records for the throughput. */
    public static final ControlBenchConfig DEFAULTS = new ControlBenchConfig(
            Optional.empty(),
            new Load(200, 5, 3, 60_000),
            new Shape(24, 4, 4),
            new Tuning(StreamsTuning.DEFAULTS.commitIntervalMs(), StreamsTuning.DEFAULTS.recordCacheBytes()),
            List.of(CommandDelivery.DIRECT, CommandDelivery.TRANSACTIONAL));

    /** Refuses an empty list, and one that names a delivery twice. */
    public ControlBenchConfig {
        commands = List.copyOf(commands);
        if (commands.isEmpty() || commands.stream().distinct().count() != commands.size()) {
            throw BenchException.badInput("--commands is empty, or names a delivery twice", "give direct, transactional or both");
        }
    }

    /**
     * How much is sent.
     *
     * @param rate requests a second, in all: the open loop keeps it, whatever the answers
     * @param seconds measured seconds of each part in each round
     * @param rounds rounds in which the parts take turns
     * @param records records for the throughput, in all rounds together, for each application
     */
    public record Load(int rate, int seconds, int rounds, int records) {
        /** Refuses what would measure nothing or never end. */
        public Load {
            BenchException.requireWithin("--rate", rate, 1, 20_000);
            BenchException.requireWithin("--seconds", seconds, 1, 600);
            BenchException.requireWithin("--rounds", rounds, 1, 100);
            BenchException.requireWithin("--records", records, 300, 10_000_000);
        }
    }

    /**
     * What is sent.
     *
     * @param blocks whole blocks of each prompt, all of them in the store only
     * @param nodes nodes that submit, spread evenly over the partitions
     * @param partitions of every topic
     */
    public record Shape(int blocks, int nodes, int partitions) {
        /** Refuses what would measure nothing or does not fit a record. */
        public Shape {
            BenchException.requireWithin("--blocks", blocks, 1, 4_096);
            BenchException.requireWithin("--nodes", nodes, 1, 256);
            BenchException.requireWithin("--partitions", partitions, 1, 64);
        }
    }

    /**
     * Settings of the controller; the pass-through has the same.
     *
     * @param commitIntervalMs time between two transactions
     * @param recordCacheBytes Streams' record cache; 0 writes every row through
     */
    public record Tuning(int commitIntervalMs, long recordCacheBytes) {
        /** Refuses what cannot work. */
        public Tuning {
            BenchException.requireWithin("--commit-interval-ms", commitIntervalMs, 5, 10_000);
            BenchException.requireWithin("--record-cache", recordCacheBytes, 0, 8L << 30);
        }
    }
}
