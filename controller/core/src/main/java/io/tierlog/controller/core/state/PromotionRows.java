/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PromotionRow;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What rows of promotions mean, and which of them wait. Without state. */
public final class PromotionRows {
    private PromotionRows() {}

    /** What a node without promotions and peer reads has. */
    public static final PromotionsRow NOTHING = new PromotionsRow(0, 0, 0, 0, 0, 0);

    /** The row, or what it stands for when there is none. */
    public static PromotionsRow orNothing(@Nullable PromotionsRow row) {
        return row == null ? NOTHING : row;
    }

    /** Whether a promotion neither waits nor is under way. */
    public static boolean isRemembered(PromotionRow row) {
        return row.queued() == 0 && row.operation() == null;
    }

    /** The first of what waits in a life of a node, at most {@code most}. */
    public static List<RowKey.Order> waiting(Tables tables, String aggregate, long incarnation, int most) {
        List<RowKey.Order> waiting = new ArrayList<>();
        try (var scan = tables.range(Rows.QUEUE, RowKey.Order.first(aggregate, Tier.HOST, incarnation, "", 0),
                RowKey.Order.first(aggregate, Tier.HOST, incarnation, "", 1))) {
            while (waiting.size() < most && scan.next()) {
                waiting.add(scan.key());
            }
        }
        return waiting;
    }

    /** The row that a place in the queue is for. */
    public static RowKey.Mark ofPlace(RowKey.Order place) {
        return new RowKey.Mark(place.aggregate(), place.namespace(), place.block());
    }
}
