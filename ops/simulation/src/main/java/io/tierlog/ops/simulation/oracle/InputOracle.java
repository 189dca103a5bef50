/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.simulation.world.SimLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which inputs apply and which are refused, from the committed decisions: each event of an agent once, in the epoch of its process, by the process
 * that is registered; each policy on the version that it was built on; a silent node ends at the very tick. For one thread.
 */
public final class InputOracle implements World.Watcher {
    private static final int INTERVALS = 5;

    /** The current process of a node, or the last one. */
    private static final class NodeProcess {
        String process = "";
        long incarnation;
        boolean alive;
        long lastSequence;
        long lastTick;
        int sessionTicks;

        /** A policy that shortens the session holds from the next registration on. */
        int silentTicks(Policy policy) {
            return policy.nodeTimeoutTicks() == 0 ? 0 : Math.max(policy.nodeTimeoutTicks(), sessionTicks);
        }
    }

    private static final class Partition {
        final Map<String, NodeProcess> nodes = new LinkedHashMap<>();
        /** The last incarnation of each node that there ever was. */
        final Map<String, Long> incarnations = new LinkedHashMap<>();
        final List<Fact> facts = new ArrayList<>();
        long cause = -1;
        long ticks;
        /** The highest time of a tick that counted. */
        long countedMs;
        /** Times of the last ticks that counted. */
        final Deque<Long> counted = new ArrayDeque<>();
        long timeMs;
        long policyVersion;
        Policy policy = Policies.INITIAL;
    }

    private final SimLog log;
    private final Map<Integer, Partition> partitions = new LinkedHashMap<>();
    private long lastPolicy;

    /** Reads events from {@code log}; decisions come as they are committed. */
    public InputOracle(SimLog log) {
        this.log = log;
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        Partition of = partitions.computeIfAbsent(partition, any -> new Partition());
        long cause = LogInvariants.causeOffset(fact);
        if (cause != of.cause) {
            judge(partition, of);
            of.cause = cause;
        }
        of.facts.add(fact);
    }

    /** Judges what the last commit has left open. */
    public void end() {
        partitions.forEach(this::judge);
    }

    private void judge(int partition, Partition of) {
        if (of.cause >= 0 && !of.facts.isEmpty()) {
            Event event = log.events(partition).get((int) of.cause);
            switch (event) {
                case Tick e -> tick(of, e);
                case PolicyChangeRequested e -> policy(of, e);
                case PolicyPublished e -> published(of, e);
                case AgentRegistering e -> registering(of, e);
                case AgentEvent e -> agent(of, e);
                default -> {}
            }
            of.facts.forEach(fact -> follow(of, fact));
            of.facts.clear();
        }
    }

    private static void follow(Partition of, Fact fact) {
        Envelope envelope = fact.envelope();
        NodeProcess known = of.nodes.get(envelope.aggregate());
        if (fact instanceof AgentAccepted f) {
            known = of.nodes.computeIfAbsent(envelope.aggregate(), any -> new NodeProcess());
            known.sessionTicks = known.alive ? known.sessionTicks : f.policy().nodeTimeoutTicks();
            known.process = f.processId();
            known.incarnation = f.newIncarnation();
            known.alive = true;
            of.incarnations.put(envelope.aggregate(), f.newIncarnation());
        } else if (fact instanceof NodeEnded && known != null) {
            known.alive = false;
        } else if (fact instanceof NodeExpired) {
            of.nodes.remove(envelope.aggregate());
            known = null;
        } else if (fact instanceof TimeAdvanced f) {
            of.ticks = f.ticks();
            of.timeMs = f.logTimeMs();
        } else if (fact instanceof PolicyAdopted f) {
            of.policy = f.policy();
            of.policyVersion = f.version();
        }
        AppliedInput taken = envelope.taken();
        if (taken != null && known != null) {
            known.lastSequence = taken.sequence();
            known.lastTick = of.ticks;
        }
    }

    private static <F extends Fact> @Nullable F first(Partition of, Class<F> type) {
        return of.facts.stream().filter(type::isInstance).map(type::cast).findFirst().orElse(null);
    }

    private static void require(boolean holds, String what, Partition of, Event event) {
        if (!holds) {
            throw new IllegalStateException("effect, " + what + ": the event " + event + " of " + event.envelope() + " led to " + of.facts);
        }
    }

    // --- agents

    private void agent(Partition of, AgentEvent event) {
        Envelope from = event.envelope();
        NodeProcess known = of.nodes.get(from.aggregate());
        if (event instanceof AgentStopping && from.incarnation() == 0) {
            return; // a process that stops before it has its incarnation
        }
        RefusalReason expected = refusal(known, event);
        InputRefused refused = first(of, InputRefused.class);
        RefusalReason reason = refused == null ? null : refused.reason();
        if (expected != null) {
            require(reason == expected && of.facts.stream().allMatch(fact -> fact.envelope().taken() == null),
                    "epoch or number of an event: " + expected + " was due", of, event);
        } else if (reason != RefusalReason.FUTURE_COMMAND) { // a command of an aborted transaction has gone out with a higher number
            require(of.facts.stream().map(fact -> fact.envelope().taken()).anyMatch(taken -> taken != null && taken.sequence() == from.sequence()),
                    "an event that applies was not taken", of, event);
        }
    }

    private @Nullable RefusalReason refusal(@Nullable NodeProcess known, AgentEvent event) {
        Envelope from = event.envelope();
        if (known == null) {
            return RefusalReason.NODE_UNKNOWN;
        } else if (from.incarnation() > known.incarnation) {
            return RefusalReason.FUTURE_INCARNATION;
        } else if (from.incarnation() < known.incarnation || !known.alive) {
            return RefusalReason.STALE_INCARNATION;
        } else if (!from.sender().equals("agent/" + from.aggregate().substring("node/".length()) + "/" + known.process)) {
            return RefusalReason.WRONG_SENDER;
        } else if (from.sequence() <= known.lastSequence) {
            return RefusalReason.REPEATED;
        } else if (from.sequence() != known.lastSequence + 1) {
            return RefusalReason.SEQUENCE_GAP;
        }
        boolean future = event instanceof AgentHeartbeat beat && beat.commandSequence() > lastCommand(from.aggregate());
        return future ? RefusalReason.FUTURE_COMMAND : null;
    }

    /** The highest number of a command to the node that any controller has sent. */
    private long lastCommand(String aggregate) {
        return log.commands(aggregate).stream().map(Command::header).mapToLong(header -> header.commandSequence()).max().orElse(0);
    }

    private static void registering(Partition of, AgentRegistering e) {
        NodeProcess known = of.nodes.get(e.envelope().aggregate());
        AgentRefused refused = first(of, AgentRefused.class);
        AgentAccepted as = first(of, AgentAccepted.class);
        boolean accepted = as != null;
        boolean goesOn = known != null && known.alive && as != null && as.newIncarnation() == known.incarnation;
        require(as == null || goesOn || as.newIncarnation() > of.incarnations.getOrDefault(e.envelope().aggregate(), 0L),
                "an incarnation that the node had before", of, e);
        boolean same = known != null && known.process.equals(e.processId());
        if (known != null && same && e.envelope().sequence() <= known.lastSequence) {
            require(!accepted, "a registration that was applied before", of, e);
        } else {
            boolean duplicate = known != null && known.alive && !same && !known.process.equals(e.replaces())
                    && of.ticks - known.lastTick <= known.silentTicks(of.policy);
            require(!duplicate || !accepted, "a second process of a node whose first one is registered", of, e);
            require(duplicate || refused == null || refused.reason() != RefusalReason.DUPLICATE_NODE,
                    "a process was refused for one that is silent, or ended", of, e);
        }
    }

    // --- time

    private static void tick(Partition of, Tick e) {
        TimeAdvanced time = first(of, TimeAdvanced.class);
        if (time == null) {
            return;
        }
        Integer intervalMs = e.intervalMs();
        boolean counts = time.ticks() == of.ticks + 1;
        boolean early = intervalMs != null && time.ticks() == of.ticks && e.timeMs() < of.countedMs + intervalMs;
        if (counts) {
            of.countedMs = Math.max(of.countedMs, e.timeMs());
            require(intervalMs == null || rate(of.counted, e.timeMs(), intervalMs), "ticks count too often", of, e);
        }
        require((counts || early) && time.logTimeMs() == Math.max(of.timeMs, e.timeMs()), "log time", of, e);
        of.nodes.forEach((aggregate, known) -> {
            long silentTicks = known.silentTicks(of.policy);
            boolean lost = silentTicks > 0 && known.alive && time.ticks() - known.lastTick > silentTicks;
            boolean ended = of.facts.stream().anyMatch(fact -> fact instanceof NodeEnded f && f.envelope().aggregate().equals(aggregate)
                    && f.reason() == RemovalReason.NODE_LOST);
            require(lost == ended, "silence of " + aggregate + ": its last event came at tick " + known.lastTick + " of " + time.ticks(), of, e);
        });
    }

    /** Whether, where time goes on, no more ticks have counted in {@value #INTERVALS} intervals than those and two more. */
    private static boolean rate(Deque<Long> counted, long timeMs, int intervalMs) {
        if (!counted.isEmpty() && timeMs < counted.getLast()) {
            counted.clear();
        }
        counted.addLast(timeMs);
        while (counted.getFirst() <= timeMs - (long) INTERVALS * intervalMs) {
            counted.removeFirst();
        }
        return counted.size() <= INTERVALS + 2;
    }

    // --- policies

    private void policy(Partition of, PolicyChangeRequested e) {
        PolicyVersioned versioned = first(of, PolicyVersioned.class);
        PolicyRefused refused = first(of, PolicyRefused.class);
        if (versioned != null) {
            require(e.basedOnVersion() == lastPolicy && versioned.version() == lastPolicy + 1 && versioned.policy().equals(e.policy()),
                    "a policy was taken that is not built on version " + lastPolicy, of, e);
            lastPolicy = versioned.version();
        } else if (refused != null) {
            require((refused.reason() == RefusalReason.STALE_POLICY) == (e.basedOnVersion() != lastPolicy),
                    "a policy on version " + lastPolicy, of, e);
        }
    }

    private static void published(Partition of, PolicyPublished e) {
        PolicyAdopted adopted = first(of, PolicyAdopted.class);
        require(adopted == null || (e.version() > of.policyVersion && adopted.version() == e.version() && adopted.policy().equals(e.policy())),
                "a policy in force, after version " + of.policyVersion, of, e);
        require(adopted != null || e.version() <= of.policyVersion, "a policy that was published and is newer", of, e);
    }
}
