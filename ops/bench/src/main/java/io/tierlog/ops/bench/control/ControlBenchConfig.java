/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.bench.report.BenchException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Configuration of the control benchmark; checked once, here. Immutable.
 *
 * @param bootstrapServers a running cluster; empty starts a broker in a process of its own
 * @param load how much is sent
 * @param shape what is sent, and to how many partitions
 * @param tuning settings of the controller and of the empty pass-through beside it
 * @param commands the deliveries of commands that are measured, each in turn; the ratios are about the first
 * @param recorded the recorded events
 */
public record ControlBenchConfig(
        Optional<String> bootstrapServers, Load load, Shape shape, Tuning tuning, List<CommandDelivery> commands, Recorded recorded) {
    /** Some minutes on a small machine: 200 requests a second, 5 s a part and round, 3 rounds, 10 s of work for each throughput. */
    public static final ControlBenchConfig DEFAULTS = new ControlBenchConfig(
            Optional.empty(),
            new Load(200, 5, 3, 10),
            new Shape(24, 4, 4, 20_000),
            new Tuning(StreamsTuning.DEFAULTS.commitIntervalMs(), StreamsTuning.DEFAULTS.recordCacheBytes()),
            List.of(CommandDelivery.DIRECT, CommandDelivery.TRANSACTIONAL),
            new Recorded(Optional.empty(), false, List.of(KafkaAccess.DEFAULT_COMPRESSION), false));

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
     * @param workSeconds time for which each application works on the records of its throughput, at least, without its start; all rounds together
     */
    public record Load(int rate, int seconds, int rounds, double workSeconds) {
        private static final double LEAST_WORK_S = 0.1;
        private static final double MOST_WORK_S = 600;

        /** Refuses what would measure nothing or never end. */
        public Load {
            BenchException.requireWithin("--rate", rate, 1, 20_000);
            BenchException.requireWithin("--seconds", seconds, 1, 600);
            BenchException.requireWithin("--rounds", rounds, 1, 100);
            if (!(workSeconds >= LEAST_WORK_S && workSeconds <= MOST_WORK_S)) {
                throw BenchException.badInput(
                        "--work " + workSeconds + " is not between " + LEAST_WORK_S + " and " + MOST_WORK_S, "choose another value");
            }
        }
    }

    /**
     * What is sent.
     *
     * @param blocks whole blocks of each prompt, all of them in the store only
     * @param nodes nodes that submit, spread evenly over the partitions
     * @param partitions of every topic
     * @param hostBlocks capacity of each host that is full
     */
    public record Shape(int blocks, int nodes, int partitions, int hostBlocks) {
        /** Refuses what would measure nothing or does not fit a record. */
        public Shape {
            BenchException.requireWithin("--blocks", blocks, 1, 4_096);
            BenchException.requireWithin("--nodes", nodes, 1, 256);
            BenchException.requireWithin("--partitions", partitions, 1, 64);
            BenchException.requireWithin("--host-blocks", hostBlocks, 1_000, 1_000_000);
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

    /**
     * The part with recorded events.
     *
     * @param events opens the log of a real run; empty for the bundled mix of nodes with full hosts
     * @param profiled whether the controller's processor time is sampled while it works on them
     * @param compressions of the controller's and the agents' producers, each measured in turn; the ratios are about the first
     * @param codes whether the first is measured with codes on all records too
     */
    public record Recorded(Optional<Events> events, boolean profiled, List<String> compressions, boolean codes) {
        private static final Set<String> KNOWN = Set.of("none", "lz4", "zstd", "snappy", "gzip");

        /** What is measured in turn, the one that the ratios are about first. */
        List<Variant> variants() {
            Stream<Variant> plain = compressions.stream().map(each -> new Variant(each, false));
            return (codes ? Stream.concat(plain, Stream.of(new Variant(compressions.getFirst(), true))) : plain).toList();
        }

        /** How records are written. */
        record Variant(String compression, boolean codes) {
            String name() {
                return codes ? compression + " codes" : compression;
            }
        }

        /** Refuses what Kafka has not. */
        public Recorded {
            compressions = List.copyOf(compressions);
            if (compressions.isEmpty() || !KNOWN.containsAll(compressions) || Set.copyOf(compressions).size() != compressions.size()) {
                throw BenchException.badInput(
                        "--compression " + String.join(",", compressions) + " names no compression, one twice, or an unknown one",
                        "give some of " + String.join(", ", new TreeSet<>(KNOWN)));
            }
        }
    }

    /**
     * The log of a real run.
     *
     * @param name for people
     * @param source its records; the benchmark closes it
     * @param topics its topics
     */
    public record Events(String name, LogSource source, Topics topics) {}
}
