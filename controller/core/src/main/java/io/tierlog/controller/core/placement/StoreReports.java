/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The shards of the store. An object is there or not and has a generation, so a repeat shows by itself. Without state. */
public final class StoreReports {
    private StoreReports() {}

    public static void stored(DecisionContext d, BlocksStored e) {
        Envelope about = d.envelope(e.envelope().aggregate(), 0);
        if (isRefused(d, about, e, e.namespace(), e.blocks())) {
            return;
        }
        List<PagedBlock> fresh = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            PlacementRow held = held(d, about, e.namespace(), block);
            if (held == null || held.state() != PlacementState.SERVING || held.generation() < block.generation()) {
                fresh.add(block);
            }
        }
        if (fresh.isEmpty()) {
            d.refuse(about, e, RefusalReason.REPEATED, "All of these blocks were reported before");
        } else if (!d.refusesFull(about, e, fresh.size())) {
            d.fact(new BlocksPlaced(about, Tier.STORE, e.namespace(), fresh, null, Tier.UNKNOWN, d.offset()));
        }
    }

    /** Objects are gone: readers of placements learn it. An agent that cannot tell the shard of a block reports it to each one that it may be in. */
    public static void missing(DecisionContext d, BlocksMissing e) {
        Envelope about = d.envelope(e.envelope().aggregate(), 0);
        if (isRefused(d, about, e, e.namespace(), e.blocks())) {
            return;
        }
        List<Block> gone = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            if (held(d, about, e.namespace(), block) != null) {
                gone.add(block.block());
            }
        }
        if (gone.isEmpty()) {
            d.refuse(about, e, RefusalReason.REPEATED, "None of these blocks is recorded in this shard");
        } else {
            d.fact(new BlocksRemoved(about, Tier.STORE, e.namespace(), RemovalReason.MISSING, gone, 0));
        }
    }

    private static boolean isRefused(DecisionContext d, Envelope about, Event e, String namespace, List<PagedBlock> blocks) {
        String broken = Checks.paged(d.limits(), namespace, blocks);
        if (!Aggregates.isStore(about.aggregate())) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This event is about a shard of the store, not " + about.aggregate());
            return true;
        }
        if (broken != null) {
            d.refuse(about, e, RefusalReason.OVER_LIMIT, broken);
        }
        return broken != null;
    }

    private static @Nullable PlacementRow held(DecisionContext d, Envelope about, String namespace, PagedBlock block) {
        return d.tables().get(Rows.PLACEMENTS,
                new RowKey.Placement(about.aggregate(), Namespaces.digest(namespace), Tier.STORE, block.block().key()));
    }
}
