/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a store of the controller from wherever a copy of its bytes is: its changelog, for one. Static and without state.
 *
 * <p>The table of a key is found without decoding it, so that a reader who wants few tables passes over the rest at the speed of the bytes.
 */
public final class StoredRows {
    private StoredRows() {}

    /** The table that a key belongs to; null for a key that is none of the core's, such as the shell's own. */
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
     * Does to {@code tables} what was done to the store: sets the row, or removes it when {@code value} is null.
     *
     * @param table what {@link #tableOf} said of the key
     * @throws IllegalStateException when a later version wrote the row
     */
    public static <K extends RowKey<K>, V extends WireRecord> void copy(Tables tables, Table<K, V> table, byte[] key, byte @Nullable [] value) {
        K decoded = table.decodeKey(key);
        if (value == null) {
            tables.delete(table, decoded);
        } else {
            tables.put(table, decoded, table.decodeRow(value));
        }
    }
}
