/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import java.util.Iterator;
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
    private final Iterator<Map.Entry<K, @Nullable V>> changed;
    private Map.@Nullable Entry<K, @Nullable V> next;
    private boolean storedIsRead;
    private @Nullable K storedKey;
    private @Nullable K key;
    private @Nullable V value;

    /**
     * A walk.
     *
     * @param stored the store's rows of the range, which this closes
     * @param changed the changed rows of the same range in order, null for removed ones
     */
    ChangedRange(Scan<K, V> stored, Iterator<Map.Entry<K, @Nullable V>> changed) {
        this.stored = stored;
        this.changed = changed;
        this.next = changed.hasNext() ? changed.next() : null;
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
        Map.Entry<K, @Nullable V> candidate = next;
        K mine = storedKey;
        int order = candidate == null ? -1 : mine == null ? 1 : mine.order(candidate.getKey());
        if (candidate != null && order >= 0) {
            next = changed.hasNext() ? changed.next() : null;
            key = candidate.getKey();
            value = candidate.getValue();
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
