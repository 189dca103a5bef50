/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.store;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.Blocks;
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
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.StoreReadStarted;
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
        if (isRefused(d, about, e, Checks.paged(d.limits(), e.namespace(), e.blocks()))) {
            return;
        }
        List<PagedBlock> fresh = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            PlacementRow held = held(d, about, e.namespace(), block.block());
            if (held == null || held.generation() < block.generation()) {
                fresh.add(block);
            }
        }
        if (fresh.isEmpty() && d.policy().store() == null) {
            d.refuse(about, e, RefusalReason.REPEATED, "All of these blocks were reported before");
        } else if (fresh.isEmpty()) {
            // Computed again and found in the store: a use, as a read is one.
            used(d, about, e.namespace(), Blocks.of(e.blocks()));
            StoreEviction.name(d, about, e.envelope(), e.node());
        } else if (!d.refusesFull(about, e, fresh.size())) {
            d.fact(new BlocksPlaced(about, Tier.STORE, e.namespace(), fresh, null, Tier.UNKNOWN, d.offset()));
            StoreEviction.name(d, about, e.envelope(), e.node());
        }
    }

    /** Objects are about to be read: they are the last to leave, and none leaves before the policy's time. */
    public static void read(DecisionContext d, StoreReadStarted e) {
        Envelope about = d.envelope(e.envelope().aggregate(), 0);
        String broken = Checks.blocks(d.limits(), e.namespace(), e.blocks());
        if (isRefused(d, about, e, broken)) {
            return;
        }
        if (used(d, about, e.namespace(), e.blocks())) {
            StoreEviction.name(d, about, e.envelope(), e.node());
        } else {
            d.refuse(about, e, RefusalReason.REPEATED, "None of these blocks is recorded in this shard");
        }
    }

    /** The deepest on record has the use of the whole path, whether it stays or leaves. False when none is on record. */
    private static boolean used(DecisionContext d, Envelope about, String namespace, List<Block> blocks) {
        List<Block> there = blocks.stream().filter(block -> held(d, about, namespace, block) != null).toList();
        if (!there.isEmpty()) {
            d.fact(new BlocksTouched(about, Tier.STORE, namespace, Blocks.deepest(there), d.offset()));
        }
        return !there.isEmpty();
    }

    /** Objects are gone: readers of placements learn it. An agent that cannot tell the shard of a block reports it to each one that it may be in. */
    public static void missing(DecisionContext d, BlocksMissing e) {
        Envelope about = d.envelope(e.envelope().aggregate(), 0);
        if (isRefused(d, about, e, Checks.paged(d.limits(), e.namespace(), e.blocks()))) {
            return;
        }
        List<Block> gone = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            if (held(d, about, e.namespace(), block.block()) != null) {
                gone.add(block.block());
            }
        }
        if (gone.isEmpty()) {
            d.refuse(about, e, RefusalReason.REPEATED, "None of these blocks is recorded in this shard");
        } else {
            d.fact(new BlocksRemoved(about, Tier.STORE, e.namespace(), RemovalReason.MISSING, gone, 0));
        }
    }

    private static boolean isRefused(DecisionContext d, Envelope about, Event e, @Nullable String broken) {
        if (!Aggregates.isStore(about.aggregate())) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This event is about a shard of the store, not " + about.aggregate());
            return true;
        }
        if (broken != null) {
            d.refuse(about, e, RefusalReason.OVER_LIMIT, broken);
        }
        return broken != null;
    }

    /** The object on record; a row that only stands in for one that others extend is none. */
    private static @Nullable PlacementRow held(DecisionContext d, Envelope about, String namespace, Block block) {
        PlacementRow row = d.tables().get(Rows.PLACEMENTS,
                new RowKey.Placement(about.aggregate(), Namespaces.digest(namespace), Tier.STORE, block.key()));
        return row == null || row.state() == PlacementState.ABSENT ? null : row;
    }
}
