/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * All nodes of one log: registers them, lets each answer its commands, and sends their heartbeats. Commands come on the thread of the receiver,
 * everything else on that of the benchmark; safe for both.
 */
final class Agents implements Receiver.Sink<Command> {
    private static final Duration REGISTRATION = Duration.ofSeconds(30);
    private static final Duration FILL = Duration.ofMinutes(2);
    private static final Workload FILLING = new Workload(240);
    private static final long HEARTBEAT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Map<String, Agent> byAggregate = new LinkedHashMap<>();
    private volatile @Nullable Arrivals arrivals;
    private long lastHeartbeatNanos = System.nanoTime();
    private int thresholdBlocks;
    private boolean registered;
    private long nextFill = 1L << 40;

    /** @param hostBlocks capacity of each node's host */
    Agents(Environment environment, String eventsTopic, int hostBlocks) {
        for (String node : environment.nodes()) {
            Sender sender = new Sender(Sender.to(environment.outbox(), eventsTopic), node, Agent.processId(node));
            byAggregate.put(Workload.aggregate(node), new Agent(node, sender, hostBlocks, environment.workload()));
        }
    }

    /** Senders of the nodes' events. */
    List<Sender> senders() {
        return byAggregate.values().stream().map(Agent::sender).toList();
    }

    /** One for each node. */
    List<Agent> all() {
        return List.copyOf(byAggregate.values());
    }

    /** The policy in force does not fetch this many blocks or fewer. */
    int thresholdBlocks() {
        return thresholdBlocks;
    }

    /** Whether the nodes have an incarnation. */
    boolean isRegistered() {
        return registered;
    }

    /** Counts answers in {@code next} from now on. */
    void countIn(Arrivals next) {
        arrivals = next;
    }

    /** Commands to all nodes, by type. */
    Map<String, Long> commands() {
        Map<String, Long> sum = new LinkedHashMap<>();
        byAggregate.values().forEach(agent -> agent.commands().forEach((type, count) -> sum.merge(type, count, Long::sum)));
        return sum;
    }

    /** Registers every node with a running controller; once for each log. */
    void register(Environment environment, String decisionsTopic) {
        LogReader.Source<Fact> source = new LogReader.Source<>(decisionsTopic, Fact.class, LogReader.Isolation.COMMITTED);
        List<Agent> waiting = new ArrayList<>(byAggregate.values());
        try (LogReader<Fact> decisions = new LogReader<>(environment.access(), environment.codec(), source)) {
            decisions.seekToEnd();
            waiting.forEach(Agent::register);
            long deadline = System.nanoTime() + REGISTRATION.toNanos();
            while (!waiting.isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw BenchException.failed(
                            "the controller did not answer the registration of " + waiting.size() + " nodes within " + REGISTRATION,
                            "run again with --verbose");
                }
                decisions.poll(Duration.ofMillis(100), entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Fact> read) {
                        waiting.removeIf(agent -> accepted(agent, read.value()));
                    }
                });
            }
        }
        registered = true;
    }

    /** Sends requests for many blocks until every host is full; what they lead to is not counted. */
    void fill(Environment environment, Receiver<Command> receiver) throws InterruptedException {
        arrivals = null;
        long deadline = System.nanoTime() + FILL.toNanos();
        for (Agent agent : byAggregate.values()) {
            while (!agent.hasRelieved()) {
                int before = agent.hostBlocks();
                agent.sender().send(FILLING.submitted(nextFill++, FILLING.blocks()));
                environment.outbox().flush();
                while (agent.hostBlocks() == before && !agent.hasRelieved()) {
                    receiver.check();
                    if (System.nanoTime() > deadline) {
                        throw BenchException.failed("the hosts were not full within " + FILL, "give fewer --host-blocks");
                    }
                    TimeUnit.MILLISECONDS.sleep(1);
                }
            }
        }
    }

    private boolean accepted(Agent agent, Fact decision) {
        return switch (decision) {
            case AgentAccepted accepted when agent.is(accepted.processId()) -> {
                agent.accepted(accepted.newIncarnation());
                thresholdBlocks = accepted.policy().prefetchThresholdBlocks();
                yield true;
            }
            case AgentRefused refused when agent.is(refused.processId()) -> throw BenchException.failed(
                    "the controller refused a node of the benchmark: " + refused.reason() + ", " + refused.detail(), "please report this");
            default -> false;
        };
    }

    @Override
    public void accept(Command command, long nowNanos) {
        Agent agent = byAggregate.get(command.envelope().aggregate());
        if (agent == null) {
            throw BenchException.failed("a command for a node that is not of the benchmark: " + command.envelope().aggregate(), "please report this");
        }
        agent.run(command, request -> {
            Arrivals now = arrivals;
            if (now != null) {
                now.arrived(Workload.number(request), nowNanos);
            }
        });
    }

    /** Sends a heartbeat of every node when a second has passed since the last. */
    @Override
    public synchronized void idle() {
        long now = System.nanoTime();
        if (registered && now - lastHeartbeatNanos >= HEARTBEAT_NANOS) {
            heartbeat();
        }
    }

    /** Sends a heartbeat of every node. */
    synchronized void heartbeat() {
        lastHeartbeatNanos = System.nanoTime();
        byAggregate.values().forEach(Agent::heartbeat);
    }
}
