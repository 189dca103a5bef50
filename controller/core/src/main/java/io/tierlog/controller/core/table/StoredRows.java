/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.PlacementRow;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a store of the controller from any stream of its bytes, such as its changelog. Static and without state.
 *
 * <p>The table of a key is found without decoding it, so that a reader of few tables skips the others at the speed of the bytes.
 */
public final class StoredRows {
    private StoredRows() {}

    /** The table that a key belongs to; null for a key outside the core's tables, such as the shell's own. */
    public static @Nullable Table<?, ?> tableOf(byte[] key) {
        int end = 0;
        // The name of the aggregate ends with the first 0: escapes hold none, see KeyWriter.
        while (end < key.length && key[end] != 0) {
            end++;
        }
        int number = end + 1 < key.length ? key[end + 1] : 0;
        boolean ours = number >= 1 && number <= Rows.ALL.size() && key[0] != (byte) 0xFF;
        return ours ? Rows.ALL.get(number - 1) : null;
    }

    /**
     * Repeats in {@code tables} what was done to the store: sets the row, or removes it when {@code value} is null.
     *
     * @param table the result of {@link #tableOf} for the key; not the placements, see {@link #placements}
     * @throws IllegalStateException when a later version wrote the row
     */
    public static <K extends RowKey<K>, V extends WireRecord> void copy(Tables tables, Table<K, V> table, byte[] key, byte @Nullable [] value) {
        if (table.number() == Rows.PLACEMENTS.number()) {
            throw new IllegalArgumentException("placements are stored as runs");
        }
        K decoded = table.decodeKey(key);
        if (value == null) {
            tables.delete(table, decoded);
        } else {
            tables.put(table, decoded, table.decodeRow(value));
        }
    }

    /**
     * The placements of a stored run, in its order.
     *
     * @param key a key of the table of placements
     * @throws PlacementRuns.OtherForm when another version wrote it
     */
    public static Map<RowKey.Placement, PlacementRow> placements(byte[] key, byte[] run) {
        String aggregate = new KeyReader(key).text();
        RunRows.require(aggregate, run);
        RunTier tier = new RunTier(aggregate, RunRows.namespace(run), RunRows.tier(run));
        PlacementRow[] rows = new PlacementRow[RunRows.count(run)];
        new RunRows().rows(run, rows);
        Map<RowKey.Placement, PlacementRow> placements = new LinkedHashMap<>();
        for (int place = 0; place < rows.length; place++) {
            if (placements.put(tier.key(RunRows.key(run, place)), rows[place]) != null) {
                throw new IllegalStateException("A block is twice in a run of " + tier);
            }
        }
        return placements;
    }
}
