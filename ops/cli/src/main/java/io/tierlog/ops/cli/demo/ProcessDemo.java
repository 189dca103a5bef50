/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.RestLine;
import io.tierlog.ops.cli.policy.PolicyClient;
import io.tierlog.schemas.Policy;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The demo with every part in a process of its own: broker, controller, one agent per node, and the engines. It can also kill parts while the
 * engines run.
 *
 * <p>One thread runs it; closing, from any thread, ends the processes, last first, and lets no other start.
 */
final class ProcessDemo implements AutoCloseable {
    /**
     * How long the controller may take to decide what is on the log once the agents have ended: longer than the session of a node whose agent did not
     * end in good order, which is ten ticks of a second.
     */
    static final Duration REST = Duration.ofSeconds(20);

    static final String NOT_AT_REST = "The controller has not decided every event within " + REST.toSeconds()
            + " s: the log ends before it is at rest, and audit verify --at-rest finds what is open.";

    private static final Duration POLICY_WAIT = Duration.ofSeconds(60);
    /** A part that was just restarted is not killed for this long. */
    private static final Duration LEAST_UPTIME = Duration.ofMillis(500);
    /** Engines report progress about four times a second. */
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
    /** The successor of a killed agent is refused until the session of the old one has expired, after ten ticks. */
    private static final int REGISTRATION_SECONDS = 60;

    private static final String CONTROLLER = "controller";

    private final DemoCommand flags;
    private final Path data;
    private final Blocks blocks;
    private final Output output;
    private final EngineProgress progress = new EngineProgress();
    /** By name, in the order in which they first started: a restarted one keeps its place, and agents stop before the controller. */
    private final SequencedMap<String, ChildProcess> children = new LinkedHashMap<>();
    private boolean closed;

    /** Blocks of the host pool of each node and of its disk tier, if any, and tokens in a block. */
    record Blocks(int host, OptionalInt disk, int tokens) {}

    /** Output: the engines' report, and messages about the processes. */
    record Output(PrintWriter out, PrintWriter err) {}

    ProcessDemo(DemoCommand flags, Path data, Blocks blocks, Output output) {
        this.flags = flags;
        this.data = data;
        this.blocks = blocks;
        this.output = output;
    }

    /** Starts all parts, lets the engines run to their end, and returns their exit code. */
    int run(List<String> nodes, Policy policy) throws InterruptedException {
        ChildProcess broker = service("broker", List.of("broker", "--port", "0", "--data", data.resolve("broker").toString(), "--format", "json"));
        String servers = broker.awaitReady().get("bootstrapServers").asText();
        KafkaAccess access = KafkaAccess.of(servers);
        ClusterOptions.checked(() -> {
            try (TopicAdmin admin = new TopicAdmin(access)) {
                return admin.create(Topics.DEFAULT, flags.partitions, 1);
            }
        });
        Map<String, List<String>> restarts = new LinkedHashMap<>();
        if (!flags.noController) {
            restarts.put(CONTROLLER, controller(servers));
            service(CONTROLLER, controller(servers)).awaitReady();
            new PolicyClient(access, new Codec(Schemas.bundled()), Topics.DEFAULT).setFirst(policy, POLICY_WAIT);
        }
        Map<String, String> agents = new LinkedHashMap<>();
        for (String node : nodes) {
            int port = service(node, agent(servers, node, 0)).awaitReady().get("port").asInt();
            // A restarted agent needs the same port, since its engine connects there.
            restarts.put(node, agent(servers, node, port));
            agents.put(node, "127.0.0.1:" + port);
        }
        KillPlan plan = kills(nodes);
        ChildProcess engine = engine(servers, agents, !flags.noCompare && plan.isEmpty());
        kill(plan, restarts, engine);
        int code = engine.exitCode();
        output.out().flush();
        rest(nodes.reversed());
        return code;
    }

    /** Brings the log to rest: the agents end, and the controller decides what they have left. Does nothing once this is closed. */
    private void rest(List<String> nodes) throws InterruptedException {
        List<ChildProcess> agents;
        ChildProcess controller;
        synchronized (this) {
            agents = nodes.stream().map(children::get).filter(Objects::nonNull).toList();
            controller = children.get(CONTROLLER);
        }
        agents.forEach(ChildProcess::close);
        if (controller != null && !controller.bringToRest(REST) && !isClosed()) {
            report(NOT_AT_REST);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void report(String what) {
        output.err().println(what);
        output.err().flush();
    }

    private ChildProcess service(String name, List<String> arguments) {
        ChildProcess child = adopt(() -> ChildProcess.service(name, data, arguments));
        report(name + " pid " + child.pid());
        return child;
    }

    private synchronized ChildProcess adopt(Supplier<ChildProcess> launch) {
        if (closed) {
            throw new CliError("the demo ends", "start it again", CliError.FAILURE);
        }
        ChildProcess child = launch.get();
        children.put(child.name(), child);
        return child;
    }

    private List<String> controller(String servers) {
        List<String> line = new ArrayList<>(List.of(
                "controller",
                "--bootstrap-servers", servers,
                "--no-directory",
                "--state-dir", data.resolve("controller").toString(),
                "--http-port", "0",
                "--api-listen", "none",
                "--commands", flags.commands.name(),
                "--commit-interval-ms", String.valueOf(flags.commitIntervalMs),
                RestLine.FLAG, String.valueOf(REST.toMillis()),
                "--format", "json"));
        line.addAll(spans());
        return line;
    }

    private List<String> spans() {
        return flags.options.collector().map(collector -> List.of("--otlp-endpoint", collector.toString())).orElse(List.of());
    }

    private List<String> agent(String servers, String node, int port) {
        List<String> line = new ArrayList<>(List.of(
                "agent",
                "--bootstrap-servers", servers,
                "--node", node,
                "--store", flags.store(data),
                "--host", blocks.host() + "blocks",
                "--block-tokens", String.valueOf(blocks.tokens()),
                "--bytes-per-block", flags.options.blockBytes() + "B",
                "--prefetch-wait-ms", String.valueOf(flags.prefetchWaitMs),
                "--registration-timeout", String.valueOf(REGISTRATION_SECONDS),
                "--port", String.valueOf(port),
                "--format", "json"));
        line.addAll(spans());
        blocks.disk().ifPresent(count ->
                line.addAll(List.of("--disk", data.resolve("disk").resolve(node).toString(), "--disk-size", count + "blocks")));
        return line;
    }

    private ChildProcess engine(String servers, Map<String, String> agents, boolean compare) {
        List<String> line = new ArrayList<>(List.of(
                "engine",
                "--agents", agents.entrySet().stream().map(Object::toString).collect(Collectors.joining(",")),
                "--watch-log",
                "--report-progress",
                "--bootstrap-servers", servers,
                "--format", flags.format.name(),
                "--prefetch-wait-ms", String.valueOf(flags.prefetchWaitMs),
                compare ? "--compare" : "--no-compare"));
        if (flags.noController) {
            line.addAll(List.of("--registration-wait-ms", "0"));
        }
        line.addAll(flags.options.asArguments());
        ChildProcess engine = adopt(() -> ChildProcess.speaking("engine", line, this::engineLine));
        report("engine pid " + engine.pid() + "; the output of the others is in " + data);
        return engine;
    }

    /** Lines of the engines: progress is read here, all others are the report. */
    private void engineLine(String line) {
        if (!progress.take(line)) {
            output.out().println(line);
        }
    }

    private KillPlan kills(List<String> nodes) {
        Map<String, Integer> times = new LinkedHashMap<>();
        times.put(CONTROLLER, flags.controllerKills);
        for (int i = 0; i < flags.agentKills; i++) {
            times.merge(nodes.get(i % nodes.size()), 1, Integer::sum);
        }
        return KillPlan.over(flags.options.seed, times);
    }

    /** Kills parts as planned while requests run, restarts each, and reports it. */
    private void kill(KillPlan plan, Map<String, List<String>> restarts, ChildProcess engine) throws InterruptedException {
        long startNanos = System.nanoTime();
        int done = 0;
        for (KillPlan.Kill kill : plan.kills()) {
            if (engine.endsWithin(LEAST_UPTIME) || !reaches(kill.share(), engine)) {
                break;
            }
            ChildProcess killed = child(kill.part());
            killed.kill();
            done++;
            report(String.format(Locale.ROOT, "%s pid %d killed after %.1f s (%d of %d)",
                    kill.part(), killed.pid(), (System.nanoTime() - startNanos) / 1e9, done, plan.kills().size()));
            service(kill.part(), Objects.requireNonNull(restarts.get(kill.part()))).awaitReady();
        }
        if (done < plan.kills().size()) {
            report("the run ended before the other " + (plan.kills().size() - done) + " kills");
        }
    }

    /** Waits until that share of the requests has ended; false when the run ends first: a kill would then meet no request. */
    private boolean reaches(double share, ChildProcess engine) throws InterruptedException {
        while (!progress.reached(share)) {
            if (engine.endsWithin(LOOK_AGAIN)) {
                return false;
            }
        }
        return !progress.over();
    }

    private synchronized ChildProcess child(String name) {
        return Objects.requireNonNull(children.get(name), name);
    }

    @Override
    public void close() {
        List<ChildProcess> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(children.sequencedValues().reversed());
            children.clear();
        }
        left.forEach(ChildProcess::close);
    }
}
