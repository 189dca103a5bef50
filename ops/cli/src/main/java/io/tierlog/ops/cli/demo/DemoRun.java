/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.demo.events.EventEngines;
import io.tierlog.ops.cli.policy.PolicyClient;
import io.tierlog.ops.dashboard.DashboardApp;
import io.tierlog.ops.dashboard.DashboardConfig;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProbeAhead;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.traces.TraceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One demo: owns the parts that it starts, and closes them in the opposite order, also when a start fails or Ctrl-C comes.
 *
 * <p>One thread runs it; a shutdown hook may close it from another.
 */
final class DemoRun implements AutoCloseable {
    private static final int DASHBOARD_PORT = 8086;
    private static final Duration POLICY_WAIT = Duration.ofSeconds(30);
    private static final Duration DIRECTORY_WAIT = Duration.ofSeconds(60);

    private final DemoCommand flags;
    private final Workload workload;
    private final WorkloadProfile profile;
    private final Part part;
    private final Path data;
    private final Path memory;
    private final Closing closing = new Closing();
    private @Nullable DirectoryApp directory;

    /**
     * Which of the runs of a demo this is.
     *
     * @param folder its part of --data; empty for the whole
     * @param promotes whether lookups ahead of requests also promote blocks that only a disk has
     * @param alone whether the same workload runs without the tiers afterwards
     */
    record Part(String folder, boolean promotes, boolean alone) {}

    DemoRun(DemoCommand flags, Workload workload, WorkloadProfile profile, Part part) {
        this.flags = flags;
        this.workload = workload;
        this.profile = profile;
        this.part = part;
        this.data = dataDirectory(flags, part);
        closing.atEnd(this::forgetData);
        this.memory = SharedMemory.directory();
        closing.atEnd(() -> SharedMemory.delete(memory));
    }

    /** Runs everything in this process. */
    DemoReport here() throws InterruptedException {
        ReplayRun replay = ReplayRun.onStandardError();
        if (flags.noTiers) {
            return replay.run(plan(nodesWithout()), ReplayRun.Watch.NOTHING, false);
        }
        EmbeddedKafka kafka = closing.own(EmbeddedKafka.start(EmbeddedKafkaConfig.of(data.resolve("broker"))));
        KafkaAccess access = KafkaAccess.of(kafka.bootstrapServers());
        Codec codec = new Codec(Schemas.bundled());
        createTopics(access);
        Optional<DemoController> controller = Optional.empty();
        if (!flags.noController) {
            controller = Optional.of(closing.own(DemoController.start(controllerConfig(access), flags.away(), System.err)));
            new PolicyClient(access, codec, Topics.DEFAULT).setFirst(flags.policy(), POLICY_WAIT);
        }
        LogWatch watch = closing.own(LogWatch.start(access, codec, Topics.DEFAULT));
        List<EngineNode> nodes = new ArrayList<>();
        List<AutoCloseable> senders = new ArrayList<>();
        for (String name : nodeNames()) {
            AgentApp agent = closing.own(AgentApp.start(agentConfig(access, name)));
            senders.addFirst(agent);
            nodes.add(new EngineNode(name, new AgentAddress.HostPort("127.0.0.1", agent.enginePort())));
        }
        System.err.println("Log at " + kafka.bootstrapServers() + ", data in " + data + (flags.keep ? "" : " (deleted at the end; --keep keeps it)"));
        if (!flags.noDashboard && !flags.noController) {
            DashboardApp page = closing.own(dashboard(access));
            System.err.println("Live page at " + page.url() + " (until the run ends; --no-dashboard turns it off)");
        }
        ReplayConfig plan = plan(nodes);
        if (flags.probeAheadMs() > 0) {
            plan = plan.withProbes(new ProbeAhead.Plan(prober(access), flags.probeAheadMs()));
        }
        if (flags.engines == DemoCommand.EngineKind.events) {
            EventEngines listened = closing.own(EventEngines.start(workload, new EventEngines.Place(
                    access.bootstrapServers(), directory(access).grpcPort(), plan.namespace(0), System.err)));
            senders.addFirst(listened);
            DemoReport report = replay.run(plan, new ReplayRun.Watch(Optional.of(watch), controller, listened), part.alone());
            report = report.with(listened.finish());
            rest(senders, controller);
            return report;
        }
        DemoReport report = replay.run(plan, new ReplayRun.Watch(Optional.of(watch), controller, ProgressListener.none()), part.alone());
        rest(senders, controller);
        return report;
    }

    /** Brings the log to rest: first the parts that append events end, and the controller decides what they have left. */
    private void rest(List<AutoCloseable> senders, Optional<DemoController> controller) throws InterruptedException {
        for (AutoCloseable sender : senders) {
            try {
                closing.now(sender);
            } catch (IllegalStateException e) {
                System.err.println(e.getMessage()); // the report of the run matters more
            }
        }
        if (controller.isPresent() && !controller.get().bringToRest(ProcessDemo.REST) && !closing.isClosed()) {
            System.err.println(ProcessDemo.NOT_AT_REST);
        }
    }

    /** The live page at its usual port, or at any free one while that is taken. Without a browser it costs the run nothing. */
    private DashboardApp dashboard(KafkaAccess access) {
        Path state = data.resolve("dashboard");
        try {
            return DashboardApp.startWhenAsked(DashboardConfig.of(access, Topics.DEFAULT, state, DASHBOARD_PORT));
        } catch (ServerException e) {
            return DashboardApp.startWhenAsked(DashboardConfig.of(access, Topics.DEFAULT, state, 0));
        }
    }

    /** Probes a directory beside the controller. */
    private ProbeAhead prober(KafkaAccess access) throws InterruptedException {
        return closing.own(new DirectoryProber(directory(access).grpcPort(), part.promotes()));
    }

    /** The one directory beside the controller, started at first use. */
    private DirectoryApp directory(KafkaAccess access) throws InterruptedException {
        DirectoryApp known = directory;
        if (known != null) {
            return known;
        }
        DirectoryApp started = closing.own(DirectoryApp.start(DirectoryConfig.of(access, Topics.DEFAULT, data.resolve("directory"))));
        directory = started;
        if (!started.awaitRunning(DIRECTORY_WAIT)) {
            throw new CliError("the directory is " + started.streams().state() + " after " + DIRECTORY_WAIT.toSeconds() + " s",
                    "run again with --verbose", CliError.FAILURE);
        }
        return started;
    }

    /** Agents that read from each other, over loopback. */
    private Map<String, String> peers(KafkaAccess access) throws InterruptedException {
        return Map.of(AgentOptions.PEER_LISTEN, "127.0.0.1:0", AgentOptions.DIRECTORY, "127.0.0.1:" + directory(access).grpcPort());
    }

    /** Runs every part in a process of its own; returns the exit code of the engine's. */
    int inProcesses(PrintWriter out, PrintWriter err) throws InterruptedException {
        ProcessDemo.Blocks blocks = new ProcessDemo.Blocks(hostBlocks(), diskBlocks(), workload.blockTokens());
        ProcessDemo demo = closing.own(new ProcessDemo(flags, data, blocks, new ProcessDemo.Output(out, err)));
        return demo.run(nodeNames(), flags.policy());
    }

    private ReplayConfig plan(List<EngineNode> nodes) {
        ReplayConfig plan = ReplayPlan.of("demo-" + ProcessHandle.current().pid(), flags.options, workload, profile, nodes, memory);
        Timeouts patience = ReplayPlan.patience(plan, flags.prefetchWaitMs);
        return plan.withTimeouts(flags.noController ? patience.withOnTheLogMs(0) : patience);
    }

    private List<EngineNode> nodesWithout() {
        return nodeNames().stream().map(name -> new EngineNode(name, new AgentAddress.None())).toList();
    }

    /** Nodes are called node-1, node-2 and so on. */
    private List<String> nodeNames() {
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= flags.nodes; i++) {
            names.add("node-" + i);
        }
        return names;
    }

    private void createTopics(KafkaAccess access) {
        ClusterOptions.checked(() -> {
            try (TopicAdmin admin = new TopicAdmin(access)) {
                return admin.create(Topics.DEFAULT, flags.partitions, 1);
            }
        });
    }

    private ControllerConfig controllerConfig(KafkaAccess access) {
        ControllerConfig.Builder settings = ControllerConfig.of(access, data.resolve("controller"))
                .with()
                .commands(flags.commands)
                .streams(StreamsTuning.DEFAULTS.withCommitIntervalMs(flags.commitIntervalMs));
        flags.options.collector().ifPresent(settings::traces);
        return settings.build();
    }

    private AgentConfig agentConfig(KafkaAccess access, String name) throws InterruptedException {
        Map<String, Object> options = new HashMap<>(flags.peers ? peers(access) : Map.of());
        diskBlocks().ifPresent(blocks -> {
            options.put(AgentOptions.DISK, data.resolve("disk").resolve(name));
            options.put(AgentOptions.DISK_SIZE, blocks + "blocks");
        });
        flags.options.collector().ifPresent(collector -> options.put(TraceOptions.OTLP_ENDPOINT, collector.toString()));
        options.put(AgentOptions.HOST, hostBlocks() + "blocks");
        options.put(AgentOptions.BYTES_PER_BLOCK, flags.options.blockBytes() + "B");
        options.put(AgentOptions.BLOCK_TOKENS, workload.blockTokens());
        options.put(AgentOptions.PREFETCH_WAIT_MS, flags.prefetchWaitMs);
        options.put(AgentOptions.STORE, flags.store(data));
        return AgentConfig.of(name, access.bootstrapServers(), data.resolve("store")).with(options);
    }

    private OptionalInt diskBlocks() {
        return flags.disk == null
                ? OptionalInt.empty()
                : OptionalInt.of(flags.options.blocks("--disk", flags.disk, profile.uniqueBlocks()));
    }

    private int hostBlocks() {
        return flags.options.blocks("--host", flags.host, profile.uniqueBlocks());
    }

    private static Path dataDirectory(DemoCommand flags, Part part) {
        try {
            return flags.data != null ? Files.createDirectories(flags.data.resolve(part.folder())) : Files.createTempDirectory("tierlog-demo-");
        } catch (IOException e) {
            throw new CliError("cannot make the data directory: " + Causes.of(e), "give another one with --data", CliError.BAD_INPUT, e);
        }
    }

    private void forgetData() {
        if (flags.keep || flags.data != null) {
            System.err.println("Kept: " + data);
        } else {
            SharedMemory.delete(data);
        }
    }

    @Override
    public void close() {
        closing.close();
    }
}
