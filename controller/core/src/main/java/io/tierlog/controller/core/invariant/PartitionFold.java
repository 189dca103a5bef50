/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.PolicyPublished;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One partition: brings decisions together with the events they answer, and hands both to the nodes. Confined to one thread. */
final class PartitionFold {
    private final Findings findings;
    private final String clock;
    private final Deque<Cause> unanswered = new ArrayDeque<>();
    private final Map<String, NodeFold> nodes = new LinkedHashMap<>();
    private final Map<String, ShardFold> shards = new LinkedHashMap<>();
    /** Nodes that the present decisions are about. */
    private final List<NodeFold> touched = new ArrayList<>();
    private final Counts counts = new Counts();
    private @Nullable Cause current;
    private long lastEvent = -1;
    private Policy policy = Policies.INITIAL;
    private long policyVersion;
    private long timeMs;
    private long ticks;
    /** On record; 0 before the partition is opened. */
    private long coreVersion;
    /** Highest incarnation of the nodes that have expired: one that is not known begins above it. */
    private long expiredIncarnation;

    /** Operations of all nodes of the partition. */
    static final class Counts {
        long started;
        long done;
        long failed;
        long cancelled;
        long fenced;
    }

    PartitionFold(int partition, Findings findings) {
        this.findings = findings;
        this.clock = "clock/" + partition;
    }

    LogInvariants.Counts counts() {
        long unfinished = nodes.values().stream().mapToLong(node -> node.operations.unfinished()).sum();
        return new LogInvariants.Counts(counts.started, counts.done, counts.failed, counts.cancelled, counts.fenced, unfinished);
    }

    /** An event, or null for a record that is not an event. */
    void event(long offset, @Nullable Event event) {
        findings.at(Violation.EVENTS, offset);
        if (offset <= lastEvent) {
            findings.say(Invariant.I13, "it comes after offset " + lastEvent);
        }
        lastEvent = offset;
        Cause cause = new Cause(offset, event);
        unanswered.add(cause);
        NodeFold node = event == null ? null : nodes.get(event.envelope().aggregate());
        if (event != null && node != null) {
            node.event(event, cause.ending);
        }
    }

    void decision(long offset, Fact decision) {
        findings.at(Violation.DECISIONS, offset);
        Envelope envelope = decision.envelope();
        long at = Cause.offsetOf(envelope.cause());
        if (at < 0) {
            findings.say(Invariant.I13, "it says no event that caused it: " + envelope.cause());
            return;
        }
        Cause cause = current;
        if (cause == null || at > cause.offset) {
            cause = next(at);
        } else if (at < cause.offset) {
            findings.say(Invariant.I13, "it answers " + envelope.cause() + " after decisions that answer offset " + cause.offset);
            return;
        }
        checkCause(envelope, cause);
        apply(decision, cause);
    }

    /** Decisions begin to answer another event: those before it had theirs. */
    private Cause next(long at) {
        closeCause();
        while (!unanswered.isEmpty() && unanswered.getFirst().offset < at) {
            findings.say(Invariant.I13, "no decision answers the event at offset " + unanswered.removeFirst().offset);
        }
        Cause cause = unanswered.peekFirst();
        if (cause != null && cause.offset == at) {
            unanswered.removeFirst();
        } else {
            findings.say(Invariant.I13, "it answers the event at offset " + at + ", which is not there");
            cause = new Cause(at, null);
        }
        current = cause;
        return cause;
    }

    private void closeCause() {
        for (NodeFold node : touched) {
            node.closeCause();
        }
        touched.clear();
    }

    private void checkCause(Envelope envelope, Cause cause) {
        String answered = envelope.cause();
        if (answered == null || cause.event == null) {
            return;
        }
        String aggregate = cause.event.envelope().aggregate();
        boolean ofEvent = answered.startsWith(aggregate) && answered.charAt(aggregate.length()) == '@';
        boolean ofUnreadable = answered.startsWith(clock) && answered.charAt(clock.length()) == '@';
        if (!ofEvent && !ofUnreadable) {
            findings.say(Invariant.I13, "it answers " + answered + ", and the event at that offset is about " + aggregate);
        }
    }

    /** Facts of the partition itself; those of aggregates go to {@link NodeFold}, which names every type. */
    private void apply(Fact decision, Cause cause) {
        if (decision instanceof PartitionOpened f) {
            if (coreVersion > 0) {
                findings.say(Invariant.I13, "the partition was opened before");
            }
            coreVersion = f.coreVersion();
        } else if (decision instanceof CoreVersionRaised f) {
            if (f.coreVersion() <= coreVersion) {
                findings.say(Invariant.I13, "core version " + f.coreVersion() + " comes after " + coreVersion);
            }
            coreVersion = f.coreVersion();
        } else if (decision instanceof TimeAdvanced f) {
            advance(f);
        } else if (decision instanceof PolicyAdopted f) {
            adopt(f, cause);
        } else if (decision instanceof InputSkipped f) {
            if (f.offset() != cause.offset) {
                findings.say(Invariant.I13, "it skips offset " + f.offset() + " and answers offset " + cause.offset);
            }
        } else if (decision instanceof InputRefused f) {
            if (cause.event != null && !f.input().equals(cause.event.getClass().getSimpleName())) {
                findings.say(Invariant.I13, "it refuses a " + f.input() + " and answers a " + cause.event.getClass().getSimpleName());
            }
        } else {
            ofNode(decision, cause);
        }
    }

    /**
     * A policy in force is the one that was published, and newer than the one before. Messages of the relay are not numbered, but decisions are
     * chained: where the two differ, the event was changed.
     */
    private void adopt(PolicyAdopted f, Cause cause) {
        if (f.version() <= policyVersion) {
            findings.say(Invariant.I13, "policy version " + f.version() + " comes after " + policyVersion);
        }
        policyVersion = f.version();
        policy = f.policy();
        if (cause.event instanceof PolicyPublished e) {
            if (e.version() != f.version() || !e.policy().equals(f.policy())) {
                findings.sayOfEvent(Invariant.I13, cause.offset, "it publishes policy version " + e.version()
                        + ", and the decision that answers it"
                        + " adopts version " + f.version() + (e.policy().equals(f.policy()) ? "" : " with other content"));
            }
        } else if (cause.event != null) {
            findings.say(Invariant.I13, "it adopts a policy, and the event that it answers publishes none");
        }
    }

    private void ofNode(Fact decision, Cause cause) {
        String aggregate = decision.envelope().aggregate();
        NodeFold node = nodes.get(aggregate);
        if (node == null && decision instanceof AgentAccepted) {
            node = new NodeFold(aggregate, findings, counts, expiredIncarnation);
            nodes.put(aggregate, node);
        }
        if (node != null) {
            if (touched.isEmpty() || touched.getLast() != node) {
                touched.add(node);
            }
            node.decision(decision, cause, new NodeFold.Situation(timeMs, policy));
            if (decision instanceof NodeExpired f) {
                expiredIncarnation = Math.max(expiredIncarnation, f.lastIncarnation());
                nodes.remove(aggregate);
            }
        } else if (aggregate.startsWith("node/") && !(decision instanceof AgentRefused)) {
            findings.say(Invariant.I13, "it is about " + aggregate + ", which is not registered");
        } else if (aggregate.startsWith("store/")) {
            if (decision instanceof BlocksPlaced placed) {
                Naming.check(findings, placed, cause, null);
            }
            shards.computeIfAbsent(aggregate, shard -> new ShardFold(shard, findings)).decision(decision, cause);
        }
    }

    private void advance(TimeAdvanced f) {
        // A tick that comes too early does not count; log time is where it was, or later.
        boolean counted = f.ticks() == ticks + 1 || (f.ticks() == ticks && f.counter() != null);
        if (f.logTimeMs() < timeMs || !counted) {
            findings.say(Invariant.I13, "time goes from " + timeMs + " ms, tick " + ticks + ", to " + f.logTimeMs() + " ms, tick " + f.ticks());
        }
        timeMs = f.logTimeMs();
        ticks = f.ticks();
    }

    void state(FoldBytes io) {
        closeCause();
        current = null;
        if (!unanswered.isEmpty()) {
            throw new IllegalStateException("no decision has answered the event at offset " + unanswered.getFirst().offset);
        }
        lastEvent = io.int64(lastEvent);
        policy = io.record(Policy.TYPE, io.reads() ? null : policy);
        policyVersion = io.int64(policyVersion);
        timeMs = io.int64(timeMs);
        ticks = io.int64(ticks);
        coreVersion = io.int64(coreVersion);
        expiredIncarnation = io.int64(expiredIncarnation);
        counts.started = io.int64(counts.started);
        counts.done = io.int64(counts.done);
        counts.failed = io.int64(counts.failed);
        counts.cancelled = io.int64(counts.cancelled);
        counts.fenced = io.int64(counts.fenced);
        io.map(nodes, io::text, node -> node(io, node));
        io.map(shards, io::text, shard -> shard(io, shard));
    }

    private ShardFold shard(FoldBytes io, @Nullable ShardFold shard) {
        String aggregate = io.text(shard == null ? null : shard.aggregate);
        ShardFold fold = shard == null ? new ShardFold(aggregate, findings) : shard;
        fold.state(io);
        return fold;
    }

    private NodeFold node(FoldBytes io, @Nullable NodeFold node) {
        String aggregate = io.text(node == null ? null : node.aggregate);
        NodeFold fold = node == null ? new NodeFold(aggregate, findings, counts, 0) : node;
        fold.state(io);
        return fold;
    }

    void atEnd(boolean atRest) {
        closeCause();
        if (!atRest) {
            return;
        }
        for (Cause cause : unanswered) {
            findings.sayOfEvent(Invariant.I6, cause.offset, "at rest no decision has answered it");
        }
        for (NodeFold node : nodes.values()) {
            node.atRest();
        }
        shards.values().forEach(ShardFold::atRest);
    }

    /**
     * One shard of the store: its eviction, and the deletion in flight. What the shard holds is not remembered. Confined to its partition's fold.
     */
    private static final class ShardFold {
        final String aggregate;
        private final Findings findings;
        private boolean evicting;
        private @Nullable DeletionIssued deletion;

        ShardFold(String aggregate, Findings findings) {
            this.aggregate = aggregate;
            this.findings = findings;
        }

        /** Facts of other types say nothing about evictions. */
        void decision(Fact decision, Cause cause) {
            if (decision instanceof WaterLevelCrossed) {
                evicting = true;
            } else if (decision instanceof WaterLevelRelieved) {
                evicting = false;
            } else if (decision instanceof DeletionIssued f) {
                issued(f, cause);
            } else if (decision instanceof DeletionEnded f) {
                ended(f);
            } else if (decision instanceof BlocksRemoved f && f.tier() == Tier.STORE && f.reason() == RemovalReason.WATER_LEVEL) {
                removed(f, cause);
            }
        }

        private void issued(DeletionIssued f, Cause cause) {
            if (!evicting) {
                findings.say(Invariant.I11, "objects are to leave " + aggregate + ", which is not above its mark");
            }
            if (deletion != null || !cause.gives(aggregate, f.deletion())) {
                findings.say(Invariant.I12, "deletion " + f.deletion() + " begins, and its id is not new or another one goes on: " + deletion);
            }
            deletion = f;
        }

        private void ended(DeletionEnded f) {
            DeletionIssued begun = deletion;
            if (begun == null || !begun.deletion().equals(f.deletion())) {
                findings.say(Invariant.I12, "deletion " + f.deletion() + " ends, which is not in flight");
            } else if (f.deletedBlocks() + f.keptBlocks() != begun.objects().stream().mapToInt(one -> one.blocks().size()).sum()) {
                findings.say(Invariant.I12, "deletion " + f.deletion() + " ends with another number of objects than it began with");
            }
            deletion = null;
        }

        /** An object leaves for the mark only when an agent reports it gone. */
        private void removed(BlocksRemoved f, Cause cause) {
            Set<Bytes> gone = new LinkedHashSet<>();
            if (cause.event instanceof ObjectsDeleted e) {
                for (ShardResults results : e.objects()) {
                    if (results.namespace().equals(f.namespace())) {
                        results.blocks().stream().filter(ShardFold::isGone).forEach(result -> gone.add(result.block().key()));
                    }
                }
            }
            f.blocks().stream().filter(block -> !gone.contains(block.key())).findFirst().ifPresent(block -> findings.say(Invariant.I13,
                    "block " + block.key() + " leaves " + aggregate + ", and the event that it answers does not report it gone"));
        }

        private static boolean isGone(BlockResult result) {
            return result.status() == BlockStatus.GONE || result.reason() == OperationReason.STALE_GENERATION;
        }

        void state(FoldBytes io) {
            evicting = io.bool(evicting);
            DeletionIssued open = deletion;
            if (io.bool(open != null)) {
                deletion = io.record(DeletionIssued.TYPE, open);
            }
        }

        void atRest() {
            DeletionIssued open = deletion;
            if (open != null) {
                findings.say(Invariant.I6, "at rest deletion " + open.deletion() + " goes on");
            }
        }
    }
}
