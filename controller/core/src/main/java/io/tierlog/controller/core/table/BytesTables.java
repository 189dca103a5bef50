/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tables over a store of bytes.
 *
 * <p>One input often reads and changes the same row several times (its node, its request, the parent of a block), so rows of such tables
 * are held back, decoded, until {@link #flush} or a range over their table: each then costs one read and one write. Between inputs nothing
 * is kept, so a store that was restored underneath is read as it is. Confined to one thread. Trade-off: as much heap as one input has rows.
 */
public final class BytesTables implements Tables {
    private static final int SMALL = 256;

    private final OrderedBytes store;
    private final KeyWriter writer = new KeyWriter();
    private final Held<?, ?>[] held = new Held<?, ?>[Rows.ALL.size() + 1];

    public BytesTables(OrderedBytes store) {
        this.store = store;
        for (Table<?, ?> table : Rows.ALL) {
            held[table.number()] = held(table);
        }
    }

    private static <K extends RowKey<K>, V extends WireRecord> Held<K, V> held(Table<K, V> table) {
        return new Held<>(table);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        if (!table.heldBack()) {
            return read(table, key);
        }
        Held<K, V> rows = rows(table);
        Slot<V> slot = rows.slots.get(key);
        if (slot == null) {
            slot = new Slot<>(read(table, key));
            rows.slots.put(key, slot);
        }
        return slot.row;
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        if (table.heldBack()) {
            rows(table).change(key, value);
        } else {
            store.put(table.encodeKey(writer, key), table.encodeRow(value));
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        if (table.heldBack()) {
            rows(table).change(key, null);
        } else {
            store.delete(table.encodeKey(writer, key));
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        rows(table).flush(store, writer);
        byte[] from = table.encodeKey(writer, fromInclusive);
        byte[] to = toExclusive == null
                ? table.edge(writer, fromInclusive.aggregate(), true)
                : table.encodeKey(writer, toExclusive);
        return new BytesScan<>(table, store.range(from, to));
    }

    @Override
    public void flush() {
        for (int i = 1; i < held.length; i++) {
            held[i].flush(store, writer);
        }
    }

    private <K extends RowKey<K>, V extends WireRecord> @Nullable V read(Table<K, V> table, K key) {
        byte[] bytes = store.get(table.encodeKey(writer, key));
        return bytes == null ? null : table.decodeRow(bytes);
    }

    @SuppressWarnings("unchecked") // the constructor puts the rows of each table under its number
    private <K extends RowKey<K>, V extends WireRecord> Held<K, V> rows(Table<K, V> table) {
        return (Held<K, V>) held[table.number()];
    }

    /** A row as it is now, and whether the store has it so. */
    private static final class Slot<V> {
        private @Nullable V row;
        private boolean changed;

        Slot(@Nullable V row) {
            this.row = row;
        }
    }

    /** The rows of one table that this input has seen, in the order it saw them. */
    private static final class Held<K extends RowKey<K>, V extends WireRecord> {
        private final Table<K, V> table;
        private Map<K, Slot<V>> slots = new LinkedHashMap<>();

        Held(Table<K, V> table) {
            this.table = table;
        }

        void change(K key, @Nullable V row) {
            Slot<V> slot = slots.get(key);
            if (slot == null) {
                slot = new Slot<>(row);
                slots.put(key, slot);
            }
            slot.row = row;
            slot.changed = true;
        }

        void flush(OrderedBytes store, KeyWriter writer) {
            for (Map.Entry<K, Slot<V>> entry : slots.entrySet()) {
                Slot<V> slot = entry.getValue();
                if (slot.changed) {
                    V row = slot.row;
                    byte[] key = table.encodeKey(writer, entry.getKey());
                    if (row == null) {
                        store.delete(key);
                    } else {
                        store.put(key, table.encodeRow(row));
                    }
                }
            }
            if (slots.size() > SMALL) {
                // Clearing a map that was once big would cost as much for every small input after it.
                slots = new LinkedHashMap<>();
            } else {
                slots.clear();
            }
        }
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
