/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.EngineViewNoted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRecalled;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.SealedNoted;
import io.tierlog.schemas.decision.StoreAgentNamed;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One node: its incarnations, and the folds of their leases, operations and placements. Confined to its partition's fold. */
final class NodeFold {
    final String aggregate;
    final Findings findings;
    final Requests requests = new Requests(this);
    final Leases leases = new Leases(this);
    final Operations operations;
    final Copies copies = new Copies(this);
    final Migrations migrations = new Migrations(this);
    final Promotions promotions = new Promotions(this);
    final Map<Tier, Long> capacities = new EnumMap<>(Tier.class);
    private long incarnation;
    private boolean alive;
    private boolean foreign;
    private boolean sweeping;
    private long endedAt;
    private @Nullable AgentFold agent;

    /**
     * The state of the partition.
     *
     * @param timeMs log time, milliseconds since 1970
     * @param policy the policy in force
     */
    record Situation(long timeMs, Policy policy) {}

    /** A node that begins above an incarnation: that of the nodes that have expired. */
    NodeFold(String aggregate, Findings findings, PartitionFold.Counts counts, long above) {
        this.incarnation = above;
        this.aggregate = aggregate;
        this.findings = findings;
        this.operations = new Operations(this, counts);
    }

    /** The current incarnation, or the last one. */
    long incarnation() {
        return incarnation;
    }

    /** Whether a row of that incarnation belongs to one that has ended: the cleanup of fenced rows ends it. */
    boolean isStale(long rowIncarnation) {
        return rowIncarnation < incarnation || !alive;
    }

    /** Whether it is an engine that a bridge listens to. */
    boolean isForeign() {
        return foreign;
    }

    /** Applies an event of the agent; only the registered incarnation counts. */
    void event(Event event, @Nullable Ending ending) {
        AgentFold fold = agent;
        if (fold != null && fold.isSender(event.envelope())) {
            fold.event(event, ending);
        }
    }

    void decision(Fact decision, Cause cause, Situation situation) {
        switch (decision) {
            case AgentAccepted f -> accepted(f, cause);
            case NodeEnded f -> ended(f);
            case SweepAdvanced f -> swept(f);
            case NodeExpired f -> expired(f);
            case EngineLeft _ -> copies.clear(Tier.DEVICE);
            case NodeSeen f -> seen(f, cause);
            case RequestAdmitted f -> requests.admitted(f, cause);
            case RequestTransitioned f -> requests.transitioned(f);
            case LeaseRequested f -> leases.requested(f, cause);
            case LeaseHeld f -> leases.held(f, cause);
            case LeaseEnded f -> leases.ended(f, situation.timeMs());
            case OperationIssued f -> {
                operations.issued(f, cause, situation.policy());
                migrations.issued(f);
                promotions.issued(f);
            }
            case OperationOverdue f -> operations.overdue(f, situation.timeMs());
            case OperationEnded f -> {
                operations.ended(f, cause);
                migrations.ended(f);
                promotions.ended(f);
            }
            case MigrationSubmitted f -> migrations.submitted(f);
            case MigrationCompleted f -> migrations.completed(f);
            case MigrationStopping f -> operations.commandRises(f.commandSequence(), false);
            case PeerReadGranted f -> operations.commandRises(f.commandSequence(), false);
            case PeerReadRecalled f -> operations.commandRises(f.commandSequence(), false);
            case PeerReadRefused f -> operations.commandRises(f.commandSequence(), false);
            case OrphanAdopted f -> operations.adopted(f, cause);
            case BlocksPlaced f -> {
                copies.placed(f, cause);
                promotions.placed(f);
            }
            case BlocksBackedUp f -> copies.backedUp(f, cause);
            case BlocksUnconfirmed f -> copies.unconfirmed(f);
            case BlocksRemoved f -> {
                copies.removed(f, cause);
                promotions.removed(f);
            }
            case PromotionSettled f -> promotions.settled(f);
            // Nothing of what is folded here follows from these.
            case PartitionOpened _, CoreVersionRaised _,
                    TimeAdvanced _, InputSkipped _, InputRefused _, InputApplied _, AgentRefused _, EngineJoined _,
                    EngineViewNoted _, SealedNoted _, BlocksTouched _, WaterLevelCrossed _, WaterLevelRelieved _, PolicyVersioned _, PolicyRefused _,
                    PolicyAdopted _, ConfigWarning _, GroupsAdvanced _, QuotaExceeded _, MigrationRejected _, MarkAdded _, MarkConsumed _,
                    MarkExpired _, MarkCleared _, DrainChanged _, DrainAdvanced _, NodeDrained _, MigrationOpened _, MigrationDeclined _,
                    MigrationTaken _, MigrationNoted _, MigrationChanged _, PromotionAnswered _, PromotionsPaused _, PeerReadClosed _,
                    NamespacesExpired _, StoreAgentNamed _, DeletionIssued _, DeletionEnded _ -> {}
        }
    }

    private void accepted(AgentAccepted f, Cause cause) {
        boolean sameIncarnation = alive && f.newIncarnation() == incarnation;
        if (!sameIncarnation && (alive || f.newIncarnation() != incarnation + 1)) {
            findings.say(Invariant.I13, "incarnation " + f.newIncarnation() + " begins while " + incarnation + (alive ? " lives" : " was the last"));
        }
        if (cause.event instanceof AgentRegistering e && !(e.processId().equals(f.processId()) && e.tiers().equals(f.tiers())
                && e.foreign() == f.foreign()
                && e.layoutDigest().equals(f.layoutDigest()) && e.configurationDigest().equals(f.configurationDigest()))) {
            findings.say(Invariant.I13, "it accepts something else than what was registered");
        }
        foreign = f.foreign();
        if (sameIncarnation) {
            return;
        }
        incarnation = f.newIncarnation();
        alive = true;
        copies.clear();
        capacities.clear();
        for (TierCapacity tier : f.tiers()) {
            capacities.put(tier.tier(), tier.capacityBlocks());
        }
        agent = new AgentFold(findings, "agent/" + f.node() + "/" + f.processId(), incarnation, capacities);
    }

    private void ended(NodeEnded f) {
        if (!alive || f.endedIncarnation() != incarnation) {
            findings.say(Invariant.I13, "incarnation " + f.endedIncarnation() + " ends, which does not live");
        }
        alive = false;
        sweeping = true;
        endedAt = findings.offset();
        agent = null;
        copies.clear();
        promotions.clear();
    }

    /** The rows of earlier incarnations are cleaned up: none of their operations or leases may be open any more. */
    private void swept(SweepAdvanced f) {
        if (f.done() && sweeping) {
            sweeping = false;
            requests.swept();
            operations.swept();
            leases.swept();
        }
    }

    /** Only a node that nothing is left of may be forgotten: what went on would never end. */
    private void expired(NodeExpired f) {
        if (alive || sweeping || f.lastIncarnation() != incarnation || operations.unfinished() > 0) {
            findings.say(Invariant.I13, "it is forgotten, and its incarnation " + incarnation + " lives, is cleaned up or has unfinished operations");
        }
    }

    private void seen(NodeSeen f, Cause cause) {
        if (cause.event instanceof AgentHeartbeat e && !e.usage().equals(f.usage())) {
            findings.say(Invariant.I4, "it says another use than the heartbeat that it answers");
        }
    }

    /** What an event leads to has all been seen. */
    void closeCause() {
        requests.closeCause();
        migrations.closeCause();
        promotions.closeCause();
    }

    void state(FoldBytes io) {
        incarnation = io.int64(incarnation);
        alive = io.bool(alive);
        foreign = io.bool(foreign);
        sweeping = io.bool(sweeping);
        endedAt = io.int64(endedAt);
        io.map(capacities, tier -> io.symbol(Tier.class, tier), blocks -> io.int64(blocks == null ? 0 : blocks));
        requests.state(io);
        leases.state(io);
        operations.state(io);
        copies.state(io);
        migrations.state(io);
        promotions.state(io);
        AgentFold fold = agent;
        if (io.bool(fold != null)) {
            String sender = io.text(fold == null ? null : fold.sender());
            agent = fold == null ? new AgentFold(findings, sender, incarnation, capacities) : fold;
            agent.state(io);
        }
    }

    void atRest() {
        if (sweeping) {
            findings.sayOfDecision(Invariant.I6, endedAt, "at rest the sweep of " + aggregate + " is not done");
        }
        requests.atRest();
        operations.atRest();
        leases.atRest();
        AgentFold fold = agent;
        if (fold != null && alive) {
            fold.atRest(operations.commandSequence());
        }
    }

    /** Whether a decision and the event it answers belong to the same incarnation. */
    static boolean sameIncarnation(Envelope decision, Cause cause) {
        return cause.event == null || cause.event.envelope().incarnation() == decision.incarnation();
    }
}
