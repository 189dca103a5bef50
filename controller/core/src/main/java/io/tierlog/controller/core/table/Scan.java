/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

/** A walk over the rows of a range, ascending; the caller closes it. The table must not be changed while it is open. */
public interface Scan<K, V> extends AutoCloseable {
    /** Goes to the next row; false when there is none. */
    boolean next();

    /** Key of the row it stands on. */
    K key();

    /** The row it stands on. */
    V value();

    @Override
    void close();
}
