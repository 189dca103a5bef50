/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What every store must do for one caller at a time, with blocks of 1,000 bytes. */
abstract class StoreBasicsTest {
    static final int BLOCK = 1_000;

    /** The store under test: the same one within a test. */
    abstract SharedStore store();

    @Test
    void whatWasWrittenIsReadBack() {
        assertEquals(Presence.ABSENT, store().probe(name(1)));
        assertEquals(new Result(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc(1), 1, ""), write(1));
        assertEquals(Presence.PRESENT, store().probe(name(1)));
        ByteBuffer into = ByteBuffer.allocateDirect(BLOCK);
        assertEquals(Result.arrived(crc(1), 1), store().read(name(1), into));
        assertArrayEquals(content(1), bytes(into));
    }

    @Test
    void aSecondWriteFindsTheFirst() {
        write(1);
        ByteBuffer other = buffer(2);
        assertEquals(Result.alreadyThere(crc(1), 1), store().write(name(1), other, crc(2)), "the first one stays, with its checksum");
        ByteBuffer into = ByteBuffer.allocateDirect(BLOCK);
        store().read(name(1), into);
        assertArrayEquals(content(1), bytes(into));
    }

    @Test
    void namesDifferByNamespaceByKeyAndByKeyLength() {
        write(1);
        ObjectName elsewhere = new ObjectName(ObjectName.digest("other"), name(1).key());
        ObjectName longer = new ObjectName(name(1).namespace(), Bytes.ofHex(name(1).key().hex() + "00"));
        for (ObjectName absent : List.of(elsewhere, longer, name(2))) {
            assertEquals(Presence.ABSENT, store().probe(absent));
            Result read = store().read(absent, ByteBuffer.allocateDirect(BLOCK));
            assertEquals(BlockStatus.FAILED, read.status());
            assertEquals(OperationReason.NOT_FOUND, read.reason());
        }
    }

    @Test
    void aBlockOfAnotherSizeIsNotServed() {
        assertEquals(Presence.ABSENT, store().check(name(1), BLOCK));
        write(1);
        assertEquals(Presence.PRESENT, store().check(name(1), BLOCK));
        assertEquals(Presence.ABSENT, store().check(name(1), BLOCK - 1));
        Result read = store().read(name(1), ByteBuffer.allocateDirect(BLOCK - 1));
        assertEquals(OperationReason.UNSUPPORTED, read.reason());
        assertEquals(Presence.PRESENT, store().probe(name(1)), "nothing is wrong with the object");
    }

    @Test
    void aDeleteIsOfOneGeneration() {
        write(1);
        write(2);
        Result stale = store().delete(name(1), 2);
        assertEquals(OperationReason.STALE_GENERATION, stale.reason(), stale.detail());
        assertEquals(Presence.PRESENT, store().probe(name(1)));
        assertEquals(new Result(BlockStatus.GONE, OperationReason.COMPLETED, 0, 1, ""), store().delete(name(1), 1));
        assertEquals(Presence.ABSENT, store().probe(name(1)));
        assertEquals(OperationReason.NOT_FOUND, read(1).reason());
        assertEquals(OperationReason.NOT_FOUND, store().delete(name(1), 1).reason());
        assertEquals(Result.arrived(crc(2), 1), read(2), "another object is as it was");
    }

    @Test
    void aLateDeleteDoesNotReachWhatWasPutAfterIt() {
        for (int generation = 1; generation <= 3; generation++) {
            assertEquals(Result.arrived(crc(1), generation), write(1), "the generation rises when a deleted key is put again");
            for (int late = 1; late < generation; late++) {
                assertEquals(OperationReason.STALE_GENERATION, store().delete(name(1), late).reason());
            }
            assertEquals(Result.arrived(crc(1), generation), read(1));
            assertEquals(Result.gone(generation), store().delete(name(1), generation));
        }
    }

    Result read(int seed) {
        return store().read(name(seed), ByteBuffer.allocateDirect(BLOCK));
    }

    Result write(int seed) {
        return write(store(), seed);
    }

    static Result write(SharedStore store, int seed) {
        return store.write(name(seed), buffer(seed), crc(seed));
    }

    static ObjectName name(int seed) {
        return new ObjectName(ObjectName.digest("model"), Bytes.ofHex("%016x".formatted(seed)));
    }

    static byte[] content(int seed) {
        byte[] bytes = new byte[BLOCK];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    static ByteBuffer buffer(int seed) {
        return ByteBuffer.allocateDirect(BLOCK).put(0, content(seed));
    }

    static int crc(int seed) {
        return Checksums.crc32c(content(seed), 0, BLOCK);
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return bytes;
    }
}
