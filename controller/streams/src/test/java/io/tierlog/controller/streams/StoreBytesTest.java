/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

/** What is written together is in the store at the end and not before, removals too. */
class StoreBytesTest {
    private static final byte[] A = {1};
    private static final byte[] B = {2};

    private final KeyValueStore<Bytes, byte[]> store = Stores.inMemoryKeyValueStore("rows").get();
    private final StoreBytes bytes = new StoreBytes(store);

    @Test
    void whatIsWrittenTogetherGoesToTheStoreInOneGo() {
        bytes.put(A, A);
        bytes.together(() -> {
            bytes.delete(A);
            bytes.put(B, B);
            assertArrayEquals(A, store.get(Bytes.wrap(A)));
            assertNull(store.get(Bytes.wrap(B)));
        });
        assertNull(bytes.get(A));
        assertArrayEquals(B, bytes.get(B));
    }

    @Test
    void writesThatFailLeaveTheStoreAsItWas() {
        assertThrows(IllegalStateException.class, () -> bytes.together(() -> {
            bytes.put(A, A);
            throw new IllegalStateException("a row that cannot be encoded");
        }));
        assertNull(bytes.get(A));
        bytes.put(B, B);
        assertArrayEquals(B, bytes.get(B));
    }
}
