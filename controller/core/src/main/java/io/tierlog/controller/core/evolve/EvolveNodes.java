/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.SweepPhase;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.AppliedInput;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.EngineJoined;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.state.EngineRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.SweepRow;

/** Facts about nodes: registration, epochs and removal. Without state. */
final class EvolveNodes {
    private EvolveNodes() {}

    /** The fact carries the number of the event that led to it. */
    static void taken(Tables t, Fact fact, AppliedInput taken) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.lastSequence = taken.sequence();
        node.lastCrc32c = taken.crc32c();
        node.lastHeartbeatTick = taken.ticks();
        node.commandSequence = taken.commandSequence();
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void accepted(Tables t, AgentAccepted fact) {
        NodeRow last = t.get(Rows.NODES, Evolve.key(fact));
        if (last != null && last.alive()) {
            if (last.incarnation() != fact.newIncarnation() || !last.processId().equals(fact.processId())) {
                throw new IllegalHistory("Incarnation " + fact.newIncarnation() + " begins while " + last.incarnation() + " lives");
            }
            return;
        }
        if (fact.newIncarnation() != (last == null ? Evolve.clockOf(t, fact).expiredIncarnation() : last.incarnation()) + 1) {
            throw new IllegalHistory("Incarnation " + fact.newIncarnation() + " does not follow the last one");
        }
        if (last != null) {
            EvolveExpiry.back(t, fact, last);
        }
        NodeState node = NodeState.accepted(fact, last);
        node.shares.regrouped(Evolve.policyVersion(t, fact)); // its copies come under the policy in force
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
        t.put(Rows.MEMBERS, member(fact), Rows.ENTRY);
    }

    private static RowKey.Text member(Fact fact) {
        return new RowKey.Text(Aggregates.clockOf(fact.envelope().sender()), fact.envelope().aggregate());
    }

    static void ended(Tables t, NodeEnded fact) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        if (!node.alive || node.incarnation != fact.endedIncarnation()) {
            throw new IllegalHistory("Incarnation " + fact.endedIncarnation() + " ends, which does not live");
        }
        node.alive = false;
        node.sweep = new SweepRow(fact.endedIncarnation(), fact.reason(), SweepPhase.REQUESTS.number(), Bytes.EMPTY);
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void swept(Tables t, SweepAdvanced fact) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        SweepRow sweep = node.sweep;
        if (sweep == null) {
            throw new IllegalHistory("A sweep goes on that never began");
        }
        node.sweep = fact.done() ? null : new SweepRow(sweep.through(), sweep.reason(), fact.phase(), fact.cursor());
        if (fact.done() && !node.alive) {
            // No tick has anything to do for it any more.
            t.delete(Rows.MEMBERS, member(fact));
            node.expiryMs = EvolveExpiry.ended(t, fact);
        }
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void joined(Tables t, EngineJoined fact) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.engines.removeIf(engine -> engine.instance().equals(fact.instance()));
        node.engines.add(new EngineRow(fact.instance(), fact.deviceBlocks()));
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void left(Tables t, EngineLeft fact) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.engines.removeIf(engine -> engine.instance().equals(fact.instance()));
        node.engineEpoch++;
        NodeState.TierState device = node.tier(Tier.DEVICE);
        device.usedBlocks = 0;
        device.leavingBlocks = 0;
        SweepRow sweep = node.sweep;
        if (sweep == null) {
            node.sweep = new SweepRow(0, RemovalReason.ENGINE_EVICTED, SweepPhase.PLACEMENTS.number(), Bytes.EMPTY);
        } else if (sweep.phase() == SweepPhase.PLACEMENTS.number()) {
            SweepRow.Edit again = sweep.edit();
            again.cursor = Bytes.EMPTY;
            node.sweep = again.row();
        }
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void inRelief(Tables t, Fact fact, String group, Tier tier, boolean inRelief) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        if (group.isEmpty()) {
            node.tier(tier).inRelief = inRelief;
        } else {
            node.shares.inRelief(group, tier, inRelief);
        }
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }
}
