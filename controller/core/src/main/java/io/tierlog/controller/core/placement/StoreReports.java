/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;

/** The shards of the store. An object is there or not and has a generation, so a repeat shows by itself. Without state. */
public final class StoreReports {
    private StoreReports() {}

    public static void stored(DecisionContext d, BlocksStored e) {
        String aggregate = e.envelope().aggregate();
        Envelope about = d.envelope(aggregate, 0);
        String broken = Checks.paged(d.limits(), e.namespace(), e.blocks());
        if (!Aggregates.isStore(aggregate)) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This event is about a shard of the store, not " + aggregate);
            return;
        }
        if (broken != null) {
            d.refuse(about, e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        Bytes namespace = Namespaces.digest(e.namespace());
        List<PagedBlock> fresh = new ArrayList<>(e.blocks().size());
        for (PagedBlock block : e.blocks()) {
            PlacementRow held = d.tables().get(Rows.PLACEMENTS, new RowKey.Placement(aggregate, namespace, Tier.STORE, block.block().key()));
            if (held == null || held.state() != PlacementState.SERVING || held.generation() < block.generation()) {
                fresh.add(block);
            }
        }
        if (fresh.isEmpty()) {
            d.refuse(about, e, RefusalReason.REPEATED, "All of these blocks were reported before");
        } else {
            d.fact(new BlocksPlaced(about, Tier.STORE, e.namespace(), fresh, null, Tier.UNKNOWN, d.offset()));
        }
    }
}
