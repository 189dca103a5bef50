/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A walk over the objects of a directory that were put some time ago, and their removal one by one: for the collection of what no log knows.
 *
 * <p>An object is taken only as it was found. The removal looks at its time and its generation again, and deletes that generation alone: an object
 * that was put meanwhile stays. Times are those of the file system's clock, which on a network is another one than ours. A wrong object stays too:
 * reads find it and move it aside.
 *
 * <p>For one thread. Trade-off: every file is looked at, one call to the file system each; no object is opened before its removal. Memory: the names
 * of one step, and of the fan directories that are still ahead in one namespace, 4,096 at most.
 */
public final class OldObjects {
    private static final HexFormat HEX = HexFormat.of();

    private final StoreDirectory directory;
    private final DirectoryStore store;
    private final Instant putBefore;
    private final Deque<Path> namespaces;
    private final Deque<Path> fans = new ArrayDeque<>();

    /**
     * An object that was put before the walk's time.
     *
     * @param name the first 16 bytes of the SHA-256 of its namespace, and its key: how records of placements begin their keys
     * @param bytes of its file
     */
    public record Found(Bytes name, long bytes, Path file) {}

    /** A walk over what was put longer ago than {@code age}; {@link NoSuchFileException} when the store is not there. */
    OldObjects(StoreDirectory directory, DirectoryStore store, Duration age) throws IOException {
        this.directory = directory;
        this.store = store;
        if (!directory.present()) {
            throw new NoSuchFileException(directory.root().toString(), null, "no store is there");
        }
        this.putBefore = directory.now().minus(age);
        this.namespaces = new ArrayDeque<>(sorted(directory.objects()));
    }

    /**
     * The next old objects: those of whole fan directories, until they are {@code least} or more. None at the end.
     *
     * @param least 1 or more
     * @throws IOException when the directory cannot be read
     */
    public List<Found> next(int least) throws IOException {
        List<Found> found = new ArrayList<>();
        while (found.size() < least && (!fans.isEmpty() || !namespaces.isEmpty())) {
            if (fans.isEmpty()) {
                fans.addAll(sorted(namespaces.remove()));
            } else {
                collect(fans.remove(), found);
            }
        }
        return found;
    }

    private void collect(Path fan, List<Found> found) throws IOException {
        for (Path file : sorted(fan)) {
            try {
                BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
                if (attributes.isRegularFile() && isOld(attributes)) {
                    found.add(new Found(name(file), attributes.size(), file));
                }
            } catch (NoSuchFileException e) {
                // It was deleted meanwhile.
            } catch (IllegalArgumentException e) {
                // No object has such a name: the file stays.
            }
        }
    }

    private boolean isOld(BasicFileAttributes attributes) {
        return attributes.lastModifiedTime().toInstant().isBefore(putBefore);
    }

    private static Bytes name(Path file) {
        Path namespace = file.getName(file.getNameCount() - 3);
        return Bytes.wrapUnshared(HEX.parseHex(namespace.toString() + file.getFileName()));
    }

    /**
     * Removes an object if it is still the one that was found.
     *
     * @return GONE with its generation; FAILED with NOT_FOUND, with STALE_GENERATION when it was put again since, with CHECKSUM when it is wrong, or
     *     with what the store suffers
     */
    public Result remove(Found found) {
        try {
            ObjectHeader header = header(found.file());
            if (header == null || !directory.object(header.name()).equals(found.file())) {
                return Result.failed(OperationReason.CHECKSUM, found.file() + " is no right object");
            }
            // After the header: who put it again after this look gave it a higher generation than the one in the header.
            if (!isOld(Files.readAttributes(found.file(), BasicFileAttributes.class))) {
                return Result.failed(OperationReason.STALE_GENERATION, found.file() + " was put again");
            }
            return store.delete(header.name(), header.generation());
        } catch (NoSuchFileException e) {
            return Result.failed(OperationReason.NOT_FOUND, "no object " + found.file());
        } catch (IOException e) {
            return Result.failed(StoreErrors.reason(e), found.file() + ": " + e);
        }
    }

    private static @Nullable ObjectHeader header(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(ObjectHeader.BYTES);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int read = 0;
            while (read >= 0 && bytes.hasRemaining()) {
                read = channel.read(bytes);
            }
        }
        return ObjectHeader.parse(bytes.flip()).orElse(null);
    }

    /** The entries of a directory by their names; none when it was removed. */
    private static List<Path> sorted(Path directory) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
            all.forEach(entries::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        entries.sort(null);
        return entries;
    }
}
