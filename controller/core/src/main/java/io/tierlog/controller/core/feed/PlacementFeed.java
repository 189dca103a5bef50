/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.feed;

import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the compacted topic of placements is told of a fact. Without state.
 *
 * <p>A copy is published when it serves and withdrawn when it has gone. The life of a node ends for readers with a higher holderIncarnation
 * or the tombstones of its sweep, whichever they see first.
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
     * What every partition of the topic is told of the life of a node, so that whoever reads one of them knows which copies count.
     *
     * @param key key of the record: the node's aggregate, UTF-8;
     * @param life the node's life
     */
    public record Life(Bytes key, NodeEpoch life) {}

    /** The life that {@code fact} begins or ends; empty when it does neither. */
    public static Optional<Life> life(Fact fact) {
        return switch (fact) {
            case AgentAccepted f -> Optional.of(life(f, new NodeEpoch(f.envelope(), f.node(), f.newIncarnation(), true, f.peerAddress())));
            case NodeEnded f -> Optional.of(life(f, new NodeEpoch(f.envelope(), f.envelope().aggregate().substring(Aggregates.NODE.length()),
                    f.endedIncarnation(), false, null)));
            default -> Optional.empty();
        };
    }

    private static Life life(Fact fact, NodeEpoch life) {
        return new Life(Bytes.wrapUnshared(fact.envelope().aggregate().getBytes(StandardCharsets.UTF_8)), life);
    }

    /** The records that {@code fact} leads to, in order. */
    public static List<Publication> of(Fact fact) {
        return switch (fact) {
            case BlocksPlaced placed -> placed(placed);
            case BlocksRemoved removed -> removed(removed);
            default -> List.of();
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
