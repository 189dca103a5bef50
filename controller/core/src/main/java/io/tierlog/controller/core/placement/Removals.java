/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.RemovedPlacement;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;

/** Removals of placements. Without state. */
public final class Removals {
    private static final List<Tier> NODE_TIERS = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK);

    private Removals() {}

    public static void evicted(NodeContext n, BlocksEvicted e) {
        String broken = n.row().foreign()
                ? Checks.foreign(n.limits(), e.namespace(), e.blocks())
                : Checks.paged(n.limits(), e.namespace(), e.blocks());
        if (broken != null || e.tier() == Tier.UNKNOWN || (e.tier() == Tier.STORE && !n.row().foreign())) {
            n.refuse(e, RefusalReason.OVER_LIMIT,
                    (broken == null ? "Invalid tier " + e.tier() + ": an agent evicts from DEVICE, HOST or DISK" : broken));
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        List<RemovedPlacement> gone = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            PlacementRow held = n.placement(namespace, e.tier(), block.block().key());
            if (held != null && isTheOne(held, block.page(), block.generation())) {
                gone.add(new RemovedPlacement(block.block(), held, held.stored()));
            }
        }
        fact(n, e.tier(), e.namespace(), e.reason(), gone);
    }

    /** Whether a report about a page and generation is about the copy that is held: reports about earlier content come too late. */
    static boolean isTheOne(PlacementRow held, int page, long generation) {
        return held.state() != PlacementState.WRITING && held.page() == page && held.generation() <= generation;
    }

    static void fact(NodeContext n, Tier tier, String namespace, RemovalReason reason, List<RemovedPlacement> gone) {
        if (gone.isEmpty()) {
            return;
        }
        Bytes digest = Namespaces.digest(namespace);
        List<Block> blocks = new ArrayList<>(gone.size());
        int lost = 0;
        for (RemovedPlacement one : gone) {
            blocks.add(one.block());
            lost += n.row().foreign() || one.stored() || isElsewhere(n, tier, digest, one.block()) ? 0 : 1;
        }
        n.fact(new BlocksRemoved(n.envelope(), tier, namespace, reason, blocks, lost));
        Promotions.gone(n, tier, namespace, gone);
    }

    /** Whether another tier of the node has the block. */
    private static boolean isElsewhere(NodeContext n, Tier tier, Bytes namespace, Block block) {
        for (Tier other : NODE_TIERS) {
            if (other != tier && n.placement(namespace, other, block.key()) != null) {
                return true;
            }
        }
        return false;
    }
}
