/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static io.tierlog.agent.app.store.StoreContractTest.buffer;
import static io.tierlog.agent.app.store.StoreContractTest.crc;
import static io.tierlog.agent.app.store.StoreContractTest.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects 1 to 3, of which 1 and 2 were put two days ago; the walk is over what is older than one day. */
class OldObjectsTest {
    private static final Duration DAY = Duration.ofDays(1);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path root;

    @SuppressWarnings("NullAway.Init") // JUnit calls put() first.
    private DirectoryStore store;

    @SuppressWarnings("NullAway.Init")
    private StoreDirectory directory;

    @BeforeEach
    void put() throws IOException {
        store = DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
        directory = new StoreDirectory(root, DirectoryStore.Options.DEFAULTS);
        for (int seed = 1; seed <= 3; seed++) {
            write(seed);
        }
        age(1);
        age(2);
    }

    private Result write(int seed) {
        return store.write(name(seed), buffer(seed), crc(seed));
    }

    private void age(int seed) throws IOException {
        Files.setLastModifiedTime(directory.object(name(seed)), FileTime.from(Instant.now().minus(DAY.multipliedBy(2))));
    }

    private static List<OldObjects.Found> all(OldObjects walk) throws IOException {
        List<OldObjects.Found> all = new ArrayList<>();
        for (List<OldObjects.Found> some = walk.next(1); !some.isEmpty(); some = walk.next(1)) {
            all.addAll(some);
        }
        return all;
    }

    private static Bytes shortName(int seed) {
        byte[] namespace = Arrays.copyOf(name(seed).namespace().toArray(), 16);
        return Bytes.ofHex(Bytes.wrapUnshared(namespace).hex() + name(seed).key().hex());
    }

    private OldObjects.Found found(int seed) throws IOException {
        return all(store.olderThan(DAY)).stream().filter(one -> one.name().equals(shortName(seed))).findFirst().orElseThrow();
    }

    @Test
    void theWalkNamesWhatIsOldAndNothingElse() throws IOException {
        Files.createFile(directory.object(name(1)).resolveSibling("not-hex"));
        List<OldObjects.Found> found = all(store.olderThan(DAY));
        assertEquals(List.of(shortName(1), shortName(2)).stream().sorted().toList(),
                found.stream().map(OldObjects.Found::name).sorted().toList());
        assertEquals(ObjectHeader.BYTES + StoreContractTest.BLOCK, found.getFirst().bytes());
        assertEquals(List.of(), all(store.olderThan(DAY.multipliedBy(3))));
    }

    @Test
    void whatWasFoundIsRemovedAndItsGenerationIsNotGivenAgain() throws IOException {
        OldObjects.Found old = found(1);
        assertEquals(BlockStatus.GONE, store.olderThan(DAY).remove(old).status());
        assertEquals(Presence.ABSENT, store.probe(name(1)));
        assertEquals(Presence.PRESENT, store.probe(name(2)));
        assertEquals(OperationReason.NOT_FOUND, store.olderThan(DAY).remove(old).reason());
        assertEquals(2, write(1).generation());
    }

    /** Between the look and the removal another writer has put the block again. */
    @Test
    void whatWasPutAgainStays() throws IOException {
        OldObjects walk = store.olderThan(DAY);
        OldObjects.Found old = all(walk).stream().filter(one -> one.name().equals(shortName(1))).findFirst().orElseThrow();
        store.delete(name(1), 1);
        write(1);
        Result result = walk.remove(old);
        assertEquals(List.of(BlockStatus.FAILED, OperationReason.STALE_GENERATION), List.of(result.status(), result.reason()));
        assertEquals(Presence.PRESENT, store.probe(name(1)));
    }

    @Test
    void aWrongObjectStaysForTheReadThatFindsIt() throws IOException {
        OldObjects.Found old = found(2);
        byte[] bytes = Files.readAllBytes(old.file());
        bytes[40] ^= 1; // in the namespace of the header
        Files.write(old.file(), bytes);
        age(2);
        assertEquals(OperationReason.CHECKSUM, store.olderThan(DAY).remove(old).reason());
        assertTrue(Files.exists(old.file()));
    }

    /** An unmounted file system leaves an empty directory: nothing is unknown in it. */
    @Test
    void withoutTheStoreThereIsNoWalk() throws IOException {
        Files.delete(root.resolve("tierlog-store"));
        assertThrows(NoSuchFileException.class, () -> store.olderThan(DAY));
    }
}
