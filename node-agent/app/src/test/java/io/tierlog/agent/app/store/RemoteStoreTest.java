/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of the store over a simulated server, and what a bad server does. */
class RemoteStoreTest extends StoreContractTest {
    private final MemoryObjects objects = new MemoryObjects();
    private final RemoteStore store = objects.store();

    @Override
    SharedStore store() {
        return store;
    }

    @ParameterizedTest
    @CsvSource({"5, magic", "10, generation", "40, namespace", "70, key", "126, header checksum", "128, first byte", "1127, last byte"})
    void aFlippedByteIsFoundCountedAndReplaced(int at, String where) {
        write(1);
        objects.corrupt(flip(at));
        assertEquals(OperationReason.CHECKSUM, read(1).reason(), where);
        assertEquals(1, store.wrongObjects(), where);
        assertEquals(Presence.ABSENT, store.probe(name(1)), where);
        assertEquals(OperationReason.NOT_FOUND, read(1).reason(), where);
        assertEquals(Result.arrived(crc(1), 2), write(1), where);
        assertEquals(Result.arrived(crc(1), 2), read(1), where);
        assertEquals(1, store.wrongObjects(), where);
    }

    @ParameterizedTest
    @CsvSource({"0", "100", "128", "1127", "1129"})
    void anObjectOfAWrongLengthIsFoundAndReplacedByAWrite(int length) {
        write(1);
        objects.corrupt(image -> Arrays.copyOf(image, length));
        assertEquals(Presence.ABSENT, store.check(name(1), BLOCK));
        assertEquals(OperationReason.CHECKSUM, store.delete(name(1), 1).reason());
        assertEquals(Result.arrived(crc(1), 2), write(1));
        assertEquals(1, store.wrongObjects());
        assertEquals(Result.arrived(crc(1), 2), read(1));
    }

    /** Once damaged on the way: nothing is wrong with the object. */
    @Test
    void bytesDamagedOnTheWayAreReadAgain() {
        write(1);
        boolean[] damaged = {false};
        RemoteStore far = new RemoteStore(new Wrapped(objects) {
            @Override
            public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
                Optional<Seen> seen = super.read(name, header, body, deadline);
                if (!damaged[0]) {
                    damaged[0] = true;
                    body.put(7, (byte) (body.get(7) ^ 1));
                }
                return seen;
            }
        }, Duration.ofSeconds(10), InstantSource.system());
        ByteBuffer into = ByteBuffer.allocateDirect(BLOCK);
        assertEquals(Result.arrived(crc(1), 1), far.read(name(1), into));
        assertEquals(0, far.wrongObjects());
        assertTrue(damaged[0]);
    }

    /** Whatever the server's answer puts into this page is wrong there, and the object is not: the second look does not use the page. */
    @Test
    void aPageThatDoesNotHoldWhatIsReadIntoItCostsNoObject() {
        write(1);
        ByteBuffer into = ByteBuffer.allocateDirect(BLOCK);
        RemoteStore stuck = new RemoteStore(new Wrapped(objects) {
            @Override
            public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
                Optional<Seen> seen = super.read(name, header, body, deadline);
                into.put(7, (byte) (buffer(1).get(7) ^ 1));
                return seen;
            }
        }, Duration.ofSeconds(10), InstantSource.system());
        assertEquals(Result.arrived(crc(1), 1), stuck.read(name(1), into), "copied to the page, where it was right");
        assertEquals(0, stuck.wrongObjects());
        assertEquals(Result.arrived(crc(1), 1), read(1));
    }

    /** What the page holds after the copy is not what was read: the read has failed, and the object is as it was. */
    @Test
    void aPageThatDoesNotHoldItsBytesFailsTheRead() {
        ByteBuffer damaged = ByteBuffer.allocate(BLOCK).put(0, bytes(buffer(1))).put(7, (byte) (buffer(1).get(7) ^ 1));
        Result copied = DirectoryStore.copy(name(1), Result.arrived(crc(1), 1), damaged, ByteBuffer.allocateDirect(BLOCK));
        assertEquals(OperationReason.CHECKSUM, copied.reason());
        assertTrue(copied.detail().contains("the host page does not hold its bytes"), copied.detail());
    }

    /** Between the look that finds an object wrong and its removal another process has put a right one. */
    @Test
    void whatWasPutMeanwhileIsNotRemoved() {
        write(1);
        objects.corrupt(flip(500));
        RemoteStore other = objects.store();
        boolean[] replaced = {false};
        RemoteStore slow = new RemoteStore(new Wrapped(objects) {
            @Override
            public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
                if (!replaced[0]) {
                    replaced[0] = true;
                    assertEquals(OperationReason.CHECKSUM, other.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
                    assertEquals(Result.arrived(crc(1), 2), write(other, 1));
                }
                return super.put(name, version, image, deadline);
            }
        }, Duration.ofSeconds(10), InstantSource.system());
        assertEquals(Result.arrived(crc(1), 2), slow.read(name(1), ByteBuffer.allocateDirect(BLOCK)));
        assertEquals(0, slow.wrongObjects(), "the other one has counted it");
        assertEquals(1, other.wrongObjects());
    }

    /** Bytes under a key that Tierlog did not put tell no generation. */
    @Test
    void foreignBytesAreReplacedUnderAGenerationThatWasNotGiven() {
        write(1);
        store.delete(name(1), 1);
        objects.foreign("hello");
        RemoteStore later = new RemoteStore(objects, Duration.ofSeconds(10), InstantSource.fixed(Instant.ofEpochSecond(1_800_000_000)));
        assertEquals(Presence.ABSENT, later.probe(name(1)));
        assertEquals(Result.arrived(crc(1), 1_800_000_001), write(later, 1));
    }

    @Test
    void aServerThatRefusesSaysSo() {
        objects.fail(StoreFault.refused("no rights", new IllegalStateException("403")));
        for (Result result : List.of(write(1), read(1), store.delete(name(1), 1))) {
            assertEquals(OperationReason.STORE_UNAVAILABLE, result.reason());
            assertEquals("the simulated store: no rights", result.detail());
        }
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        assertEquals(0, store.pausedCalls());
        objects.fail(null);
        assertEquals(BlockStatus.ARRIVED, write(1).status());
    }

    /** One call waits for a server that is silent, those that follow at once do not. */
    @Test
    void aSilentServerIsNotAskedForEveryBlock() {
        objects.fail(StoreFault.silent("no answer", new IllegalStateException("timed out")));
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            results.add(write(i));
        }
        assertTrue(results.stream().allMatch(result -> result.reason() == OperationReason.STORE_UNAVAILABLE), results.toString());
        assertTrue(store.pausedCalls() > 0, "calls that did not wait");
        assertFalse(results.getLast().detail().isEmpty());
    }

    /** A server whose answer to a put was lost: the repetition finds what the first try put. */
    @Test
    void aPutWhoseAnswerWasLostIsFoundByTheNext() {
        RemoteStore far = new RemoteStore(new Wrapped(objects) {
            @Override
            public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
                assertTrue(super.put(name, version, image, deadline));
                return super.put(name, version, image, deadline);
            }
        }, Duration.ofSeconds(10), InstantSource.system());
        assertEquals(Result.alreadyThere(crc(1), 1), write(far, 1));
        assertEquals(Result.arrived(crc(1), 1), read(1));
    }

    private static UnaryOperator<byte[]> flip(int at) {
        return image -> {
            image[at] ^= 0x20;
            return image;
        };
    }

    /** Passes everything on. */
    private static class Wrapped implements ObjectPort {
        private final ObjectPort inner;

        Wrapped(ObjectPort inner) {
            this.inner = inner;
        }

        @Override
        public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
            return inner.read(name, header, body, deadline);
        }

        @Override
        public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
            return inner.put(name, version, image, deadline);
        }

        @Override
        public String toString() {
            return inner.toString();
        }

        @Override
        public void close() {
            inner.close();
        }
    }
}
