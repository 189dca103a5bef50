/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a queue: changed ones in order, until they are written behind. A queue is read from its beginning, and a row is seldom read twice, so a
 * row that the store has is not kept.
 *
 * <p>Except for short queues: {@link #hasAll} keeps all rows of an aggregate while they fit, and then its ranges do not read the store, which
 * passes the marks of all rows that were removed. A row that comes and goes between two writes is then never written.
 *
 * <p>The store is complete only after {@link #flush}, and this must be the only writer of its keys. Confined to one thread.
 *
 * @param <K> their keys
 * @param <V> the rows
 */
final class QueueRows<K extends RowKey<K>, V> implements BehindRows<K, V> {
    private final Store<K, V> store;
    private final ToIntFunction<? super V> weigher;
    private final int bound;
    private final NavigableMap<K, Slot<V>> inOrder = new TreeMap<>((a, b) -> a.order(b));
    /** The changed ones among them, the one that was not changed for longest first. */
    private final LinkedHashMap<K, Slot<V>> changed = new LinkedHashMap<>();
    /** Aggregates all of whose rows are here. */
    private final Set<String> whole = new LinkedHashSet<>();
    /** Aggregates that did not fit; they are not tried again. */
    private final Set<String> tooLong = new LinkedHashSet<>();

    private long weight;

    /** A row as it is to be; null for a removed one. */
    private static final class Slot<V> {
        private @Nullable V row;
        private long round;
        /** Whether the store may have a row under the key. */
        private boolean stored;
    }

    /**
     * Rows over {@code store}.
     *
     * @param bound most weight that stays after {@link #trim}
     * @param weigher weight of a row, at least 1; a removed row weighs 1
     */
    QueueRows(Store<K, V> store, int bound, ToIntFunction<? super V> weigher) {
        this.store = store;
        this.bound = bound;
        this.weigher = weigher;
    }

    @Override
    public @Nullable V get(K key) {
        Slot<V> slot = inOrder.get(key);
        return slot != null ? slot.row : whole.contains(key.aggregate()) ? null : store.read(key);
    }

    @Override
    public void put(K key, @Nullable V row, long round) {
        Slot<V> slot = inOrder.get(key);
        if (slot == null) {
            slot = new Slot<>();
            slot.stored = !whole.contains(key.aggregate());
        } else {
            weight -= weight(slot.row);
        }
        if (row == null && !slot.stored) {
            inOrder.remove(key);
            changed.remove(key);
            return;
        }
        weight += weight(row);
        slot.row = row;
        slot.round = round;
        inOrder.put(key, slot);
        changed.putLast(key, slot);
    }

    private int weight(@Nullable V row) {
        return row == null ? 1 : weigher.applyAsInt(row);
    }

    @Override
    public int unwritten() {
        return changed.size();
    }

    /**
     * Whether all rows of an aggregate are here; reads them the first time, if they fit.
     *
     * @param stored opens a walk over the store's rows of the aggregate
     */
    boolean hasAll(String aggregate, Supplier<Scan<K, V>> stored) {
        if (!whole.contains(aggregate) && !tooLong.contains(aggregate)) {
            readAll(aggregate, stored);
        }
        return whole.contains(aggregate);
    }

    private void readAll(String aggregate, Supplier<Scan<K, V>> stored) {
        Map<K, V> rows = new LinkedHashMap<>();
        long found = 0;
        try (Scan<K, V> scan = stored.get()) {
            while (scan.next()) {
                rows.put(scan.key(), scan.value());
                found += weight(scan.value());
                if (weight + found > bound) {
                    tooLong.add(aggregate);
                    return;
                }
            }
        }
        changed.forEach((key, slot) -> slot.stored = key.aggregate().equals(aggregate) ? rows.containsKey(key) : slot.stored);
        rows.forEach((key, row) -> {
            if (!inOrder.containsKey(key)) {
                Slot<V> slot = new Slot<>();
                slot.row = row;
                slot.stored = true;
                weight += weight(row);
                inOrder.put(key, slot);
            }
        });
        whole.add(aggregate);
    }

    /** The rows from {@code from} to before {@code to}, or all the rest of the aggregate; a view, in order, null for a removed row. */
    Iterator<Map.Entry<K, @Nullable V>> range(K from, @Nullable K to) {
        return inOrder.tailMap(from, true).entrySet().stream()
                .takeWhile(entry -> to == null ? entry.getKey().aggregate().equals(from.aggregate()) : entry.getKey().order(to) < 0)
                .<Map.Entry<K, @Nullable V>>map(entry -> new SimpleImmutableEntry<>(entry.getKey(), entry.getValue().row))
                .iterator();
    }

    @Override
    public int writeUnchanged(long round, int most) {
        int written = 0;
        while (written < most && !changed.isEmpty() && changed.firstEntry().getValue().round < round) {
            writeOldest();
            written++;
        }
        return written;
    }

    @Override
    public void flush() {
        while (!changed.isEmpty()) {
            writeOldest();
        }
    }

    @Override
    public void trim() {
        while (weight > bound && !changed.isEmpty()) {
            writeOldest();
        }
        if (weight > bound) {
            // All that is left is what the store has.
            inOrder.clear();
            weight = 0;
            tooLong.addAll(whole);
            whole.clear();
        }
    }

    private void writeOldest() {
        Map.Entry<K, Slot<V>> oldest = changed.firstEntry();
        K key = oldest.getKey();
        Slot<V> slot = oldest.getValue();
        store.write(key, slot.row);
        changed.pollFirstEntry();
        if (slot.row != null && whole.contains(key.aggregate())) {
            slot.stored = true;
        } else {
            weight -= weight(slot.row);
            inOrder.remove(key);
        }
    }
}
