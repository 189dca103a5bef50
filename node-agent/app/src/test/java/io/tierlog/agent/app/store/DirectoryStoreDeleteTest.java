/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static io.tierlog.agent.app.store.StoreContractTest.BLOCK;
import static io.tierlog.agent.app.store.StoreContractTest.buffer;
import static io.tierlog.agent.app.store.StoreContractTest.crc;
import static io.tierlog.agent.app.store.StoreContractTest.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Deletes in a directory: what they leave behind, what a death in their midst does, and what servers answer. */
class DirectoryStoreDeleteTest {
    @TempDir
    Path root;

    private StoreDirectory directory = new StoreDirectory(Path.of(""), DirectoryStore.Options.DEFAULTS);

    @BeforeEach
    void open() {
        directory = new StoreDirectory(root, DirectoryStore.Options.DEFAULTS);
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
    void aDeletedKeyLeavesTheFloorOfItsFanAndNothingElse() throws IOException {
        DirectoryStore store = store();
        for (int generation = 1; generation <= 3; generation++) {
            assertEquals(generation, write(store, 1).generation());
            assertEquals(BlockStatus.GONE, store.delete(name(1), generation).status());
        }
        assertEquals(3, Files.size(root.resolve("floors").resolve(directory.fan(name(1)))));
        assertEquals(List.of(), names(directory.fanDirectory(name(1))));
        assertEquals(List.of(), names(root.resolve("incoming")));
        assertEquals(1, names(root.resolve("locks")).size());
        assertEquals(4, write(store(), 1).generation(), "another process goes on from there");
    }

    /** A rename would change the time at which the file was last changed, and a reader would miss it. */
    @Test
    @Timeout(60)
    void aLateRemovalLeavesANewerGenerationInSight() throws Exception {
        DirectoryStore store = store();
        write(store, 1);
        store.delete(name(1), 1);
        assertEquals(2, write(store, 1).generation());
        Object changed = Files.getAttribute(directory.object(name(1)), "unix:ctime");
        AtomicInteger removals = new AtomicInteger();
        try (ExecutorService remover = Executors.newSingleThreadExecutor()) {
            Future<?> late = remover.submit(() -> {
                while (removals.get() < 2_000) {
                    assertEquals(OperationReason.STALE_GENERATION, store.remove(name(1), 1).reason());
                    removals.incrementAndGet();
                }
                return null;
            });
            while (removals.get() < 2_000 && !late.isDone()) {
                assertEquals(Result.arrived(crc(1), 2), read(store, 1));
            }
            late.get();
        }
        assertEquals(changed, Files.getAttribute(directory.object(name(1)), "unix:ctime"), "never renamed");
    }

    /** Four paths to one directory, one of them through a symbolic link: four stores in one process. */
    @Test
    @Timeout(60)
    void severalStoresOnOneDirectoryGiveEachGenerationOnce(@TempDir Path elsewhere) throws Exception {
        Path link = Files.createSymbolicLink(elsewhere.resolve("link"), root);
        DirectoryStore linked = DirectoryStore.open(link, DirectoryStore.Options.DEFAULTS);
        Churn churn = new Churn(List.of(store(), linked, store())).until(500);
        assertEquals(List.of(), churn.failures());
        assertEquals(List.of(), Churn.twice(churn.given()));
    }

    @Test
    void aFloorNeverFalls() throws IOException {
        Path fan = directory.fan(name(1));
        store();
        assertEquals(0, directory.floor(name(1)));
        directory.floors().raise(fan, 7);
        directory.floors().raise(fan, 3);
        assertEquals(7, directory.floors().of(fan));
        assertEquals(7, directory.floors().made(fan), "made once");
        assertEquals(8, write(store(), 1).generation());
    }

    /** A deleter that was killed after it raised the floor has deleted nothing, and the delete can be repeated. */
    @Test
    void whoDiesBetweenTheFloorAndTheNameLeavesTheObject() throws IOException {
        write(store(), 1);
        directory.floors().raise(directory.fan(name(1)), 1);
        assertEquals(Result.arrived(crc(1), 1), read(store(), 1));
        assertEquals(Result.gone(1), store().delete(name(1), 1));
        assertEquals(2, write(store(), 1).generation());
    }

    @Test
    void aFileSystemWithoutLocksSaysThatDeletesNeedThem() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        // What cannot be opened to write cannot be locked.
        Files.createDirectory(root.resolve("locks").resolve(directory.fan(name(1)).getFileName().toString().substring(0, 2)));
        Result result = store.delete(name(1), 1);
        assertEquals(OperationReason.IO, result.reason());
        assertTrue(result.detail().contains("deletes need file locks"), result.detail());
        assertEquals(Result.arrived(crc(1), 1), read(store, 1));
        assertEquals(BlockStatus.ARRIVED, write(store, 2).status());
        Files.write(directory.object(name(1)), new byte[60]);
        assertEquals(OperationReason.CHECKSUM, read(store, 1).reason());
        assertEquals(OperationReason.CHECKSUM, read(store, 1).reason(), "what is wrong stays and is found every time");
        assertEquals(OperationReason.CHECKSUM, write(store, 1).reason());
    }

    /** The second reader of a wrong object comes when a right one lies there. */
    @Test
    void whatIsRightWhenLookedAtAgainIsNotMovedAside() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        Result found = new ObjectRemoval(directory).moveAside(name(1), () -> read(store, 1));
        assertEquals(Result.arrived(crc(1), 1), found);
        assertEquals(Presence.PRESENT, store.probe(name(1)));
        assertEquals(0, directory.floor(name(1)));
    }

    /** A put whose floor was raised between its link and its second look. */
    @Test
    void aLatePutTakesAwayWhatItPut() throws IOException {
        DirectoryStore store = store();
        write(store, 1);
        Path fan = directory.fan(name(1));
        directory.floors().raise(fan, 1);
        assertEquals(Result.gone(1), store.remove(name(1), 1));
        assertEquals(OperationReason.NOT_FOUND, store.remove(name(1), 1).reason(), "once");
        assertEquals(2, write(store, 1).generation());
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

    /**
     * The name is taken when the link is tried and free when it is looked at: the other object was deleted in between. A symbolic link to nowhere is
     * both to the operating system.
     */
    @Test
    void aNameThatIsFreedAfterItsLinkFailedWasTaken() throws IOException {
        Path file = Files.write(root.resolve("a"), new byte[] {1});
        Path freed = Files.createSymbolicLink(root.resolve("b"), root.resolve("nowhere"));
        assertThrows(FileAlreadyExistsException.class, () -> StoreDirectory.link(file, freed));
    }

    /** Each of several links of one put meets another object that is deleted before it can be looked at. */
    @ParameterizedTest
    @CsvSource({"1, ARRIVED", "2, ARRIVED", "7, ARRIVED", "8, FAILED"})
    void aPutWhoseWayIsFreedMeanwhileIsTriedAgain(int times, BlockStatus status) throws IOException {
        write(store(), 2);
        AtomicInteger met = new AtomicInteger();
        DirectoryStore store = new DirectoryStore(directory, false, (file, name) -> {
            if (met.getAndIncrement() < times) {
                Files.createDirectories(name.getParent());
                Files.createSymbolicLink(name, root.resolve("nowhere"));
                try {
                    StoreDirectory.link(file, name);
                } finally {
                    Files.delete(name);
                }
            } else {
                StoreDirectory.link(file, name);
            }
        });
        Result result = write(store, 1);
        assertEquals(status, result.status(), result.detail());
        assertEquals(status == BlockStatus.ARRIVED ? "" : "object 0000000000000001: what lies beside it was deleted 8 times while it was put",
                result.detail());
        assertEquals(Math.min(times + 1, 8), met.get(), "links");
        assertEquals(status, read(store, 1).status());
        assertEquals(List.of(), names(root.resolve("incoming")));
    }

    @Test
    void aFileSystemWithoutHardLinksIsNamedAtTheStart() throws IOException {
        Configuration plain = Configuration.unix().toBuilder().setSupportedFeatures(Feature.FILE_CHANNEL).build();
        try (FileSystem files = Jimfs.newFileSystem(plain)) {
            Path store = files.getPath("/store");
            StoreDirectory refused = new StoreDirectory(store, DirectoryStore.Options.DEFAULTS);
            IOException why = assertThrows(IOException.class, () -> refused.prepare(Duration.ofHours(1)));
            assertTrue(why.getMessage().contains("no hard link could be made there"), why.getMessage());
            DirectoryStore open = DirectoryStore.open(store, DirectoryStore.Options.DEFAULTS);
            assertEquals(OperationReason.IO, write(open, 1).reason());
            assertEquals(List.of(), names(store.resolve("incoming")));
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
        "No space left on device, NO_ROOM",
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
