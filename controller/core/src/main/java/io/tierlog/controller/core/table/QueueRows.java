/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a queue: changed ones in order, until they are written behind; none that the store has. A queue is read from its beginning, and a row
 * is seldom read twice.
 *
 * <p>So the store is complete only after {@link #flush}, and this must be the only writer of its keys. Confined to one thread.
 *
 * @param <K> their keys
 * @param <V> the rows
 */
final class QueueRows<K extends RowKey<K>, V> implements BehindRows<K, V> {
    private final Store<K, V> store;
    private final int bound;
    private final NavigableMap<K, Change<V>> inOrder = new TreeMap<>((a, b) -> a.order(b));
    /** The same, the one that was not changed for longest first. */
    private final LinkedHashMap<K, Change<V>> byAge = new LinkedHashMap<>();

    /** A row as it is to be, null for a removed one, and when it changed last. */
    private record Change<V>(@Nullable V row, long round) {}

    /**
     * Rows over {@code store}.
     *
     * @param bound most changed rows that stay after {@link #trim}
     */
    QueueRows(Store<K, V> store, int bound) {
        this.store = store;
        this.bound = bound;
    }

    @Override
    public @Nullable V get(K key) {
        Change<V> change = byAge.get(key);
        return change == null ? store.read(key) : change.row();
    }

    @Override
    public void put(K key, @Nullable V row, long round) {
        Change<V> change = new Change<>(row, round);
        byAge.putLast(key, change);
        inOrder.put(key, change);
    }

    @Override
    public int unwritten() {
        return byAge.size();
    }

    /** The changed rows from {@code from} to before {@code to}, or all the rest of the aggregate; a view, in order, null for a removed row. */
    Iterator<Map.Entry<K, @Nullable V>> changed(K from, @Nullable K to) {
        return inOrder.tailMap(from, true).entrySet().stream()
                .takeWhile(entry -> to == null ? entry.getKey().aggregate().equals(from.aggregate()) : entry.getKey().order(to) < 0)
                .<Map.Entry<K, @Nullable V>>map(entry -> new SimpleImmutableEntry<>(entry.getKey(), entry.getValue().row()))
                .iterator();
    }

    @Override
    public int writeUnchanged(long round, int most) {
        int written = 0;
        while (written < most && !byAge.isEmpty() && byAge.firstEntry().getValue().round() < round) {
            writeOldest();
            written++;
        }
        return written;
    }

    @Override
    public void flush() {
        while (!byAge.isEmpty()) {
            writeOldest();
        }
    }

    @Override
    public void trim() {
        while (byAge.size() > bound) {
            writeOldest();
        }
    }

    private void writeOldest() {
        Map.Entry<K, Change<V>> oldest = byAge.firstEntry();
        store.write(oldest.getKey(), oldest.getValue().row());
        byAge.pollFirstEntry();
        inOrder.remove(oldest.getKey());
    }
}
