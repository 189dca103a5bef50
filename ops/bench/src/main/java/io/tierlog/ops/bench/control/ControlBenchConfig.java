/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.ops.bench.BenchException;
import java.util.List;
import java.util.Optional;

/**
 * What the control benchmark is run with; checked once, here. Immutable.
 *
 * @param bootstrapServers a running cluster; empty starts a broker in a process of its own
 * @param load how much is sent
 * @param shape what is sent, and to how many partitions
 * @param tuning settings of the controller and of the empty pass-through beside it
 * @param commands the ways commands leave the controller that are measured, each in turn; the first is the one the ratios are about
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

    /** Refuses a list without any way, or with one twice. */
    public ControlBenchConfig {
        commands = List.copyOf(commands);
        if (commands.isEmpty() || commands.stream().distinct().count() != commands.size()) {
            throw BenchException.badInput("--commands names no way, or one twice", "give direct, transactional or both");
        }
    }

    /**
     * How much is sent.
     *
     * @param rate requests a second, in all: the open loop keeps to it whatever comes back
     * @param seconds measured seconds of each part in each round
     * @param rounds how often the parts take turns
     * @param records records for the throughput, in all rounds together, for each of the ways compared
     */
    public record Load(int rate, int seconds, int rounds, int records) {
        /** Refuses what would measure nothing or never end. */
        public Load {
            within("--rate", rate, 1, 20_000);
            within("--seconds", seconds, 1, 600);
            within("--rounds", rounds, 1, 100);
            within("--records", records, 300, 10_000_000);
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
            within("--blocks", blocks, 1, 4_096);
            within("--nodes", nodes, 1, 256);
            within("--partitions", partitions, 1, 64);
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
            within("--commit-interval-ms", commitIntervalMs, 5, 10_000);
            within("--record-cache", recordCacheBytes, 0, 8L << 30);
        }
    }

    private static void within(String flag, long value, long least, long most) {
        if (value < least || value > most) {
            throw BenchException.badInput(flag + " " + value + " is not between " + least + " and " + most, "choose another value");
        }
    }
}
