/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that an agent finds on its disk after a start, or still holds on disk and host when it registers again. They serve in the new
 * incarnation; whether the store has them too is unknown until the agent has checked. Without state.
 */
public final class Recovery {
    private Recovery() {}

    public static void decide(NodeContext n, BlocksRecovered e) {
        String broken = broken(n, e);
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        TierRow tier = n.tier(e.tier());
        if (tier == null) {
            n.refuse(e, RefusalReason.CONFIGURATION_MISMATCH,
                    "The node was registered without a " + e.tier() + " tier: register again and name it with its capacity");
            return;
        }
        if (e.tier() == Tier.HOST && e.blocks().stream().anyMatch(block -> block.page() < 0 || block.page() >= tier.capacityBlocks())) {
            n.refuse(e, RefusalReason.OVER_LIMIT, "Invalid recovery: pages of HOST are 0 to " + (tier.capacityBlocks() - 1));
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        List<PagedBlock> found = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            PlacementRow held = n.placement(namespace, e.tier(), block.block().key());
            if (held == null || held.generation() < block.generation()) {
                found.add(block);
            }
        }
        if (!found.isEmpty() && !n.refusesFull(e, found.size())) {
            n.fact(new BlocksPlaced(n.envelope(), e.tier(), e.namespace(), found, null, Tier.UNKNOWN, n.offset()));
        }
    }

    /** What the store has may leave the disk again. */
    public static void seen(NodeContext n, BlocksSeenStored e) {
        String broken = e.blocks().size() > n.limits().blocksPerDecision()
                ? "Invalid step of " + e.blocks().size() + " blocks: must have at most " + n.limits().blocksPerDecision()
                : Checks.blocks(n.limits(), e.namespace(), e.blocks());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        List<Block> news = e.blocks().stream()
                .filter(block -> isUnknown(n.placement(namespace, Tier.DISK, block.key()))
                        || isUnknown(n.placement(namespace, Tier.HOST, block.key())))
                .toList();
        if (!news.isEmpty()) {
            n.fact(new BlocksBackedUp(n.envelope(), e.namespace(), news));
        }
    }

    private static boolean isUnknown(@Nullable PlacementRow held) {
        return held != null && !held.stored();
    }

    private static @Nullable String broken(NodeContext n, BlocksRecovered e) {
        if ((e.tier() != Tier.DISK && e.tier() != Tier.HOST) || e.remainingBlocks() < 0) {
            return "Invalid recovery: must be of DISK or HOST, with 0 or more blocks remaining";
        }
        if (e.blocks().size() > n.limits().blocksPerDecision()) {
            return "Invalid step of " + e.blocks().size() + " blocks: must have at most " + n.limits().blocksPerDecision();
        }
        return Checks.paged(n.limits(), e.namespace(), e.blocks());
    }
}
