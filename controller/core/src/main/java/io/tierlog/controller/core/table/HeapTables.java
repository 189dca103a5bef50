/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Tables on the heap, for simulation, audit and tests.
 *
 * <p>A table is hashed until it is first asked for a range, and sorted from then on: most tables never are, and hashing is several times
 * faster. Confined to one thread. Trade-off: all of it is in memory.
 */
public final class HeapTables implements Tables {
    private final Map<?, ?>[] maps = new Map<?, ?>[Rows.ALL.size() + 1];

    public HeapTables() {
        for (int i = 0; i < maps.length; i++) {
            maps[i] = new LinkedHashMap<>();
        }
    }

    /** A copy: the same rows from here on on their own. */
    public HeapTables(HeapTables other) {
        for (int i = 0; i < maps.length; i++) {
            maps[i] = other.maps[i] instanceof SortedMap<?, ?> sorted ? new TreeMap<>(sorted) : new LinkedHashMap<>(other.maps[i]);
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return map(table).get(key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        map(table).put(key, value);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        map(table).remove(key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        NavigableMap<K, V> sorted = sorted(table);
        Map<K, V> part = toExclusive == null
                ? sorted.tailMap(fromInclusive, true)
                : fromInclusive.order(toExclusive) >= 0 ? Map.of() : sorted.subMap(fromInclusive, true, toExclusive, false);
        return new HeapScan<>(fromInclusive.aggregate(), part.entrySet().iterator());
    }

    /** All rows of {@code table}, of every aggregate, in no order that means anything; a view that cannot be written to. */
    public <K extends RowKey<K>, V extends WireRecord> Map<K, V> rows(Table<K, V> table) {
        return Collections.unmodifiableMap(map(table));
    }

    @SuppressWarnings("unchecked") // only put() fills a table's map, and its signature ties keys and rows to the table
    private <K extends RowKey<K>, V extends WireRecord> Map<K, V> map(Table<K, V> table) {
        return (Map<K, V>) maps[table.number()];
    }

    private <K extends RowKey<K>, V extends WireRecord> NavigableMap<K, V> sorted(Table<K, V> table) {
        Map<K, V> map = map(table);
        if (map instanceof NavigableMap<K, V> sorted) {
            return sorted;
        }
        NavigableMap<K, V> sorted = new TreeMap<>((a, b) -> a.order(b));
        sorted.putAll(map);
        maps[table.number()] = sorted;
        return sorted;
    }

    private static final class HeapScan<K extends RowKey<K>, V> implements Scan<K, V> {
        private final String aggregate;
        private final Iterator<Map.Entry<K, V>> entries;
        private Map.@Nullable Entry<K, V> entry;

        HeapScan(String aggregate, Iterator<Map.Entry<K, V>> entries) {
            this.aggregate = aggregate;
            this.entries = entries;
        }

        @Override
        public boolean next() {
            entry = entries.hasNext() ? entries.next() : null;
            if (entry != null && !entry.getKey().aggregate().equals(aggregate)) {
                entry = null;
            }
            return entry != null;
        }

        @Override
        public K key() {
            return current().getKey();
        }

        @Override
        public V value() {
            return current().getValue();
        }

        private Map.Entry<K, V> current() {
            Map.Entry<K, V> found = entry;
            if (found == null) {
                throw new IllegalStateException("The scan stands on no row: next() was not called or gave false");
            }
            return found;
        }

        @Override
        public void close() {}
    }
}
