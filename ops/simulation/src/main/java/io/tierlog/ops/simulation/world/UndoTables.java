/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Tables on the heap with one transaction: what was written since the last {@link #commit} can be undone. For one thread.
 */
public final class UndoTables implements Tables {
    private final HeapTables heap;
    private final List<Touched<?, ?>> touched = new ArrayList<>();

    /** A row that was written or deleted, as it was before; null when it was not there. */
    public record Touched<K extends RowKey<K>, V extends WireRecord>(Table<K, V> table, K key, @Nullable V before) {
        private void undo(HeapTables in) {
            if (before == null) {
                in.delete(table, key);
            } else {
                in.put(table, key, before);
            }
        }

        /** What two sets of tables do not agree on in this row, as a sentence; empty when they do. */
        String difference(HeapTables one, HeapTables two) {
            V a = one.get(table, key);
            V b = two.get(table, key);
            return Objects.equals(a, b) ? "" : table.name() + " " + key + ": " + a + " and " + b;
        }
    }

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

    /** What was written and deleted since the last commit, oldest first; a row that was touched twice is there twice. */
    public List<Touched<?, ?>> touched() {
        return touched;
    }

    /** What was written stays. */
    void commit() {
        touched.clear();
    }

    /** What was written since the last commit never was. */
    void abort() {
        touched.reversed().forEach(one -> one.undo(heap));
        touched.clear();
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
        touched.add(new Touched<>(table, key, heap.get(table, key)));
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
}
