/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;

/** What rows of placements mean: who serves, what may leave, and in which order. Without state. */
public final class PlacementRows {
    private PlacementRows() {}

    /** Whether the controller decides what leaves the tier of a node, for its groups too. */
    public static boolean isOrdered(Tier tier) {
        return switch (tier) {
            case HOST, DISK -> true;
            case DEVICE, STORE, UNKNOWN -> false;
        };
    }

    /** Whether a copy in that state can be read. */
    public static boolean isServed(PlacementState state) {
        return state == PlacementState.SERVING || state == PlacementState.COPYING || state == PlacementState.COPYING_KEEP;
    }

    /** Whether a placement in that state leaves once what reads or drops it has ended. */
    public static boolean isGoing(PlacementState state) {
        return state == PlacementState.LEAVING || state == PlacementState.COPYING;
    }

    /** Whether a row with that content belongs in the eviction order. */
    public static boolean isLeaf(PlacementRow row) {
        return row.state() == PlacementState.SERVING && row.children() == 0 && row.holds() == 0;
    }

    /** The place of a copy in the eviction order of its tier; its group's order has it too. */
    public static RowKey.Order orderOf(RowKey.Placement key, PlacementRow row) {
        return orderOf(key, row, place(row));
    }

    /** What a row is ordered by: its last use, and what its uses earned. */
    public static long place(PlacementRow row) {
        return row.touch() + row.credit();
    }

    /** The place that a copy has in the eviction order, were it ordered by {@code place}. */
    public static RowKey.Order orderOf(RowKey.Placement key, PlacementRow row, long place) {
        int kept = row.stored() ? RowKey.Order.STORED : row.refused() ? RowKey.Order.REJECTED : RowKey.Order.LAST;
        int shallowness = Integer.MAX_VALUE - row.index();
        return new RowKey.Order(key.aggregate(), key.tier(), row.incarnation(), "", kept, place, shallowness, key.namespace(), key.block());
    }

    /** The placement at which a walk over all placements of the aggregate continues; the first one when the cursor is empty. */
    public static RowKey.Placement from(String aggregate, Bytes cursor) {
        return cursor.isEmpty()
                ? new RowKey.Placement(aggregate, Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY)
                : Rows.PLACEMENTS.decodeKey(cursor.unshared());
    }
}
