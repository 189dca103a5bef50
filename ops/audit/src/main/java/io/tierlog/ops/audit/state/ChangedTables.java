/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tables that remember which rows were written since they were made, as they were before, and by which decisions. Rows of an index, which follow
 * from other rows, are left out. Confined to one thread. Memory: the rows that were there before and changed, and those that are there now.
 */
final class ChangedTables implements Tables {
    /** Most decisions that are remembered for a row. */
    static final int MAX_DECISIONS = 20;

    /** Tables whose rows follow from others. */
    static final Set<Table<?, ?>> INDEXES = Set.of(Rows.MEMBERS, Rows.TIMERS, Rows.ORDER, Rows.QUEUE);

    private final HeapTables heap;
    private final Map<Place<?, ?>, Touched> touched = new LinkedHashMap<>();
    private StateDiff.By decision = new StateDiff.By(-1, "");

    private record Place<K extends RowKey<K>, V extends WireRecord>(Table<K, V> table, K key) {
        @Nullable V in(HeapTables tables) {
            return tables.get(table, key);
        }
    }

    private static final class Touched {
        private final @Nullable WireRecord before;
        private final List<StateDiff.By> decisions = new ArrayList<>();
        private long count;

        Touched(@Nullable WireRecord before) {
            this.before = before;
        }
    }

    ChangedTables(HeapTables heap) {
        this.heap = heap;
    }

    /** What is written from here on is the work of this decision. */
    void by(StateDiff.By next) {
        decision = next;
    }

    /** The rows that differ from what they were, in the order of their tables and keys. */
    List<StateDiff.Change> changes(int partition) {
        RowNames names = new RowNames(heap);
        List<StateDiff.Change> changes = new ArrayList<>();
        touched.forEach((place, row) -> {
            WireRecord after = place.in(heap);
            if (!Objects.equals(row.before, after)) {
                changes.add(new StateDiff.Change(partition, place.table().name(), place.key().aggregate(), names.of(place.key()),
                        row.before == null ? StateDiff.Kind.ADDED : after == null ? StateDiff.Kind.REMOVED : StateDiff.Kind.CHANGED,
                        RowFields.difference(row.before, after), row.decisions, row.count));
            }
        });
        changes.sort(StateDiff.Change.ORDER);
        return changes;
    }

    private <K extends RowKey<K>, V extends WireRecord> void remember(Table<K, V> table, K key, boolean deletes) {
        if (INDEXES.contains(table)) {
            return;
        }
        Place<K, V> place = new Place<>(table, key);
        Touched row = touched.computeIfAbsent(place, p -> new Touched(heap.get(table, key)));
        if (deletes && row.before == null) {
            touched.remove(place); // It came and went.
            return;
        }
        if (row.decisions.isEmpty() || row.decisions.getLast().offset() != decision.offset()) {
            row.count++;
            if (row.decisions.size() == MAX_DECISIONS) {
                row.decisions.removeFirst();
            }
            row.decisions.add(decision);
        }
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return heap.get(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        remember(table, key, false);
        heap.put(table, key, value);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        remember(table, key, true);
        heap.delete(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return heap.range(table, fromInclusive, toExclusive);
    }
}
