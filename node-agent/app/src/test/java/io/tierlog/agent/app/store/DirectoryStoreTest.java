/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The contract on a directory, and what file systems do to one. */
class DirectoryStoreTest extends StoreContractTest {
    @TempDir
    Path parent;

    private Path root = Path.of("");
    private final List<DirectoryStore> opened = new ArrayList<>();

    @BeforeEach
    void open() {
        root = parent.resolve("store");
        opened.add(DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS));
    }

    @Override
    SharedStore store() {
        return opened.getFirst();
    }

    @Test
    void anotherProcessSeesTheObjects() {
        write(1);
        DirectoryStore other = DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
        assertEquals(Presence.PRESENT, other.probe(name(1)));
        assertEquals(Result.arrived(crc(1), 1), other.read(name(1), ByteBuffer.allocateDirect(BLOCK)));
    }

    @ParameterizedTest
    @CsvSource({"5, magic", "10, generation", "40, namespace", "70, key", "126, header checksum", "128, first byte", "1127, last byte"})
    void aFlippedByteIsFoundMovedAsideAndReplaced(int at, String where) throws IOException {
        write(1);
        byte[] image = Files.readAllBytes(file(1));
        image[at] ^= 0x20;
        Files.write(file(1), image);
        wrongThenHealed(where);
        try (Stream<Path> aside = Files.list(root.resolve("aside"))) {
            assertArrayEquals(image, Files.readAllBytes(aside.findFirst().orElseThrow()), "the wrong object is kept for people");
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "100", "128", "1127"})
    void aShortObjectIsFound(int length) throws IOException {
        write(1);
        Files.write(file(1), java.util.Arrays.copyOf(Files.readAllBytes(file(1)), length));
        assertEquals(SharedStore.Presence.PRESENT, store().probe(name(1)), "its name is there");
        assertEquals(SharedStore.Presence.ABSENT, store().check(name(1), BLOCK));
        wrongThenHealed("cut to " + length);
    }

    @Test
    void aLongObjectIsFound() throws IOException {
        write(1);
        Files.write(file(1), java.util.Arrays.copyOf(Files.readAllBytes(file(1)), 128 + BLOCK + 1));
        wrongThenHealed("one byte too many");
    }

    @Test
    void anObjectUnderAWrongNameIsFound() throws IOException {
        write(1);
        write(2);
        Files.write(file(1), Files.readAllBytes(file(2)));
        wrongThenHealed("object 2 under the name of 1");
        assertEquals(BlockStatus.ARRIVED, read(2).status(), "the other object is as it was");
    }

    @Test
    void aWriterReplacesAnObjectWithoutAWholeHeader() throws IOException {
        write(1);
        Files.write(file(1), new byte[60]);
        assertEquals(Result.arrived(crc(1), 2), write(1));
        assertEquals(1, opened.getFirst().wrongObjects());
        assertEquals(BlockStatus.ARRIVED, read(1).status());
    }

    @Test
    void leftoversOfCrashedWritersAreRemovedByAge() throws IOException {
        Path old = Files.write(root.resolve("incoming/crashed-1"), new byte[5]);
        Path young = Files.write(root.resolve("incoming/alive-1"), new byte[5]);
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofMinutes(61))));
        DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
        assertFalse(Files.exists(old));
        assertTrue(Files.exists(young), "its writer may be alive");
    }

    @Test
    void nothingIsLeftBesideTheObjects() throws IOException {
        write(1);
        write(1);
        try (Stream<Path> incoming = Files.list(root.resolve("incoming"))) {
            assertEquals(0, incoming.count());
        }
    }

    @Test
    void aStoreThatIsGoneIsUnavailableAndComesBack() throws IOException {
        write(1);
        Path elsewhere = parent.resolve("elsewhere");
        Files.move(root, elsewhere);
        // What an unmounted file system leaves behind: an empty directory.
        Files.createDirectory(root);
        assertEquals(Presence.UNREACHABLE, store().probe(name(1)));
        assertEquals(OperationReason.STORE_UNAVAILABLE, read(1).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, write(2).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, store().delete(name(1), 1).reason());
        try (Stream<Path> inside = Files.list(root)) {
            assertEquals(0, inside.count(), "nothing grows in the mount point");
        }
        Files.delete(root);
        Files.move(elsewhere, root);
        assertEquals(BlockStatus.ARRIVED, read(1).status());
        assertEquals(BlockStatus.ARRIVED, write(2).status());
    }

    @Test
    void aStoreThatCannotBeMadeIsUnavailable() throws IOException {
        Path blocked = Files.writeString(parent.resolve("file"), "not a directory").resolve("store");
        DirectoryStore store = DirectoryStore.open(blocked, DirectoryStore.Options.DEFAULTS);
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.write(name(1), buffer(1), crc(1)).reason());
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
    }

    @Test
    void aFullDiskIsATypedAnswerAndLeavesNothingBehind() throws IOException {
        // Space for 16 disk blocks of 256 bytes; an object of 1,128 bytes takes 5, so the fourth write finds none.
        Configuration disk = Configuration.unix().toBuilder().setBlockSize(256).setMaxSize(16 * 256).build();
        try (FileSystem full = Jimfs.newFileSystem(disk)) {
            DirectoryStore store = DirectoryStore.open(full.getPath("/store"), DirectoryStore.Options.DEFAULTS);
            assertEquals(BlockStatus.ARRIVED, store.write(name(1), buffer(1), crc(1)).status());
            Result last = Result.arrived(0, 0);
            for (int seed = 2; seed < 6 && last.status() != BlockStatus.FAILED; seed++) {
                last = store.write(name(seed), buffer(seed), crc(seed));
            }
            assertEquals(OperationReason.IO, last.reason(), last.detail());
            try (Stream<Path> incoming = Files.list(full.getPath("/store/incoming"))) {
                assertEquals(0, incoming.count());
            }
            assertEquals(BlockStatus.ARRIVED, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).status(), "what is there is served");
        }
    }

    @Test
    void fsyncedWritesAreWritesToo() {
        DirectoryStore durable = DirectoryStore.open(root, new DirectoryStore.Options(true, Duration.ofHours(1)));
        assertEquals(Result.arrived(crc(1), 1), durable.write(name(1), buffer(1), crc(1)));
        assertEquals(BlockStatus.ARRIVED, read(1).status());
    }

    private void wrongThenHealed(String where) {
        assertEquals(OperationReason.CHECKSUM, read(1).reason(), where);
        assertEquals(1, opened.getFirst().wrongObjects());
        assertEquals(OperationReason.NOT_FOUND, read(1).reason(), "it was moved aside");
        assertEquals(Result.arrived(crc(1), 2), write(1), "and the next write puts the next generation");
        assertEquals(Result.arrived(crc(1), 2), read(1));
    }

    private Path file(int seed) throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve("objects"))) {
            return files.filter(file -> file.getFileName().toString().equals(name(seed).key().hex())).findFirst().orElseThrow();
        }
    }
}
