/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.state.ShardRow;
import java.util.ArrayList;
import java.util.List;

/** What rows of the shards of the store mean. Without state. */
public final class ShardRows {
    /** A shard that has nothing. */
    public static final ShardRow EMPTY = new ShardRow(0, 0, 0, null, 0, null, 0);

    private ShardRows() {}

    /** Key of a shard in the partition of that clock. */
    public static RowKey.Text key(String clock, String shard) {
        return new RowKey.Text(clock, shard);
    }

    /** The shards of a partition that have a row. */
    public static List<String> of(Tables t, String clock) {
        List<String> shards = new ArrayList<>();
        try (var scan = t.range(Rows.SHARDS, new RowKey.Text(clock, ""), null)) {
            while (scan.next()) {
                shards.add(scan.key().id());
            }
        }
        return shards;
    }

    /** Objects that are there and not on their way out, count. */
    public static long standing(ShardRow row) {
        return row.usedBlocks() - row.leavingBlocks();
    }
}
