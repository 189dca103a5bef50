/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.Topics;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.ClusterOptions;
import io.tierlog.schemas.Policy;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The demo with every part in a process of its own: broker, controller, one agent per node, and the engines. It can also kill the controller while
 * the engines run.
 *
 * <p>One thread; closing ends the processes, last first.
 */
final class ProcessDemo implements AutoCloseable {
    private static final Duration POLICY_WAIT = Duration.ofSeconds(60);
    private static final Duration LEAST_LIFE = Duration.ofMillis(500);
    private static final int USUAL_LIFE_MS = 4_000;

    private final DemoCommand flags;
    private final Path data;
    private final long durationMs;
    private final Blocks blocks;
    private final Said said;
    private final List<ChildProcess> children = new CopyOnWriteArrayList<>();

    /** Blocks of the host pool of each node and of its disk tier, if any, and tokens in a block. */
    record Blocks(int host, OptionalInt disk, int tokens) {}

    /** Where the engine's report goes, and what is told about the processes. */
    record Said(PrintWriter out, PrintWriter err) {}

    ProcessDemo(DemoCommand flags, long durationMs, Path data, Blocks blocks, Said said) {
        this.flags = flags;
        this.durationMs = durationMs;
        this.data = data;
        this.blocks = blocks;
        this.said = said;
    }

    /** Starts all parts, lets the engines run to their end, and returns their exit code. */
    int run(List<String> nodes, Policy policy) throws InterruptedException {
        ChildProcess broker = start("broker", List.of("broker", "--port", "0", "--data", data.resolve("broker").toString(), "--format", "json"));
        String servers = broker.ready().get("bootstrapServers").asText();
        KafkaAccess access = KafkaAccess.of(servers);
        ClusterOptions.checked(() -> {
            try (TopicAdmin admin = new TopicAdmin(access)) {
                return admin.create(Topics.DEFAULT, flags.partitions, 1);
            }
        });
        if (!flags.noController) {
            start("controller", controller(servers));
            new PolicyClient(access, new Codec(Schemas.bundled()), Topics.DEFAULT).setFirst(policy, POLICY_WAIT);
        }
        List<String> agents = new ArrayList<>();
        for (String node : nodes) {
            ChildProcess agent = start(node, agent(servers, node));
            agents.add(node + "=127.0.0.1:" + agent.ready().get("port").asInt());
        }
        Process engine = engine(servers, String.join(",", agents));
        Thread killer = new Thread(engine::destroy, "stop-engine");
        Runtime.getRuntime().addShutdownHook(killer);
        try {
            tell("engine pid " + engine.pid() + "; their output is in " + data);
            killController(engine, servers);
            engine.inputReader().lines().forEach(said.out()::println);
            said.out().flush();
            return engine.waitFor();
        } finally {
            engine.destroy();
        }
    }

    private void tell(String what) {
        said.err().println(what);
        said.err().flush();
    }

    private ChildProcess start(String name, List<String> arguments) throws InterruptedException {
        ChildProcess child = ChildProcess.start(name, data, arguments);
        children.add(child);
        tell(name + " pid " + child.pid());
        return child;
    }

    private List<String> controller(String servers) {
        return List.of(
                "controller",
                "--bootstrap-servers", servers,
                "--state-dir", data.resolve("controller").toString(),
                "--http-port", "0",
                "--commands", flags.commands.name(),
                "--commit-interval-ms", String.valueOf(flags.commitIntervalMs),
                "--format", "json");
    }

    private List<String> agent(String servers, String node) {
        List<String> line = new ArrayList<>(List.of(
                "agent",
                "--bootstrap-servers", servers,
                "--node", node,
                "--store", data.resolve("store").toString(),
                "--host", blocks.host() + "blocks",
                "--block-tokens", String.valueOf(blocks.tokens()),
                "--bytes-per-block", flags.options.blockBytes() + "B",
                "--prefetch-wait-ms", String.valueOf(flags.prefetchWaitMs),
                "--port", "0",
                "--format", "json"));
        blocks.disk().ifPresent(count ->
                line.addAll(List.of("--disk", data.resolve("disk").resolve(node).toString(), "--disk-size", count + "blocks")));
        return line;
    }

    private Process engine(String servers, String agents) {
        List<String> line = new ArrayList<>(List.of(
                "engine",
                "--agents", agents,
                "--watch-log",
                "--bootstrap-servers", servers,
                "--format", flags.format.name(),
                "--prefetch-wait-ms", String.valueOf(flags.prefetchWaitMs),
                flags.noCompare ? "--no-compare" : "--compare"));
        line.addAll(flags.options.asArguments());
        try {
            return new ProcessBuilder(ChildProcess.commandLine(line))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
        } catch (IOException e) {
            throw new CliError("cannot start the engine: " + e, "is there memory left?", CliError.FAILURE, e);
        }
    }

    /** Kills the controller at random moments while the engines run, and starts it again; says how often. */
    private void killController(Process engine, String servers) throws InterruptedException {
        Random moments = new Random(flags.options.seed);
        int kills = 0;
        while (kills < flags.controllerKills && engine.isAlive()) {
            Duration life = LEAST_LIFE.plusMillis(moments.nextInt(2 * meanLifeMs()));
            if (engine.waitFor(life)) {
                break;
            }
            ChildProcess victim = children.stream().filter(child -> child.name().equals("controller")).findFirst().orElseThrow();
            victim.kill();
            children.remove(victim);
            kills++;
            tell(String.format(Locale.ROOT, "controller pid %d killed after %.1f s (%d)", victim.pid(), life.toMillis() / 1000.0, kills));
            start("controller", controller(servers));
        }
        if (flags.controllerKills > 0) {
            tell("controller kills: " + kills + " of " + flags.controllerKills);
        }
    }

    /** Kills are spread over a run whose length is known; else they follow one another. */
    private int meanLifeMs() {
        double speed = flags.options.pacing(durationMs).speed().orElse(0);
        return speed == 0 ? USUAL_LIFE_MS : Math.clamp((long) (durationMs / speed / (flags.controllerKills + 1)), 500, 600_000);
    }

    @Override
    public void close() {
        for (ChildProcess child : children.reversed()) {
            child.close();
        }
        children.clear();
    }
}
