/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import org.jspecify.annotations.Nullable;

/**
 * A store of bytes in unsigned lexicographic order of its keys: the port that a Kafka Streams store stands behind.
 *
 * <p>Confined to the thread of its task. Arrays that go in or come out are not written to afterwards by either side.
 */
public interface OrderedBytes {
    /** The value under {@code key}, or null. */
    byte @Nullable [] get(byte[] key);

    /** Sets the value under {@code key}. */
    void put(byte[] key, byte[] value);

    /** Removes what is under {@code key}; nothing there is no error. */
    void delete(byte[] key);

    /** The entries from {@code fromInclusive} to before {@code toExclusive}, ascending. */
    Cursor range(byte[] fromInclusive, byte[] toExclusive);

    /** A walk over entries; the caller closes it. Entries must not be changed while it is open. */
    interface Cursor extends AutoCloseable {
        /** Goes to the next entry; false when there is none. */
        boolean next();

        /** Key of the entry it stands on. */
        byte[] key();

        /** Value of the entry it stands on. */
        byte[] value();

        @Override
        void close();
    }
}
