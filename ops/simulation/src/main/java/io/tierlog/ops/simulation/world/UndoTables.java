/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.HeapTables;
import io.tierlog.controller.core.RowKey;
import io.tierlog.controller.core.Rows;
import io.tierlog.controller.core.Scan;
import io.tierlog.controller.core.Table;
import io.tierlog.controller.core.Tables;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tables on the heap with one transaction: what was written since the last {@link #commit} can be undone. For one thread.
 */
public final class UndoTables implements Tables {
    private final HeapTables heap;
    private final List<Runnable> undo = new ArrayList<>();

    /** Empty tables. */
    public UndoTables() {
        this(new HeapTables());
    }

    UndoTables(HeapTables heap) {
        this.heap = heap;
    }

    /** The rows as they are now. */
    public HeapTables heap() {
        return heap;
    }

    /** What was written stays. */
    void commit() {
        undo.clear();
    }

    /** What was written since the last commit never was. */
    void abort() {
        undo.reversed().forEach(Runnable::run);
        undo.clear();
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return heap.get(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        remember(table, key);
        heap.put(table, key, value);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        remember(table, key);
        heap.delete(table, key);
    }

    private <K extends RowKey<K>, V extends WireRecord> void remember(Table<K, V> table, K key) {
        V before = heap.get(table, key);
        undo.add(() -> {
            if (before == null) {
                heap.delete(table, key);
            } else {
                heap.put(table, key, before);
            }
        });
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return heap.range(table, fromInclusive, toExclusive);
    }

    /** Rows that two sets of tables do not agree on, as a sentence; empty when they are equal. */
    static String difference(HeapTables one, HeapTables two) {
        for (Table<?, ?> table : Rows.ALL) {
            if (!one.rows(table).equals(two.rows(table))) {
                return table.name() + ": " + one.rows(table) + " and " + two.rows(table);
            }
        }
        return "";
    }

    /** A copy of the rows. */
    static HeapTables copy(HeapTables from) {
        HeapTables copy = new HeapTables();
        Rows.ALL.forEach(table -> copyTable(from, copy, table));
        return copy;
    }

    private static <K extends RowKey<K>, V extends WireRecord> void copyTable(HeapTables from, HeapTables to, Table<K, V> table) {
        from.rows(table).forEach((key, row) -> to.put(table, key, row));
    }
}
