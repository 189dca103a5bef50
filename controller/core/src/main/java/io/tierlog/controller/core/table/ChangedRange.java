/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A walk over the rows of a store and over changed rows that it does not have yet, as if these were written. For one walk.
 *
 * @param <K> their keys
 * @param <V> the rows
 */
final class ChangedRange<K extends RowKey<K>, V> implements Scan<K, V> {
    private final Scan<K, V> stored;
    private final List<Map.Entry<K, @Nullable V>> changed;
    private int at;
    private boolean storedIsRead;
    private @Nullable K storedKey;
    private @Nullable K key;
    private @Nullable V value;

    /**
     * A walk.
     *
     * @param stored the store's rows of the range, which this closes
     * @param changed the changed rows of the same range, null for removed ones; this sorts them
     */
    ChangedRange(Scan<K, V> stored, List<Map.Entry<K, @Nullable V>> changed) {
        this.stored = stored;
        this.changed = new ArrayList<>(changed);
        this.changed.sort((a, b) -> a.getKey().order(b.getKey()));
    }

    @Override
    public boolean next() {
        do {
            step();
        } while (key != null && value == null);
        return key != null;
    }

    /** Goes to the next key of either side; the row is null when it is removed. */
    private void step() {
        if (!storedIsRead) {
            storedKey = stored.next() ? stored.key() : null;
            storedIsRead = true;
        }
        Map.Entry<K, @Nullable V> next = at < changed.size() ? changed.get(at) : null;
        K mine = storedKey;
        int order = next == null ? -1 : mine == null ? 1 : mine.order(next.getKey());
        if (next != null && order >= 0) {
            at++;
            key = next.getKey();
            value = next.getValue();
            // The store's row of the same key is older.
            storedIsRead = order > 0;
        } else {
            key = mine;
            value = mine == null ? null : stored.value();
            storedIsRead = mine == null;
        }
    }

    @Override
    public K key() {
        return current(key);
    }

    @Override
    public V value() {
        return current(value);
    }

    private static <T> T current(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("The scan stands on no row: next() was not called or gave false");
        }
        return part;
    }

    @Override
    public void close() {
        stored.close();
    }
}
