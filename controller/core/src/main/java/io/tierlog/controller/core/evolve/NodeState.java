/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.state.EngineRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PromotionsRow;
import io.tierlog.schemas.state.SweepRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node's row while a fact changes it. Confined to one call of evolve. */
public final class NodeState {
    final String processId;
    final long incarnation;
    boolean alive;
    long lastHeartbeatTick;
    long lastSequence;
    int lastCrc32c;
    long commandSequence;
    final Bytes layoutDigest;
    final boolean foreign;
    final int sessionTicks;
    long expiryMs;
    long engineEpoch;
    final List<EngineRow> engines;
    final List<TierState> tiers = new ArrayList<>();
    @Nullable SweepRow sweep;
    public final Shares shares;
    /** Counts of promotions and peer reads; null when this incarnation has had none. */
    public @Nullable PromotionsRow promotions;

    /** Use of one tier. */
    static final class TierState {
        final Tier tier;
        final long capacityBlocks;
        final long blockBytes;
        long usedBlocks;
        long leavingBlocks;
        boolean inRelief;
        int drops;
        int copies;
        long refusedMs = -1;

        TierState(Tier tier, long capacityBlocks, long blockBytes) {
            this.tier = tier;
            this.capacityBlocks = capacityBlocks;
            this.blockBytes = blockBytes;
        }

        TierState(TierRow row) {
            this(row.tier(), row.capacityBlocks(), row.blockBytes());
            usedBlocks = row.usedBlocks();
            leavingBlocks = row.leavingBlocks();
            inRelief = row.inRelief();
            drops = row.drops();
            copies = row.copies();
            refusedMs = row.refusedMs();
        }

        public TierRow toRow() {
            return new TierRow(tier, capacityBlocks, blockBytes, usedBlocks, leavingBlocks, inRelief, drops, copies, refusedMs);
        }
    }

    private NodeState(NodeRow row) {
        processId = row.processId();
        incarnation = row.incarnation();
        alive = row.alive();
        lastHeartbeatTick = row.lastHeartbeatTick();
        lastSequence = row.lastSequence();
        lastCrc32c = row.lastCrc32c();
        commandSequence = row.commandSequence();
        layoutDigest = row.layoutDigest();
        foreign = row.foreign();
        sessionTicks = row.sessionTicks();
        expiryMs = row.expiryMs();
        engineEpoch = row.engineEpoch();
        engines = new ArrayList<>(row.engines());
        for (TierRow tier : row.tiers()) {
            tiers.add(new TierState(tier));
        }
        sweep = row.sweep();
        shares = Shares.of(row.shares());
        promotions = row.promotions();
    }

    private NodeState(AgentAccepted fact, @Nullable NodeRow last) {
        processId = fact.processId();
        incarnation = fact.newIncarnation();
        alive = true;
        commandSequence = fact.commandSequence();
        layoutDigest = fact.layoutDigest();
        foreign = fact.foreign();
        sessionTicks = fact.policy().nodeTimeoutTicks();
        engines = new ArrayList<>();
        fact.tiers().forEach(tier -> tiers.add(new TierState(tier.tier(), tier.capacityBlocks(), tier.blockBytes())));
        sweep = last == null ? null : last.sweep();
        shares = Shares.of(last == null ? null : last.shares());
        shares.restart();
    }

    public static NodeState of(NodeRow row) {
        return new NodeState(row);
    }

    /** A new incarnation: its memory is empty and it has no engine; rows of earlier incarnations are still cleaned up. */
    static NodeState accepted(AgentAccepted fact, @Nullable NodeRow last) {
        return new NodeState(fact, last);
    }

    /** The tier's use; a tier that was not registered is counted too, with no capacity. */
    TierState tier(Tier tier) {
        for (TierState candidate : tiers) {
            if (candidate.tier == tier) {
                return candidate;
            }
        }
        TierState added = new TierState(tier, 0, 0);
        tiers.add(added);
        return added;
    }

    public NodeRow toRow() {
        List<TierRow> tierRows = new ArrayList<>(tiers.size());
        for (TierState tier : tiers) {
            tierRows.add(tier.toRow());
        }
        return new NodeRow(processId, incarnation, alive, lastHeartbeatTick, lastSequence, commandSequence, layoutDigest, engineEpoch, engines,
                tierRows, sweep, shares.toRow(), promotions, lastCrc32c, foreign, sessionTicks, expiryMs);
    }
}
