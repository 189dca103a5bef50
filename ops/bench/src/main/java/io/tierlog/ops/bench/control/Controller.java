/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.report.BenchException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;

/**
 * A log, a controller for it, and the agents of its nodes: started and stopped as the parts take turns, with its state kept. One thread at a time.
 */
final class Controller {
    private static final int NEVER_FULL = 1 << 24;

    private final Environment environment;
    private final CommandDelivery commands;
    private final KafkaAccess access;
    private final String name;
    private final Topics topics;
    private final Agents agents;
    private final Submitters submitters;

    /** With hosts that never become full, and the name of its delivery of commands. */
    Controller(Environment environment, CommandDelivery commands) {
        this(environment, commands, commands.name().toLowerCase(Locale.ROOT), NEVER_FULL);
    }

    /**
     * With a log of another name.
     *
     * @param name of log, group and state
     * @param hostBlocks capacity of each host
     */
    Controller(Environment environment, CommandDelivery commands, String name, int hostBlocks) {
        this(environment, commands, _ -> environment.access(), name, hostBlocks, environment.config().shape().partitions());
    }

    private Controller(
            Environment environment, CommandDelivery commands, Function<Topics, KafkaAccess> access, String name, int hostBlocks, int partitions) {
        this.environment = environment;
        this.commands = commands;
        this.name = name;
        this.topics = environment.log(name, partitions);
        this.access = access.apply(topics);
        this.agents = new Agents(environment, topics.events(), hostBlocks);
        this.submitters = new Submitters(environment.workload(), agents.senders());
    }

    /** For a log that is replayed: it has no agents. How it reaches the cluster may depend on the topics of that log. */
    static Controller replaying(Environment environment, Function<Topics, KafkaAccess> access, String name, int partitions) {
        return new Controller(environment, environment.config().commands().getFirst(), access, name, 1, partitions);
    }

    CommandDelivery commands() {
        return commands;
    }

    Topics topics() {
        return topics;
    }

    KafkaAccess access() {
        return access;
    }

    Agents agents() {
        return agents;
    }

    Submitters submitters() {
        return submitters;
    }

    /** The consumer group of its offsets. */
    String group() {
        return environment.named(name);
    }

    /** Starts it. */
    Application start() {
        return start(name);
    }

    /** Starts it without its state, which it restores from the changelog. */
    Application startWithoutState() {
        return start(name + "-restored");
    }

    /** Starts it with the state in a directory of this name. */
    Application start(String directory) {
        ControlBenchConfig.Tuning tuning = environment.config().tuning();
        ControllerConfig config = ControllerConfig.of(access, environment.directory(directory))
                .with()
                .topics(topics)
                .applicationId(group())
                .instanceId("bench")
                .commands(commands)
                .streams(StreamsTuning.DEFAULTS
                        .withCommitIntervalMs(tuning.commitIntervalMs())
                        .withRecordCacheBytes(tuning.recordCacheBytes()))
                .build();
        return new Started(ControllerApp.start(config));
    }

    /** Starts it, and registers the nodes when it runs for the first time. */
    Application startWithAgents() throws InterruptedException {
        Application started = start();
        try {
            started.awaitRunning(Application.START);
            if (!agents.isRegistered()) {
                agents.register(environment, topics.decisions());
                if (environment.workload().blocks() <= agents.thresholdBlocks()) {
                    throw BenchException.badInput(
                            "--blocks " + environment.workload().blocks() + " is not worth a fetch: the controller fetches only more than "
                                    + agents.thresholdBlocks() + " blocks",
                            "give more");
                }
            }
            return started;
        } catch (RuntimeException | InterruptedException failure) {
            started.close();
            throw failure;
        }
    }

    private record Started(ControllerApp app) implements Application {
        @Override
        public void awaitRunning(Duration patience) throws InterruptedException {
            if (!app.awaitRunning(patience)) {
                check();
                throw BenchException.failed("the controller did not start: it is " + app.state(), "run again with --verbose");
            }
        }

        @Override
        public void check() {
            if (app.ended().isDone()) {
                Throwable cause = app.ended().join().orElseGet(() -> new IllegalStateException("it was closed"));
                throw BenchException.failed("the controller stopped: " + cause.getMessage(), "run again with --verbose").causedBy(cause);
            }
        }

        @Override
        public void close() {
            app.close();
        }
    }
}
