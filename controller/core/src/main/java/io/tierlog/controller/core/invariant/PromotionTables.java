/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PromotionRow;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What a node's tables store twice about promotions: counts, the queue, and the operations that bring blocks. Used for one check. */
final class PromotionTables {
    private final Tables tables;
    private final String aggregate;
    private final NodeRow node;
    private final TableInvariants.Say say;

    PromotionTables(Tables tables, String aggregate, NodeRow node, TableInvariants.Say say) {
        this.tables = tables;
        this.aggregate = aggregate;
        this.node = node;
        this.say = say;
    }

    void check(List<OperationRow> inProgress) {
        long queued = 0;
        long remembered = 0;
        Set<RowKey.Order> places = new LinkedHashSet<>();
        try (var scan = tables.range(Rows.PROMOTIONS, new RowKey.Mark(aggregate, TableInvariants.firstCopy("").namespace(), Bytes.EMPTY), null)) {
            while (scan.next()) {
                RowKey.Mark key = scan.key();
                PromotionRow row = scan.value();
                if (row.queued() > 0) {
                    places.add(new RowKey.Order(aggregate, Tier.HOST, row.incarnation(), "", 0, row.queued(), row.block().index(), key.namespace(),
                            key.block()));
                }
                if (row.incarnation() == node.incarnation()) {
                    queued += row.queued() > 0 ? 1 : 0;
                    remembered += row.queued() == 0 && row.operation() == null ? 1 : 0;
                    brought(key, row);
                }
            }
        }
        queue(places);
        PromotionsRow recorded = node.promotions();
        long promoting = inProgress.stream().filter(o -> o.kind() == OperationKind.PROMOTE).count();
        same(promoting, recorded == null ? 0 : recorded.operations(), "promotions under way");
        same(queued, recorded == null ? 0 : recorded.queuedBlocks(), "blocks that wait for a promotion");
        same(remembered, recorded == null ? 0 : recorded.rememberedBlocks(), "remembered promotions");
    }

    private void brought(RowKey.Mark key, PromotionRow row) {
        String id = row.operation();
        if (id == null) {
            return;
        }
        OperationRow operation = tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, id));
        boolean its = operation != null && operation.kind() == OperationKind.PROMOTE && NodeTables.isUnfinished(operation)
                && operation.blocks().stream().map(Block::key).anyMatch(key.block()::equals);
        if (!its || row.queued() > 0) {
            say.that(Invariant.I12, key + " is promoted by " + id + ", which does no such thing: " + operation);
        }
    }

    private void queue(Set<RowKey.Order> places) {
        try (var scan = tables.range(Rows.QUEUE, new RowKey.Order(aggregate, Tier.UNKNOWN, 0, "", 0, 0, 0, TableInvariants.firstCopy("").namespace(),
                Bytes.EMPTY), null)) {
            while (scan.next()) {
                if (!places.remove(scan.key())) {
                    say.that(Invariant.I13, "the queue of promotions has " + scan.key() + ", which does not wait");
                }
            }
        }
        places.forEach(place -> say.that(Invariant.I13, "the queue of promotions lacks " + place));
    }

    private void same(long counted, long recorded, String what) {
        if (counted != recorded) {
            say.that(Invariant.I12, what + ": recorded " + recorded + ", counted " + counted);
        }
    }
}
