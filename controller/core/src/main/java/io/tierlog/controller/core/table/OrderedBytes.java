/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import org.jspecify.annotations.Nullable;

/**
 * A store of bytes in unsigned lexicographic order of its keys: the port that a Kafka Streams store implements.
 *
 * <p>Confined to the thread of its task. Arrays that go in or come out are not written to afterwards by either side.
 */
public interface OrderedBytes {
    /** The value under {@code key}, or null. */
    byte @Nullable [] get(byte[] key);

    /** Sets the value under {@code key}. */
    void put(byte[] key, byte[] value);

    /** Removes the value of {@code key}; a missing key is not an error. */
    void delete(byte[] key);

    /** Runs {@code writes}, which only puts and deletes, each key at most once: a store may do all of it in one go. */
    default void together(Runnable writes) {
        writes.run();
    }

    /** The entries from {@code fromInclusive} to before {@code toExclusive}, ascending. */
    Cursor range(byte[] fromInclusive, byte[] toExclusive);

    /** A walk over entries; the caller closes it. Entries must not be changed while it is open. */
    interface Cursor extends AutoCloseable {
        /** Goes to the next entry; false when there is none. */
        boolean next();

        /** Key of the current entry. */
        byte[] key();

        /** Value of the current entry. */
        byte[] value();

        @Override
        void close();
    }
}
