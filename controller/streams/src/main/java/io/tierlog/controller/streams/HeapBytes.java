/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.table.OrderedBytes;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store of bytes on the heap. Confined to one thread. */
final class HeapBytes implements OrderedBytes {
    private final TreeMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);

    /** The rows, in order. */
    Map<byte[], byte[]> rows() {
        return rows;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
        return rows.get(key);
    }

    @Override
    public void put(byte[] key, byte[] value) {
        rows.put(key, value);
    }

    @Override
    public void delete(byte[] key) {
        rows.remove(key);
    }

    @Override
    public Cursor range(byte[] fromInclusive, byte[] toExclusive) {
        boolean empty = Arrays.compareUnsigned(fromInclusive, toExclusive) >= 0;
        Iterator<Map.Entry<byte[], byte[]>> entries =
                empty ? Collections.emptyIterator() : rows.subMap(fromInclusive, toExclusive).entrySet().iterator();
        return new Cursor() {
            private Map.@Nullable Entry<byte[], byte[]> row;

            @Override
            public boolean next() {
                row = entries.hasNext() ? entries.next() : null;
                return row != null;
            }

            @Override
            public byte[] key() {
                return Objects.requireNonNull(row, "no row").getKey();
            }

            @Override
            public byte[] value() {
                return Objects.requireNonNull(row, "no row").getValue();
            }

            @Override
            public void close() {}
        };
    }
}
