/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
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
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PolicyRow;

/** How each fact changes the state: one short case for each fact, in the class of the rows that it changes. Without state. */
public final class Evolve {
    private Evolve() {}

    public static void apply(Tables tables, Fact fact) {
        try {
            change(tables, fact);
            AppliedInput taken = fact.envelope().taken();
            if (taken != null) {
                EvolveNodes.taken(tables, fact, taken);
            }
        } catch (IllegalHistory e) {
            throw new IllegalHistory(fact, e);
        }
    }

    private static void change(Tables t, Fact fact) {
        switch (fact) {
            case PartitionOpened f -> open(t, f);
            case CoreVersionRaised f -> raise(t, f);
            case TimeAdvanced f -> advance(t, f);
            case PolicyVersioned f -> t.put(Rows.POLICY, key(f), new PolicyRow(f.version(), f.policy()));
            case PolicyAdopted f -> adopt(t, f);
            case SweepAdvanced f -> EvolveNodes.swept(t, f);
            case AgentAccepted f -> EvolveNodes.accepted(t, f);
            case NodeEnded f -> EvolveNodes.ended(t, f);
            case NodeExpired f -> EvolveExpiry.expired(t, f);
            case NamespacesExpired f -> EvolveExpiry.expired(t, f);
            case EngineJoined f -> EvolveNodes.joined(t, f);
            case EngineLeft f -> EvolveNodes.left(t, f);
            case WaterLevelCrossed f when f.tier() == Tier.STORE -> EvolveStore.inRelief(t, f, f.capacityBlocks());
            case WaterLevelCrossed f -> EvolveNodes.inRelief(t, f, f.group(), f.tier(), true);
            case WaterLevelRelieved f when f.tier() == Tier.STORE -> EvolveStore.inRelief(t, f, 0);
            case WaterLevelRelieved f -> EvolveNodes.inRelief(t, f, f.group(), f.tier(), false);
            case StoreAgentNamed f -> EvolveStore.named(t, f);
            case DeletionIssued f -> EvolveStore.issued(t, f);
            case DeletionEnded f -> EvolveStore.ended(t, f);
            case RequestAdmitted f -> EvolveRequests.admitted(t, f);
            case RequestTransitioned f -> EvolveRequests.transitioned(t, f);
            case SealedNoted f -> EvolveRequests.sealed(t, f);
            case OperationIssued f -> EvolveOperations.issued(t, f);
            case OperationOverdue f -> EvolveOperations.overdue(t, f);
            case OperationEnded f -> EvolveOperations.ended(t, f);
            case LeaseRequested f -> EvolveOperations.leaseRequested(t, f);
            case LeaseHeld f -> EvolveOperations.leaseHeld(t, f);
            case LeaseEnded f -> EvolveOperations.leaseEnded(t, f);
            case BlocksPlaced f -> EvolvePlacements.placed(t, f);
            case BlocksTouched f -> EvolvePlacements.touched(t, f);
            case BlocksBackedUp f -> EvolvePlacements.backedUp(t, f);
            case BlocksUnconfirmed f -> EvolvePlacements.unconfirmed(t, f);
            case BlocksRemoved f -> EvolvePlacements.removed(t, f);
            case GroupsAdvanced f -> EvolveGroups.advanced(t, f);
            case MarkAdded f -> EvolveMarks.added(t, f);
            case MarkConsumed f -> EvolveMarks.consumed(t, f);
            case MarkExpired f -> EvolveMarks.expired(t, f);
            case MarkCleared f -> EvolveMarks.cleared(t, f);
            case DrainChanged f -> EvolveMigrations.drain(t, f);
            case DrainAdvanced f -> EvolveMigrations.drainAdvanced(t, f);
            case NodeDrained f -> EvolveMigrations.drained(t, f);
            case MigrationOpened f -> EvolveMigrations.opened(t, f);
            case MigrationTaken f -> EvolveMigrations.taken(t, f);
            case MigrationStopping f -> EvolveMigrations.stopping(t, f);
            case MigrationNoted f -> EvolveMigrations.noted(t, f);
            case MigrationChanged f -> EvolveMigrations.changed(t, f);
            case MigrationCompleted f -> EvolveMigrations.completed(t, f);
            case PromotionAnswered f -> EvolvePromotions.answered(t, f);
            case PromotionsPaused f -> EvolvePromotions.paused(t, f);
            case PromotionSettled f -> EvolvePromotions.settled(t, f);
            case PeerReadGranted f -> EvolvePeerReads.granted(t, f);
            case PeerReadRefused f -> EvolvePeerReads.refused(t, f);
            case PeerReadRecalled f -> EvolvePeerReads.recalled(t, f);
            case PeerReadClosed f -> EvolvePeerReads.closed(t, f);
            // These facts are recorded for readers of the log; no decision depends on them.
            case InputSkipped _, InputRefused _, InputApplied _, AgentRefused _, NodeSeen _, OrphanAdopted _, PolicyRefused _, ConfigWarning _,
                    QuotaExceeded _, MigrationSubmitted _, MigrationRejected _, MigrationDeclined _, EngineViewNoted _ -> {}
        }
    }

    private static void open(Tables t, PartitionOpened fact) {
        if (t.get(Rows.CLOCK, key(fact)) != null) {
            throw new IllegalHistory("The partition was opened before");
        }
        t.put(Rows.CLOCK, key(fact), ClockRows.opened(fact.coreVersion()));
    }

    private static void raise(Tables t, CoreVersionRaised fact) {
        ClockRow clock = clock(t, fact);
        if (fact.coreVersion() <= clock.coreVersion()) {
            throw new IllegalHistory("Core version " + fact.coreVersion() + " comes after " + clock.coreVersion());
        }
        t.put(Rows.CLOCK, key(fact), ClockRows.raised(clock, fact.coreVersion()));
    }

    private static void advance(Tables t, TimeAdvanced fact) {
        ClockRow clock = clock(t, fact);
        if (fact.logTimeMs() < clock.logTimeMs() || fact.ticks() < clock.ticks()) {
            throw new IllegalHistory("Time goes backwards from " + clock.logTimeMs() + " to " + fact.logTimeMs());
        }
        t.put(Rows.CLOCK, key(fact), ClockRows.at(clock, fact.logTimeMs(), fact.ticks(), fact.counter()));
        RowExpiry.run(t, key(fact));
    }

    private static void adopt(Tables t, PolicyAdopted fact) {
        ClockRow clock = clock(t, fact);
        if (fact.version() <= clock.policyVersion()) {
            throw new IllegalHistory("Policy version " + fact.version() + " comes after " + clock.policyVersion());
        }
        t.put(Rows.CLOCK, key(fact), ClockRows.with(clock, fact.version(), fact.policy()));
    }

    /** The policy that is in force in the partition of the fact. */
    static Policy policy(Tables t, Fact fact) {
        return clockOf(t, fact).policy();
    }

    /** Its version. */
    static long policyVersion(Tables t, Fact fact) {
        return clockOf(t, fact).policyVersion();
    }

    /** The clock of the fact's partition. */
    static ClockRow clockOf(Tables t, Fact fact) {
        ClockRow clock = t.get(Rows.CLOCK, new RowKey.Aggregate(Aggregates.clockOf(fact.envelope().sender())));
        if (clock == null) {
            throw new IllegalHistory("The partition was never opened");
        }
        return clock;
    }

    private static ClockRow clock(Tables t, Fact fact) {
        ClockRow clock = t.get(Rows.CLOCK, key(fact));
        if (clock == null) {
            throw new IllegalHistory("The partition was never opened");
        }
        return clock;
    }

    /** Key of the aggregate that the fact is about. */
    static RowKey.Aggregate key(Fact fact) {
        return new RowKey.Aggregate(fact.envelope().aggregate());
    }

    /** Records the number of the last command to the node, where no event of its own carries that number. */
    static void numbered(Tables t, Fact fact, long commandSequence) {
        NodeState node = NodeState.of(node(t, fact));
        node.commandSequence = commandSequence;
        t.put(Rows.NODES, key(fact), node.toRow());
    }

    /** The node that the fact is about. */
    static NodeRow node(Tables t, Fact fact) {
        NodeRow row = t.get(Rows.NODES, key(fact));
        if (row == null) {
            throw new IllegalHistory(fact.envelope().aggregate() + " is not known");
        }
        return row;
    }
}
