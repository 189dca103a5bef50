/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static io.tierlog.agent.app.store.StoreContractTest.BLOCK;
import static io.tierlog.agent.app.store.StoreContractTest.buffer;
import static io.tierlog.agent.app.store.StoreContractTest.crc;
import static io.tierlog.agent.app.store.StoreContractTest.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Feature;
import com.google.common.jimfs.Jimfs;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Deletes in a directory: what they leave behind, what a death in their midst does, and what servers answer. */
class DirectoryStoreDeleteTest {
    /** Whatever is there is a leftover. */
    private static final Duration AT_ONCE = Duration.ofSeconds(-10);

    @TempDir
    Path root;

    private StoreDirectory directory = new StoreDirectory(Path.of(""), false);

    @BeforeEach
    void open() {
        directory = new StoreDirectory(root, false);
    }

    private DirectoryStore store() {
        return DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
    }

    private static Result write(SharedStore store, int seed) {
        return store.write(name(seed), buffer(seed), crc(seed));
    }

    private static Result read(SharedStore store, int seed) {
        return store.read(name(seed), ByteBuffer.allocateDirect(BLOCK));
    }

    @Test
    void aDeletedKeyLeavesOneNumberForItsFanAndNothingElse() throws IOException {
        DirectoryStore store = store();
        for (int generation = 1; generation <= 3; generation++) {
            assertEquals(generation, write(store, 1).generation());
            assertEquals(BlockStatus.GONE, store.delete(name(1), generation).status());
        }
        assertEquals(List.of("3"), names(root.resolve("generations").resolve(directory.fan(name(1)))));
        assertEquals(List.of(), names(root.resolve("leaving")));
        assertEquals(List.of(), names(root.resolve("incoming")));
        assertEquals(4, write(store(), 1).generation(), "another process goes on from there");
    }

    @Test
    void whoDiesBeforeItLookedAtAnotherGenerationLeavesItToBePutBack() throws IOException {
        write(store(), 1);
        // A late delete of generation 7 has renamed the object, which has 1, and died.
        Path taken = directory.newLeaving(7);
        Files.move(directory.object(name(1)), taken);
        assertEquals(Presence.ABSENT, store().probe(name(1)));
        assertTrue(Files.exists(taken), "a start within the age leaves it alone");

        DirectoryStore next = DirectoryStore.open(root, new DirectoryStore.Options(false, AT_ONCE));
        assertEquals(Result.arrived(crc(1), 1), read(next, 1));
        assertFalse(Files.exists(taken));
    }

    @Test
    void whoDiesBeforeItRemovedTheGenerationMeantLeavesItToBeRemoved() throws IOException {
        write(store(), 1);
        Path taken = directory.newLeaving(1);
        Files.move(directory.object(name(1)), taken);
        DirectoryStore next = DirectoryStore.open(root, new DirectoryStore.Options(false, AT_ONCE));
        assertEquals(Presence.ABSENT, next.probe(name(1)));
        assertEquals(List.of(), names(root.resolve("leaving")));
    }

    @Test
    void whatWasPutMeanwhileIsNotReplacedByWhatIsPutBack() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        Path taken = directory.newLeaving(7);
        Files.move(directory.object(name(1)), taken);
        directory.floors().raise(directory.fan(name(1)), 4);
        assertEquals(5, write(store, 1).generation());
        assertFalse(new ObjectRemoval(directory).settle(taken, 7));
        assertEquals(5, read(store, 1).generation());
        assertEquals(List.of(), names(root.resolve("leaving")));
    }

    @Test
    void aRemovalThatMeantAnotherGenerationPutsBack() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        directory.floors().raise(directory.fan(name(1)), 1);
        assertTrue(new ObjectRemoval(directory).remove(name(1), 1));
        assertFalse(new ObjectRemoval(directory).remove(name(1), 1), "once");
        assertEquals(2, write(store, 1).generation());
        assertFalse(new ObjectRemoval(directory).remove(name(1), 1));
        assertEquals(2, read(store, 1).generation(), "it was put back");
    }

    /** The first answer of a server was lost, and the repetition finds what the first did. */
    @Test
    void aLinkThatIsThereAlreadyIsOurs() throws IOException {
        Path file = Files.write(root.resolve("a"), new byte[] {1});
        StoreDirectory.link(file, root.resolve("b"));
        StoreDirectory.link(file, root.resolve("b"));
        Path other = Files.write(root.resolve("c"), new byte[] {1});
        assertThrows(FileAlreadyExistsException.class, () -> StoreDirectory.link(other, root.resolve("b")));
    }

    @Test
    void aFileSystemWithoutLinksDeletesToo() throws IOException {
        Configuration plain = Configuration.unix().toBuilder().setSupportedFeatures(Feature.FILE_CHANNEL).build();
        try (FileSystem files = Jimfs.newFileSystem(plain)) {
            DirectoryStore store = DirectoryStore.open(files.getPath("/store"), DirectoryStore.Options.DEFAULTS);
            assertEquals(Result.arrived(crc(1), 1), write(store, 1));
            assertEquals(BlockStatus.ALREADY_THERE, write(store, 1).status());
            assertEquals(OperationReason.STALE_GENERATION, store.delete(name(1), 2).reason());
            assertEquals(Result.gone(1), store.delete(name(1), 1));
            assertEquals(Result.arrived(crc(1), 2), write(store, 1));
        }
    }

    @Test
    void aDeleteWithFsyncIsADelete() {
        DirectoryStore durable = DirectoryStore.open(root, new DirectoryStore.Options(true, Duration.ofHours(1)));
        write(durable, 1);
        assertEquals(Result.gone(1), durable.delete(name(1), 1));
        assertEquals(2, write(durable, 1).generation());
    }

    @Test
    void aWrongObjectIsNotDeletedAsIfItWereRight() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        Files.write(directory.object(name(1)), new byte[60]);
        assertEquals(OperationReason.CHECKSUM, store.delete(name(1), 1).reason());
    }

    @ParameterizedTest
    @CsvSource({
        "Stale file handle, STORE_UNAVAILABLE",
        "Input/output error, IO",
        "No space left on device, IO",
        "Read-only file system, STORE_UNAVAILABLE",
        "Connection timed out, STORE_UNAVAILABLE",
        "Transport endpoint is not connected, STORE_UNAVAILABLE"
    })
    void errorsOfAServerAreTyped(String words, OperationReason reason) {
        assertEquals(reason, StoreErrors.reason(new FileSystemException("/store/x", null, words)));
        assertEquals(reason, StoreErrors.reason(new IOException(words)), "reads and writes say no more than that");
        assertEquals(words.startsWith("Stale"), StoreErrors.isStale(new IOException(words)));
    }

    @Test
    void anAccessThatIsDeniedIsOfTheStore() {
        assertEquals(OperationReason.STORE_UNAVAILABLE, StoreErrors.reason(new AccessDeniedException("/store/x")));
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
