/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tables on the heap that remember what one input read. Rows are immutable, so a reference is enough; texts are made on demand. Rows that
 * the input itself wrote are remembered as it read them. Confined to one thread.
 */
final class RowTrace implements Tables {
    /** Most rows of one input that are remembered. */
    static final int MAX_ROWS = 1_000;

    private final HeapTables tables;
    private final List<Read> reads = new ArrayList<>();

    private record Read(Table<?, ?> table, RowKey<?> key, @Nullable WireRecord row) {
        @Override
        public String toString() {
            return table + " " + key + ": " + (row == null ? "no row" : row);
        }
    }

    RowTrace(HeapTables tables) {
        this.tables = tables;
    }

    /** Forgets what was read so far. */
    void begin() {
        reads.clear();
    }

    /** The rows read since {@link #begin}, one text each, in the order of the reads, repeats left out. */
    List<String> rows() {
        return reads.stream().map(Read::toString).distinct().toList();
    }

    private void remember(Table<?, ?> table, RowKey<?> key, @Nullable WireRecord row) {
        if (reads.size() < MAX_ROWS) {
            reads.add(new Read(table, key, row));
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        V row = tables.get(table, key);
        remember(table, key, row);
        return row;
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        tables.put(table, key, value);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        tables.delete(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return new TracedScan<>(table, tables.range(table, fromInclusive, toExclusive));
    }

    private final class TracedScan<K extends RowKey<K>, V extends WireRecord> implements Scan<K, V> {
        private final Table<K, V> table;
        private final Scan<K, V> scan;

        TracedScan(Table<K, V> table, Scan<K, V> scan) {
            this.table = table;
            this.scan = scan;
        }

        @Override
        public boolean next() {
            boolean found = scan.next();
            if (found && reads.size() < MAX_ROWS) {
                remember(table, scan.key(), scan.value());
            }
            return found;
        }

        @Override
        public K key() {
            return scan.key();
        }

        @Override
        public V value() {
            return scan.value();
        }

        @Override
        public void close() {
            scan.close();
        }
    }
}
