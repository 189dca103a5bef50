/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where things lie in the directory of a store. Safe for use by several threads and processes.
 *
 * <pre>
 *   tierlog-store                                 marker: without it this is an empty mount point or something else
 *   objects/NAMESPACE/FAN/KEY                     the objects; 4,096 FAN directories per namespace, by CRC32C of the key
 *   incoming/PROCESS-NUMBER                       being written; on the same file system, so that a link makes it an object
 *   floors/NAMESPACE/FAN                          its size is the highest generation deleted there
 *   locks/NN                                      locked by the process that deletes
 *   aside/NAMESPACE-KEY.COPY                      wrong objects, kept for people, at most 1,000 of them
 * </pre>
 *
 * <p>Temporary files have one directory of their own instead of lying beside their objects: what a crashed writer left is found without
 * looking through the whole store. At start those that no process has touched lately are removed, a bounded number of them; their age is counted
 * by the clock of the file system, which on a network is another one than ours.
 */
final class StoreDirectory {
    private static final int FAN_BITS = 12;
    private static final int MOST_ASIDE = 1_000;
    private static final int MOST_LEFTOVERS = 10_000;
    private static final int SHORT_NAMESPACE_BYTES = 16;
    private static final HexFormat HEX = HexFormat.of();

    private final Path root;
    private final Path marker;
    private final Path objects;
    private final Path incoming;
    private final Path aside;
    private final GenerationFloors floors;
    private final FanLocks locks;
    private final boolean fsync;
    private final String process = HEX.toHexDigits(ThreadLocalRandom.current().nextLong());
    private final AtomicLong number = new AtomicLong();
    private final AtomicInteger setAside = new AtomicInteger();

    StoreDirectory(Path root, DirectoryStore.Options options) {
        this.root = root;
        this.fsync = options.fsync();
        this.marker = root.resolve(DirectoryStore.MARKER);
        this.objects = root.resolve("objects");
        this.incoming = root.resolve("incoming");
        this.aside = root.resolve("aside");
        this.floors = new GenerationFloors(root.resolve("floors"), fsync);
        this.locks = new FanLocks(root.resolve("locks"), options.longestLockWait());
    }

    Path root() {
        return root;
    }

    /** Makes what is missing, and removes leftovers last touched longer ago than {@code leftoverAge}. */
    void prepare(Duration leftoverAge) throws IOException {
        for (Path directory : new Path[] {objects, incoming, locks.directory(), aside}) {
            GenerationFloors.createDirectories(directory, fsync);
        }
        try {
            Files.writeString(marker, "version=1\n", StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException e) {
            // It is a store already.
        }
        removeOlder(now().minus(leftoverAge));
        try (DirectoryStream<Path> wrong = Files.newDirectoryStream(aside)) {
            wrong.forEach(file -> setAside.incrementAndGet());
        }
        tryLink();
    }

    /** Without hard links every write would fail: some network file systems have none. */
    private void tryLink() throws IOException {
        Path file = newTemporary();
        Path name = newTemporary();
        Files.createFile(file);
        try {
            link(file, name);
        } catch (IOException e) {
            throw new IOException("every write will fail, since no hard link could be made there: " + e, e);
        } finally {
            Files.deleteIfExists(name);
            Files.deleteIfExists(file);
        }
    }

    /** The time by the clock that stamps files here. */
    Instant now() throws IOException {
        Path stamped = newTemporary();
        Files.createFile(stamped);
        try {
            return Files.getLastModifiedTime(stamped).toInstant();
        } finally {
            Files.deleteIfExists(stamped);
        }
    }

    private void removeOlder(Instant oldest) throws IOException {
        int removed = 0;
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(incoming)) {
            for (Path leftover : leftovers) {
                try {
                    if (removed < MOST_LEFTOVERS && Files.getLastModifiedTime(leftover).toInstant().compareTo(oldest) < 0) {
                        Files.deleteIfExists(leftover);
                        removed++;
                    }
                } catch (NoSuchFileException e) {
                    // Whose it is lives, and has just finished.
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** True while the store is there: an unmounted file system leaves an empty directory behind. */
    boolean present() {
        return Files.exists(marker);
    }

    /** Where the objects lie, by namespace and fan. */
    Path objects() {
        return objects;
    }

    Path object(ObjectName name) {
        return fanDirectory(name).resolve(name.key().hex());
    }

    /** The directory that an object lies in. */
    Path fanDirectory(ObjectName name) {
        return objects.resolve(fan(name));
    }

    /** The fan directory of an object, by its place in any tree of them. */
    Path fan(ObjectName name) {
        int fan = Checksums.crc32c(name.key().unshared(), 0, name.key().size()) >>> (Integer.SIZE - FAN_BITS);
        return root.getFileSystem().getPath(namespaceOf(name), HEX.toHexDigits(fan, FAN_BITS / 4));
    }

    Path newTemporary() {
        return incoming.resolve(process + "-" + number.incrementAndGet());
    }

    /** Generations of what was deleted. */
    GenerationFloors floors() {
        return floors;
    }

    /** Of those that remove. */
    FanLocks locks() {
        return locks;
    }

    /** The floor under an object, made if need be. {@link NoSuchFileException} when the store is gone: nothing shall grow in its mount point. */
    long floor(ObjectName name) throws IOException {
        try {
            return floors.of(fan(name));
        } catch (NoSuchFileException e) {
            if (!present()) {
                throw e;
            }
            return floors.made(fan(name));
        }
    }

    /** Makes the names beside an object durable, if that is the policy. */
    void forceFan(ObjectName name) throws IOException {
        if (fsync) {
            GenerationFloors.force(fanDirectory(name));
        }
    }

    /**
     * Gives a file another name if no other file has that one. {@link FileAlreadyExistsException} when one has it, or had it and was deleted before
     * it could be looked at; {@link NoSuchFileException} only when the directory of the name, or the file, is not there.
     */
    static void link(Path file, Path name) throws IOException {
        try {
            Files.createLink(name, file);
        } catch (FileAlreadyExistsException e) {
            // A server whose answer was lost says so to the repetition of the call.
            if (!isOneFile(file, name)) {
                throw e;
            }
        } catch (UnsupportedOperationException e) {
            throw new IOException("this file system has no hard links", e);
        }
    }

    private static boolean isOneFile(Path file, Path name) throws IOException {
        try {
            return Files.isSameFile(file, name);
        } catch (NoSuchFileException e) {
            // Deleted since. If it was ours, whose answer was lost, its generation is used up.
            return false;
        }
    }

    /** Moves a wrong object out of the way; when too many are kept already it is deleted. The caller is alone ({@link FanLocks}). */
    void moveAside(ObjectName name) throws IOException {
        try {
            if (setAside.incrementAndGet() > MOST_ASIDE) {
                setAside.decrementAndGet();
                Files.deleteIfExists(object(name));
            } else {
                Files.move(object(name), freeAside(name));
            }
        } catch (NoSuchFileException e) {
            // It was removed by hand.
        }
    }

    private Path freeAside(ObjectName name) {
        int copy = 1;
        while (Files.exists(asideOf(name, copy))) {
            copy++;
        }
        return asideOf(name, copy);
    }

    private Path asideOf(ObjectName name, int copy) {
        return aside.resolve(namespaceOf(name) + "-" + name.key().hex() + "." + copy);
    }

    private static String namespaceOf(ObjectName name) {
        return HEX.formatHex(name.namespace().unshared(), 0, SHORT_NAMESPACE_BYTES);
    }
}
