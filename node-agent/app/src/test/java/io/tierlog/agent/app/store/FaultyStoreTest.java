/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.EnumSource.Mode.INCLUDE;

import io.tierlog.agent.app.store.FaultyStore.Fault;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract on a faulty store without faults, and its faults. */
class FaultyStoreTest extends StoreContractTest {
    private final FaultyStore store = new FaultyStore(new MemoryObjects().store());

    @Override
    SharedStore store() {
        return store;
    }

    @ParameterizedTest
    @EnumSource(value = Fault.class, mode = INCLUDE, names = {"BIT_FLIP", "TORN_WRITE"})
    void aBadWriteIsFoundByTheReadAndHealedByTheNextWrite(Fault fault) {
        store.inject(fault);
        assertEquals(BlockStatus.ARRIVED, write(1).status(), "the writer does not notice");
        assertEquals(OperationReason.CHECKSUM, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
        assertEquals(BlockStatus.ARRIVED, write(1).status());
        assertEquals(BlockStatus.ARRIVED, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).status());
    }

    @Test
    void errorsAreTyped() {
        store.inject(Fault.IO_ERROR);
        store.inject(Fault.UNREACHABLE);
        store.inject(Fault.UNREACHABLE);
        assertEquals(OperationReason.IO, write(1).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, write(1).reason());
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        assertEquals(BlockStatus.ARRIVED, write(1).status());
    }

    @Test
    void aStoreThatLiesIsFoundOutByTheNextCall() {
        store.inject(Fault.LOST_WRITE);
        assertEquals(BlockStatus.ARRIVED, write(1).status(), "it says so");
        assertEquals(OperationReason.NOT_FOUND, read(1).reason());
        store.inject(Fault.FALSE_PRESENCE);
        assertEquals(Presence.PRESENT, store.probe(name(1)), "it says so");
        assertEquals(OperationReason.NOT_FOUND, read(1).reason());
        assertEquals(BlockStatus.ARRIVED, write(1).status());
        store.inject(Fault.LOST_DELETE);
        assertEquals(BlockStatus.GONE, store.delete(name(1), 1).status(), "it says so");
        assertEquals(SharedStore.Result.arrived(crc(1), 1), read(1));
        assertEquals(BlockStatus.ALREADY_THERE, write(1).status());
    }

    @Test
    void deletesFailTypedToo() {
        write(1);
        store.inject(Fault.IO_ERROR);
        store.inject(Fault.UNREACHABLE);
        assertEquals(OperationReason.IO, store.delete(name(1), 1).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.delete(name(1), 1).reason());
        assertEquals(BlockStatus.GONE, store.delete(name(1), 1).status());
    }

    @Test
    void theGateFailsTheChosenObject() {
        store.gate().failAt(2);
        assertEquals(BlockStatus.ARRIVED, write(1).status());
        assertEquals(OperationReason.IO, write(2).reason());
        assertEquals(BlockStatus.ARRIVED, write(2).status());
    }
}
