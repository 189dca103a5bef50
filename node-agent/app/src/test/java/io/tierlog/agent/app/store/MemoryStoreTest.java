/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The contract on the simulated store, and what a bad disk under it does. */
class MemoryStoreTest extends StoreContractTest {
    private final MemoryStore store = new MemoryStore();

    @Override
    SharedStore store() {
        return store;
    }

    @Test
    void aWrongObjectIsMovedAsideAndReplaced() {
        write(1);
        store.corrupt(name(1), image -> {
            image[ObjectHeader.BYTES] ^= 1;
            return image;
        });
        assertEquals(OperationReason.CHECKSUM, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
        assertEquals(Presence.ABSENT, store.probe(name(1)));
        assertEquals(SharedStore.Result.arrived(crc(1), 2), write(1));
    }

    @Test
    void anUnreachableStoreSaysSo() {
        store.setReachable(false);
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        assertEquals(OperationReason.STORE_UNAVAILABLE, write(1).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.delete(name(1), 1).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
    }
}
