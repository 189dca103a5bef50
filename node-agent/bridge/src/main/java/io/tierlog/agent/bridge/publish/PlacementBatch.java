/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.agent.bridge.source.InstanceName;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * What one fact changes in the placements of one node or store shard. Made of that fact alone, so that a replay repeats the live stream. Immutable.
 *
 * @param instance name of the node, or the pool that the store is
 * @param namespace of all its blocks
 * @param timeMs log time, milliseconds since 1970
 * @param changes none for tiers that are not published
 */
record PlacementBatch(String instance, String namespace, long timeMs, List<Change> changes) {
    private static final String NODE = "node/";
    private static final String POOL = "pool:store";

    /**
     * Blocks that came or went.
     *
     * @param parent key of the block before the first; empty at the root, and when they went
     * @param keys of blocks that follow each other in one prompt when they came
     */
    record Change(boolean stored, Tier tier, Bytes parent, List<Bytes> keys) {}

    /** The batch of a fact; without changes for facts about anything else, and about other tiers. */
    static PlacementBatch of(Fact fact, Set<Tier> tiers) {
        String instance = instance(fact.envelope().aggregate());
        return switch (fact) {
            case BlocksPlaced placed -> new PlacementBatch(instance, placed.namespace(), placed.envelope().timeMs(),
                    tiers.contains(placed.tier()) ? chains(placed.tier(), placed.blocks()) : List.of());
            case BlocksRemoved removed -> new PlacementBatch(instance, removed.namespace(), removed.envelope().timeMs(),
                    tiers.contains(removed.tier()) ? gone(removed) : List.of());
            default -> new PlacementBatch(instance, "", fact.envelope().timeMs(), List.of());
        };
    }

    /** The instance that an aggregate is to subscribers: a node by its name, and all shards of the store are one pool. */
    static String instance(String aggregate) {
        return aggregate.startsWith(NODE) ? aggregate.substring(NODE.length()) : POOL;
    }

    /**
     * Whether an aggregate is an engine that a bridge listens to. Those publish their own events; to repeat them would also send them round between
     * two bridges.
     */
    static boolean isForeign(String aggregate) {
        return aggregate.startsWith(NODE + InstanceName.FOREIGN);
    }

    /** The topic of its message. */
    String topic() {
        return "kv@" + instance + "@" + namespace;
    }

    private static List<Change> gone(BlocksRemoved removed) {
        return List.of(new Change(false, removed.tier(), Bytes.EMPTY, removed.blocks().stream().map(Block::key).toList()));
    }

    /** One change for each chain; facts list chains up or down. */
    private static List<Change> chains(Tier tier, List<PagedBlock> blocks) {
        List<Change> chains = new ArrayList<>();
        List<Block> chain = new ArrayList<>();
        boolean down = false;
        for (PagedBlock each : blocks) {
            Block block = each.block();
            Block last = chain.isEmpty() ? block : chain.getLast();
            boolean below = block.parent().equals(last.key());
            boolean above = last.parent().equals(block.key());
            boolean goesOn = !chain.isEmpty() && (chain.size() == 1 ? below || above : down ? above : below);
            if (!goesOn && !chain.isEmpty()) {
                chains.add(change(tier, chain, down));
                chain = new ArrayList<>();
            } else if (chain.size() == 1) {
                down = above;
            }
            chain.add(block);
        }
        if (!chain.isEmpty()) {
            chains.add(change(tier, chain, down && chain.size() > 1));
        }
        return chains;
    }

    private static Change change(Tier tier, List<Block> chain, boolean down) {
        List<Block> rootFirst = new ArrayList<>(chain);
        if (down && chain.size() > 1) {
            Collections.reverse(rootFirst);
        }
        return new Change(true, tier, rootFirst.getFirst().parent(), rootFirst.stream().map(Block::key).toList());
    }
}
