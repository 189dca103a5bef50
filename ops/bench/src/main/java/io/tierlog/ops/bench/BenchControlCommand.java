/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.bench.control.ControlBench;
import io.tierlog.ops.bench.control.ControlBenchConfig;
import io.tierlog.ops.bench.report.BenchException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code tierlog bench control}: prints the table; exit code 1 when not everything is accounted for. */
@Command(
        name = "control",
        description = "Measure submit to command, beside the shortest path through Kafka.",
        footer = {
            "",
            "One run measures a bare hop, a bare relay, an empty Kafka Streams",
            "pass-through and Tierlog in turn, with records of the same size, and",
            "replays the events of busy nodes through all of them. The ratios",
            "count: the machine's speed and noise hit all of them alike."
        })
public final class BenchControlCommand implements Callable<Integer> {
    private static final ControlBenchConfig DEFAULTS = ControlBenchConfig.DEFAULTS;
    private static final Pattern HOST_PORT = Pattern.compile("[^/,]+:[0-9]+(,[^/,]+:[0-9]+)*");
    private static final int QUICK_S = 2;

    @Option(names = "--bootstrap-servers", paramLabel = "HOST:PORT", description = "Cluster to run on (default: a broker of its own).")
    @Nullable String bootstrapServers;

    @Option(names = "--rate", paramLabel = "N", description = "Requests a second (default: ${DEFAULT-VALUE}).")
    int rate = DEFAULTS.load().rate();

    @Option(names = "--seconds", paramLabel = "N", description = "Measured seconds of each part in each round (default: ${DEFAULT-VALUE}).")
    int seconds = DEFAULTS.load().seconds();

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds in which the parts take turns (default: ${DEFAULT-VALUE}).")
    int rounds = DEFAULTS.load().rounds();

    @Option(
            names = "--work",
            paramLabel = "SECONDS",
            description = "Least time that each application works for its throughput, start excluded; less than 1 shows that"
                    + " everything runs, without a round to warm up (default: ${DEFAULT-VALUE}).")
    double workSeconds = DEFAULTS.load().workSeconds();

    @Option(
            names = "--events",
            paramLabel = "LOG",
            description = "Replay the events of this log: the data directory of a stopped broker, or HOST:PORT of a running one"
                    + " (default: a bundled mix of nodes whose hosts are full).")
    @Nullable String events;

    @Option(names = "--topic-prefix", paramLabel = "NAME", description = "What the topics of the log begin with (default: ${DEFAULT-VALUE}).")
    String topicPrefix = Topics.DEFAULT.prefix();

    @Option(names = "--host-blocks", paramLabel = "N", description = "Capacity of each host that is full (default: ${DEFAULT-VALUE}).")
    int hostBlocks = DEFAULTS.shape().hostBlocks();

    @Option(
            names = "--compression",
            paramLabel = "TYPE",
            split = ",",
            description = "Compression of all producers of recorded events; several are measured side by side (default: ${DEFAULT-VALUE}).")
    List<String> compressions = DEFAULTS.recorded().compressions();

    @Option(
            names = "--record-codes",
            description = "Measure the recorded events with codes on all records too (--record-keys of the services), beside those without.")
    boolean recordCodes;

    @Option(names = "--jfr", description = "Sample the processor time of recorded events and print it by layer.")
    boolean jfr;

    @Option(
            names = "--quick",
            description = "A short run: one round of 2 s for each part, 2 s of work for each throughput. Its numbers are rough.")
    boolean quick;

    @Option(names = "--blocks", paramLabel = "N", description = "Whole blocks of each prompt (default: ${DEFAULT-VALUE}).")
    int blocks = DEFAULTS.shape().blocks();

    @Option(names = "--nodes", paramLabel = "N", description = "Nodes that submit (default: ${DEFAULT-VALUE}).")
    int nodes = DEFAULTS.shape().nodes();

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions of every topic (default: ${DEFAULT-VALUE}).")
    int partitions = DEFAULTS.shape().partitions();

    @Option(names = "--commit-interval-ms", paramLabel = "N", description = "Time between transactions (default: ${DEFAULT-VALUE}).")
    int commitIntervalMs = DEFAULTS.tuning().commitIntervalMs();

    @Option(names = "--record-cache", paramLabel = "BYTES", description = "Record cache of the controller (default: ${DEFAULT-VALUE}).")
    long recordCacheBytes = DEFAULTS.tuning().recordCacheBytes();

    @Option(names = "--commands", paramLabel = "DELIVERY", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Commands commands = Commands.both;

    @Mixin
    BenchOutput output;

    /** How commands leave the controller; the names are what a user types. */
    enum Commands {
        /** By a plain producer, at once. */
        direct,
        /** In the transaction, read before it commits and after. */
        transactional,
        /** One after the other; the ratios are about the direct delivery. */
        both
    }

    @Override
    public Integer call() throws JsonProcessingException {
        return output.print(ControlBench.run(config(), output::step));
    }

    private ControlBenchConfig config() {
        List<CommandDelivery> deliveries =
                switch (commands) {
                    case direct -> List.of(CommandDelivery.DIRECT);
                    case transactional -> List.of(CommandDelivery.TRANSACTIONAL);
                    case both -> List.of(CommandDelivery.DIRECT, CommandDelivery.TRANSACTIONAL);
                };
        return new ControlBenchConfig(
                Optional.ofNullable(bootstrapServers),
                quick ? new ControlBenchConfig.Load(rate, QUICK_S, 1, QUICK_S) : new ControlBenchConfig.Load(rate, seconds, rounds, workSeconds),
                new ControlBenchConfig.Shape(blocks, nodes, partitions, hostBlocks),
                new ControlBenchConfig.Tuning(commitIntervalMs, recordCacheBytes),
                deliveries,
                new ControlBenchConfig.Recorded(Optional.ofNullable(events).map(this::log), jfr, compressions, recordCodes));
    }

    private ControlBenchConfig.Events log(String named) {
        try {
            LogSource source = HOST_PORT.matcher(named).matches() ? new ClusterLog(KafkaAccess.of(named)) : new DirectoryLog(Path.of(named));
            return new ControlBenchConfig.Events(named, source, new Topics(topicPrefix));
        } catch (AuditException unreadable) {
            throw BenchException.badInput(String.valueOf(unreadable.getMessage()), unreadable.hint()).causedBy(unreadable);
        }
    }
}
