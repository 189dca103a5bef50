/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.ops.audit.history.RecordFields;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tables that remember which rows changed since they were made, as they were before, and which decisions changed which field. A decision that writes
 * a row as it was does not count: a clock row is written by every tick, a node row by every event of the node. Rows of an index, which follow from
 * other rows, are left out. Confined to one thread. Memory: the rows that were there before and changed, those that are there now, and two decisions
 * for each field that changed while its row was there.
 */
final class ChangedTables implements Tables {
    /** Tables whose rows follow from others. */
    static final Set<Table<?, ?>> INDEXES = Set.of(Rows.MEMBERS, Rows.TIMERS, Rows.ORDER, Rows.QUEUE);

    private static final Comparator<StateDiff.By> OLDEST_FIRST = Comparator.comparingLong(StateDiff.By::offset);

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
        private final Map<String, Changed> fields = new HashMap<>();
        /** The first and the last time that the row was added or removed; these changed all fields that it had then. */
        private final List<Whole> whole = new ArrayList<>();

        private long count;
        private long last = -1;

        Touched(@Nullable WireRecord before) {
            this.before = before;
        }

        private void whole(Whole more) {
            if (whole.size() > 1) {
                whole.removeLast();
            }
            whole.add(more);
        }

        /** The fields that differ from {@code after}, with the first and the last decision that changed them. */
        private List<StateDiff.Field> difference(@Nullable WireRecord after) {
            List<Set<String>> paths = whole.stream().map(one -> RecordFields.flat(one.row).keySet()).toList();
            return RowFields.difference(before, after, path -> {
                List<StateDiff.By> all = new ArrayList<>();
                for (int i = 0; i < paths.size(); i++) {
                    if (paths.get(i).contains(path)) {
                        all.add(whole.get(i).by);
                    }
                }
                Changed changed = fields.get(path);
                if (changed != null) {
                    all.addAll(List.of(changed.first, changed.last));
                }
                all.sort(OLDEST_FIRST);
                return all.isEmpty() ? all : Stream.of(all.getFirst(), all.getLast()).distinct().toList();
            });
        }
    }

    /** The first and the last decision that changed a field. */
    private record Changed(StateDiff.By first, StateDiff.By last) {}

    /** A decision that added or removed a row, and this row. */
    private record Whole(StateDiff.By by, WireRecord row) {}

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
                List<StateDiff.Field> fields = row.difference(after);
                List<StateDiff.By> decisions = fields.stream().flatMap(field -> field.by().stream()).distinct().sorted(OLDEST_FIRST).toList();
                changes.add(new StateDiff.Change(partition, place.table().name(), place.key().aggregate(), names.of(place.key()),
                        row.before == null ? StateDiff.Kind.ADDED : after == null ? StateDiff.Kind.REMOVED : StateDiff.Kind.CHANGED,
                        fields, decisions, row.count));
            }
        });
        changes.sort(StateDiff.Change.ORDER);
        return changes;
    }

    private <K extends RowKey<K>, V extends WireRecord> void remember(Table<K, V> table, K key, @Nullable V after) {
        V before = heap.get(table, key);
        if (INDEXES.contains(table) || Objects.equals(before, after)) {
            return;
        }
        Place<K, V> place = new Place<>(table, key);
        Touched row = touched.computeIfAbsent(place, p -> new Touched(before));
        if (after == null && row.before == null) {
            touched.remove(place); // It came and went.
            return;
        }
        Changed now = new Changed(decision, decision);
        if (before != null && after != null) {
            RowFields.difference(before, after, path -> List.of()).forEach(
                    field -> row.fields.merge(field.path(), now, (was, is) -> new Changed(was.first, is.last)));
        } else if (before != null) {
            row.whole(new Whole(decision, before));
        } else if (after != null) {
            row.whole(new Whole(decision, after));
        }
        row.count += row.last == decision.offset() ? 0 : 1;
        row.last = decision.offset();
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key) {
        return heap.get(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value) {
        remember(table, key, value);
        heap.put(table, key, value);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key) {
        remember(table, key, null);
        heap.delete(table, key);
    }

    @Override
    public <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive) {
        return heap.range(table, fromInclusive, toExclusive);
    }
}
