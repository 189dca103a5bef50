/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

/** A walk over the rows of a range, ascending; the caller closes it. The table must not be changed while it is open. */
public interface Scan<K, V> extends AutoCloseable {
    /** Goes to the next row; false when there is none. */
    boolean next();

    /** Key of the current row. */
    K key();

    /** The current row. */
    V value();

    @Override
    void close();

    /** A walk over no rows. */
    static <K, V> Scan<K, V> none() {
        return new Scan<>() {
            @Override
            public boolean next() {
                return false;
            }

            @Override
            public K key() {
                throw new IllegalStateException("no row");
            }

            @Override
            public V value() {
                throw new IllegalStateException("no row");
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
    }
}
