/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import org.jspecify.annotations.Nullable;

/**
 * Rows of one kind between a decider and their store, which gets what was changed later. Confined to one thread.
 *
 * @param <K> their keys
 * @param <V> the rows
 */
public sealed interface BehindRows<K, V> permits KeptRows, QueueRows {
    /** Where the rows are kept for good. */
    interface Store<K, V> {
        /** The row under {@code key}, or null. */
        @Nullable V read(K key);

        /** Sets the row under {@code key}; null removes it. */
        void write(K key, @Nullable V row);
    }

    /** The row under {@code key}, or null. */
    @Nullable V get(K key);

    /**
     * Sets the row under {@code key}; null removes it.
     *
     * @param round a number that never falls, for {@link #writeUnchanged}
     */
    void put(K key, @Nullable V row, long round);

    /** Rows that the store does not have as they are. */
    int unwritten();

    /** Writes rows that did not change since before {@code round}, at most {@code most} of them; returns how many. */
    int writeUnchanged(long round, int most);

    /** Writes all changed rows. */
    void flush();

    /** Meets the bound; a changed row that has to go is written first. */
    void trim();
}
