/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.export;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * When each block served where, from the decisions of one partition: a placement begins when its blocks are placed, and ends when they are removed,
 * placed again, or lost with their engine or the incarnation of their node. Confined to one thread. Memory: the placements that serve.
 */
final class PlacementIntervals {
    private final Map<String, Map<Tier, Map<BlockId, Begun>>> serving = new TreeMap<>();
    private final Consumer<Interval> sink;

    private record BlockId(String namespace, Bytes key) {}

    /** The decision that began a placement. */
    record Begun(int index, int page, long generation, @Nullable String operation, At at) {}

    /** A decision. */
    record At(long offset, long timeMs) {}

    /**
     * A placement.
     *
     * @param aggregate node/ID or store/SHARD
     * @param end the decision that ended it; null when it serves at the end
     * @param reason why it ended: a removal reason, or one of this class; null when it serves at the end
     */
    record Interval(String aggregate, Tier tier, String namespace, Bytes key, Begun begun, @Nullable At end, @Nullable String reason) {}

    PlacementIntervals(Consumer<Interval> sink) {
        this.sink = sink;
    }

    void fact(Fact fact, At at) {
        String aggregate = fact.envelope().aggregate();
        // Facts of other types neither begin nor end placements.
        switch (fact) {
            case BlocksPlaced f -> {
                Map<BlockId, Begun> here = tier(aggregate, f.tier());
                for (PagedBlock block : f.blocks()) {
                    BlockId id = new BlockId(f.namespace(), block.block().key());
                    Begun before = here.put(id, new Begun(block.block().index(), block.page(), block.generation(), f.operation(), at));
                    if (before != null) {
                        end(aggregate, f.tier(), id, before, at, "PLACED_AGAIN");
                    }
                }
            }
            case BlocksRemoved f -> {
                Map<BlockId, Begun> here = tier(aggregate, f.tier());
                for (Block block : f.blocks()) {
                    BlockId id = new BlockId(f.namespace(), block.key());
                    Begun before = here.remove(id);
                    if (before != null) {
                        end(aggregate, f.tier(), id, before, at, f.reason().name());
                    }
                }
            }
            case EngineLeft _ -> endAll(aggregate, List.of(Tier.DEVICE), at, "ENGINE_LEFT");
            case NodeEnded f -> endAll(aggregate, List.of(Tier.values()), at, f.reason().name());
            case AgentAccepted _ -> endAll(aggregate, List.of(Tier.values()), at, "NEW_INCARNATION");
            default -> {}
        }
    }

    /** The log has no more decisions: what serves has no end. */
    void finish() {
        serving.forEach((aggregate, tiers) -> tiers.forEach((tier, blocks) -> blocks.forEach(
                (id, begun) -> sink.accept(new Interval(aggregate, tier, id.namespace(), id.key(), begun, null, null)))));
    }

    private Map<BlockId, Begun> tier(String aggregate, Tier tier) {
        return serving.computeIfAbsent(aggregate, a -> new EnumMap<>(Tier.class)).computeIfAbsent(tier, t -> new LinkedHashMap<>());
    }

    private void endAll(String aggregate, List<Tier> tiers, At at, String reason) {
        for (Tier tier : tiers) {
            Map<BlockId, Begun> here = tier(aggregate, tier);
            here.forEach((id, begun) -> end(aggregate, tier, id, begun, at, reason));
            here.clear();
        }
    }

    private void end(String aggregate, Tier tier, BlockId id, Begun begun, At at, String reason) {
        sink.accept(new Interval(aggregate, tier, id.namespace(), id.key(), begun, at, reason));
    }
}
