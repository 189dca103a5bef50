/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store of bytes on the heap, which counts its calls. */
public final class HeapBytes implements OrderedBytes {
    final TreeMap<Bytes, byte[]> entries = new TreeMap<>();
    int gets;
    int ranges;
    public int puts;
    public int deletes;

    @Override
    public byte @Nullable [] get(byte[] key) {
        gets++;
        return entries.get(Bytes.copyOf(key));
    }

    @Override
    public void put(byte[] key, byte[] value) {
        puts++;
        entries.put(Bytes.copyOf(key), value);
    }

    @Override
    public void delete(byte[] key) {
        deletes++;
        entries.remove(Bytes.copyOf(key));
    }

    @Override
    public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
        ranges++;
        Bytes from = Bytes.copyOf(fromInclusive);
        Bytes to = Bytes.copyOf(toExclusive);
        Map<Bytes, byte[]> part = from.compareTo(to) >= 0 ? Map.of() : entries.subMap(from, to);
        Iterator<Map.Entry<Bytes, byte[]>> iterator = part.entrySet().iterator();
        return new Cursor() {
            private Map.@Nullable Entry<Bytes, byte[]> entry;

            @Override
            public boolean next() {
                entry = iterator.hasNext() ? iterator.next() : null;
                return entry != null;
            }

            @Override
            public byte[] key() {
                return Objects.requireNonNull(entry).getKey().toArray();
            }

            @Override
            public byte[] value() {
                return Objects.requireNonNull(entry).getValue();
            }

            @Override
            public void close() {}
        };
    }

    /** Another store with the same entries. */
    public HeapBytes copy() {
        HeapBytes copy = new HeapBytes();
        copy.entries.putAll(entries);
        return copy;
    }

    /** The rows of {@code tables} as a store would hold them. */
    public static Map<Bytes, Bytes> dump(HeapTables tables) {
        Map<Bytes, Bytes> dump = new TreeMap<>();
        for (Table<?, ?> table : Rows.ALL) {
            dump(tables, table, dump);
        }
        return dump;
    }

    private static <K extends RowKey<K>, V extends WireRecord> void dump(HeapTables tables, Table<K, V> table,
            Map<Bytes, Bytes> dump) {
        tables.rows(table).forEach((key, row) -> dump.put(Bytes.wrapUnshared(table.encodeKey(new KeyWriter(), key)),
                Bytes.wrapUnshared(table.encodeRow(row))));
    }

    /** The rows, one for each placement of a run. */
    public Map<Bytes, Bytes> dump() {
        Map<Bytes, Bytes> dump = new TreeMap<>();
        entries.forEach((key, value) -> {
            if (StoredRows.tableOf(key.unshared()) == Rows.PLACEMENTS && value[0] == RunRows.FORMAT) {
                StoredRows.placements(key.unshared(), value).forEach((block, row) -> {
                    byte[] blockKey = Rows.PLACEMENTS.encodeKey(new KeyWriter(), block);
                    Bytes twice = dump.put(Bytes.wrapUnshared(blockKey), Bytes.wrapUnshared(Rows.PLACEMENTS.encodeRow(row)));
                    if (twice != null) {
                        throw new IllegalStateException("two runs have " + block);
                    }
                });
            } else {
                dump.put(key, Bytes.copyOf(value));
            }
        });
        return dump;
    }
}
