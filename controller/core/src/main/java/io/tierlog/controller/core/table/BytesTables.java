/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import org.jspecify.annotations.Nullable;

/**
 * Tables over a store of bytes: every read decodes a row, every write encodes one. Nothing is kept, so a store that was restored beneath is read
 * as it is; {@link WriteBehindTables} on top spares the repeated work. Confined to one thread.
 */
public final class BytesTables implements Tables {
    private final OrderedBytes store;
    private final KeyWriter writer = new KeyWriter();

    public BytesTables(OrderedBytes store) {
        this.store = store;
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        byte[] bytes = store.get(table.encodeKey(writer, key));
        return bytes == null ? null : table.decodeRow(bytes);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        store.put(table.encodeKey(writer, key), table.encodeRow(value));
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        store.delete(table.encodeKey(writer, key));
    }

    @Override
    public void together(Runnable writes) {
        store.together(writes);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        byte[] from = table.encodeKey(writer, fromInclusive);
        byte[] to = toExclusive == null
                ? table.edge(writer, fromInclusive.aggregate(), true)
                : table.encodeKey(writer, toExclusive);
        return new BytesScan<>(table, store.range(from, to));
    }

    private static final class BytesScan<K extends RowKey<K>, V extends WireRecord> implements Scan<K, V> {
        private final Table<K, V> table;
        private final OrderedBytes.Cursor cursor;

        BytesScan(Table<K, V> table, OrderedBytes.Cursor cursor) {
            this.table = table;
            this.cursor = cursor;
        }

        @Override
        public boolean next() {
            return cursor.next();
        }

        @Override
        public K key() {
            return table.decodeKey(cursor.key());
        }

        @Override
        public V value() {
            return table.decodeRow(cursor.value());
        }

        @Override
        public void close() {
            cursor.close();
        }
    }
}
