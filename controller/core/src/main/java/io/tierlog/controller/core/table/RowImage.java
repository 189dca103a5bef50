/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.PlacementRow;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/**
 * All rows of tables as bytes: equal rows give equal bytes, in the order of tables and keys, whatever a store makes of them. Each table
 * comes with the schema of its rows, so that a later build reads what an earlier one wrote. Static and without state.
 *
 * <pre>
 *   number of tables, and for each: its number, the schema of its rows, the number of rows; for each row: key, row
 * </pre>
 */
public final class RowImage {
    /** Longest key, row or schema; a longer one is not what was written. */
    private static final int MAX_BYTES = 64 << 20;

    private RowImage() {}

    /** Writes all rows. */
    public static void write(HeapTables tables, DataOutputStream out) throws IOException {
        out.writeInt(Rows.ALL.size());
        for (Table<?, ?> table : Rows.ALL) {
            write(table, tables, out);
        }
    }

    private static <K extends RowKey<K>, V extends WireRecord> void write(Table<K, V> table, HeapTables tables, DataOutputStream out)
            throws IOException {
        out.writeInt(table.number());
        bytes(out, table.schema().toString().getBytes(StandardCharsets.UTF_8));
        Map<K, V> rows = tables.rows(table);
        List<Map.Entry<K, V>> sorted = new ArrayList<>(rows.entrySet());
        sorted.sort(Comparator.comparing(Map.Entry::getKey, (a, b) -> a.order(b)));
        out.writeInt(sorted.size());
        KeyWriter writer = new KeyWriter();
        for (Map.Entry<K, V> row : sorted) {
            bytes(out, table.encodeKey(writer, row.getKey()));
            bytes(out, table.encodeBare(row.getValue()));
        }
    }

    /**
     * Puts all rows into {@code tables}.
     *
     * @throws IOException when the stream ends early, holds something else, or has a table that this build does not know
     */
    public static void read(DataInputStream in, Tables tables) throws IOException {
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            int number = in.readInt();
            Schema writer = new Schema.Parser().parse(new String(bytes(in), StandardCharsets.UTF_8));
            int rows = in.readInt();
            if (number < 1 || number > Rows.ALL.size()) {
                throw new IOException("table " + number + " is unknown: a later version wrote it");
            }
            read(Rows.ALL.get(number - 1), writer, rows, in, tables);
        }
    }

    private static <K extends RowKey<K>, V extends WireRecord> void read(
            Table<K, V> table, Schema writer, int rows, DataInputStream in, Tables tables) throws IOException {
        for (int i = 0; i < rows; i++) {
            K key = table.decodeKey(bytes(in));
            tables.put(table, key, table.decodeBare(bytes(in), writer));
        }
    }

    /** Puts all rows of {@code from} into {@code to}. */
    public static void copy(HeapTables from, Tables to) {
        Rows.ALL.forEach(table -> copy(table, from, to));
    }

    private static <K extends RowKey<K>, V extends WireRecord> void copy(Table<K, V> table, HeapTables from, Tables to) {
        List<Map.Entry<K, V>> rows = new ArrayList<>(from.rows(table).entrySet());
        // A block joins the run of its parent: parents first.
        rows.sort(Comparator.comparingInt(row -> row.getValue() instanceof PlacementRow placement ? placement.index() : 0));
        rows.forEach(row -> {
            to.put(table, row.getKey(), row.getValue());
            to.inputDone();
        });
    }

    private static void bytes(DataOutputStream out, byte[] value) throws IOException {
        out.writeInt(value.length);
        out.write(value);
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > MAX_BYTES) {
            throw new IOException("a value of " + length + " bytes");
        }
        byte[] value = new byte[length];
        in.readFully(value);
        return value;
    }
}
