/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.feed;

import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
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
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The records that a fact adds to the compacted topic of placements. Without state.
 *
 * <p>A placement is published when it serves and withdrawn when it is gone. For readers, the incarnation of a node ends with a higher
 * holderIncarnation or with the tombstones of its cleanup, whichever they see first.
 */
public final class PlacementFeed {
    private PlacementFeed() {}

    /**
     * One record for the topic.
     *
     * @param namespace digest of the namespace: the topic is partitioned by it and the block
     * @param block key of the block
     * @param location owner of the copy and its tier, for example node/a/HOST
     * @param placement the copy; null to withdraw it
     */
    public record Publication(Bytes namespace, Bytes block, String location, @Nullable Placement placement) {
        /** Key of the record: digest of the namespace, key of the block, location. */
        public Bytes key() {
            byte[] text = location.getBytes(StandardCharsets.UTF_8);
            byte[] key = new byte[namespace.size() + block.size() + text.length];
            System.arraycopy(namespace.unshared(), 0, key, 0, namespace.size());
            System.arraycopy(block.unshared(), 0, key, namespace.size(), block.size());
            System.arraycopy(text, 0, key, namespace.size() + block.size(), text.length);
            return Bytes.wrapUnshared(key);
        }
    }

    /**
     * The epoch of a node as published to every partition of the topic, so that a reader of one partition can tell which placements count.
     *
     * @param key key of the record: the node's aggregate, UTF-8;
     * @param epoch the node's epoch
     */
    public record EpochRecord(Bytes key, NodeEpoch epoch) {}

    /** The epoch that {@code fact} begins or ends, or whose view it changes; empty when it does none of them. */
    public static Optional<EpochRecord> epoch(Fact fact) {
        if (fact instanceof AgentAccepted f) {
            return Optional.of(epoch(f, new NodeEpoch(f.envelope(), f.node(), f.newIncarnation(), true, f.peerAddress(), 0, List.of())));
        } else if (fact instanceof NodeEnded f) {
            return Optional.of(epoch(f, new NodeEpoch(f.envelope(), node(f), f.endedIncarnation(), false, null, 0, List.of())));
        } else if (fact instanceof EngineViewNoted f) {
            return Optional.of(epoch(f, new NodeEpoch(f.envelope(), node(f), f.envelope().incarnation(), true, null, f.view(),
                    f.unknownNamespaces())));
        }
        return Optional.empty();
    }

    private static String node(Fact fact) {
        return fact.envelope().aggregate().substring(Aggregates.NODE.length());
    }

    private static EpochRecord epoch(Fact fact, NodeEpoch epoch) {
        return new EpochRecord(Bytes.wrapUnshared(fact.envelope().aggregate().getBytes(StandardCharsets.UTF_8)), epoch);
    }

    /** The records that {@code fact} leads to, in order. */
    public static List<Publication> of(Fact fact) {
        return switch (fact) {
            case BlocksPlaced placed -> placed(placed);
            case BlocksRemoved removed -> removed(removed);
            case PartitionOpened _, CoreVersionRaised _,
                    TimeAdvanced _, InputSkipped _, InputRefused _, InputApplied _, SweepAdvanced _, AgentAccepted _,
                    AgentRefused _, NodeEnded _, NodeExpired _, NamespacesExpired _, NodeSeen _, EngineJoined _, EngineLeft _,
                    RequestAdmitted _, RequestTransitioned _, SealedNoted _, BlocksTouched _,
                    OperationIssued _, OperationOverdue _, OperationEnded _, OrphanAdopted _,
                    LeaseRequested _, LeaseHeld _, LeaseEnded _, BlocksBackedUp _, BlocksUnconfirmed _, WaterLevelCrossed _, WaterLevelRelieved _,
                    StoreAgentNamed _, DeletionIssued _, DeletionEnded _,
                    PolicyVersioned _, PolicyRefused _, PolicyAdopted _, ConfigWarning _, GroupsAdvanced _, QuotaExceeded _,
                    MigrationSubmitted _, MigrationRejected _, MigrationCompleted _, MarkAdded _, MarkConsumed _, MarkExpired _,
                    MarkCleared _, DrainChanged _, DrainAdvanced _, NodeDrained _, MigrationOpened _, MigrationDeclined _, MigrationTaken _,
                    MigrationStopping _, MigrationNoted _, MigrationChanged _, PromotionAnswered _, PromotionsPaused _, PromotionSettled _,
                    PeerReadGranted _, PeerReadRefused _, PeerReadRecalled _, PeerReadClosed _, EngineViewNoted _ -> List.of();
        };
    }

    private static List<Publication> placed(BlocksPlaced fact) {
        Bytes namespace = Namespaces.digest(fact.namespace());
        String location = location(fact, fact.tier());
        List<Publication> publications = new ArrayList<>(fact.blocks().size());
        for (PagedBlock block : fact.blocks()) {
            Placement placement = new Placement(fact.envelope(), fact.namespace(), block.block(), fact.envelope().aggregate(), fact.tier(),
                    fact.envelope().incarnation(), block.page(), block.generation(), block.crc32c());
            publications.add(new Publication(namespace, block.block().key(), location, placement));
        }
        return publications;
    }

    private static List<Publication> removed(BlocksRemoved fact) {
        Bytes namespace = Namespaces.digest(fact.namespace());
        String location = location(fact, fact.tier());
        List<Publication> publications = new ArrayList<>(fact.blocks().size());
        for (Block block : fact.blocks()) {
            publications.add(new Publication(namespace, block.key(), location, null));
        }
        return publications;
    }

    private static String location(Fact fact, Tier tier) {
        return fact.envelope().aggregate() + "/" + tier;
    }
}
