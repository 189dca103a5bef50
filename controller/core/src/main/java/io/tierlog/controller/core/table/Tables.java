/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.WireRecord;
import org.jspecify.annotations.Nullable;

/**
 * The controller's state: typed tables with rows in the order of their keys. {@link Rows} lists them.
 *
 * <p>Confined to one thread. {@link HeapTables}, {@link BytesTables} and {@link WriteBehindTables} pass one contract test.
 */
public interface Tables {
    /** The row under {@code key}, or null. */
    <K extends RowKey<K>, V extends WireRecord> @Nullable V get(Table<K, V> table, K key);

    /** Sets the row under {@code key}. */
    <K extends RowKey<K>, V extends WireRecord> void put(Table<K, V> table, K key, V value);

    /** Removes the row of {@code key}; a missing row is not an error. */
    <K extends RowKey<K>, V extends WireRecord> void delete(Table<K, V> table, K key);

    /**
     * The rows of one aggregate, ascending.
     *
     * @param fromInclusive first key
     * @param toExclusive key to stop before, of the same aggregate; null for all the rest of the aggregate
     */
    <K extends RowKey<K>, V extends WireRecord> Scan<K, V> range(Table<K, V> table, K fromInclusive, @Nullable K toExclusive);

    /** Runs {@code writes}, which only puts and deletes, each key at most once: a store may do all of it in one go. */
    default void together(Runnable writes) {
        writes.run();
    }

    /** Called after each input. Implementations that keep rows meet their bounds then. */
    default void inputDone() {}
}
