/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
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
 *   aside/NAMESPACE-KEY.GENERATION                wrong objects, kept for people, at most 1,000 of them
 * </pre>
 *
 * <p>Temporary files have one directory of their own instead of lying beside their objects: what a crashed writer left is found without
 * looking through the whole store.
 */
final class StoreDirectory {
    private static final int FAN_BITS = 12;
    private static final int MOST_ASIDE = 1_000;
    private static final int SHORT_NAMESPACE_BYTES = 16;
    private static final HexFormat HEX = HexFormat.of();

    private final Path root;
    private final Path marker;
    private final Path objects;
    private final Path incoming;
    private final Path aside;
    private final String process = HEX.toHexDigits(ThreadLocalRandom.current().nextLong());
    private final AtomicLong number = new AtomicLong();
    private final AtomicInteger setAside = new AtomicInteger();

    StoreDirectory(Path root) {
        this.root = root;
        this.marker = root.resolve("tierlog-store");
        this.objects = root.resolve("objects");
        this.incoming = root.resolve("incoming");
        this.aside = root.resolve("aside");
    }

    Path root() {
        return root;
    }

    /** Makes what is missing, and removes temporary files that were last written to longer ago than {@code leftoverAge}. */
    void prepare(Duration leftoverAge) throws IOException {
        Files.createDirectories(root);
        for (Path directory : new Path[] {objects, incoming, aside}) {
            Files.createDirectories(directory);
        }
        try {
            Files.writeString(marker, "version=1\n", java.nio.file.StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException e) {
            // It is a store already.
        }
        FileTime oldest = FileTime.from(Instant.now().minus(leftoverAge));
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(incoming)) {
            for (Path leftover : leftovers) {
                removeIfOlder(leftover, oldest);
            }
        }
        try (DirectoryStream<Path> wrong = Files.newDirectoryStream(aside)) {
            wrong.forEach(file -> setAside.incrementAndGet());
        }
    }

    private static void removeIfOlder(Path leftover, FileTime oldest) throws IOException {
        try {
            if (Files.getLastModifiedTime(leftover).compareTo(oldest) < 0) {
                Files.deleteIfExists(leftover);
            }
        } catch (NoSuchFileException e) {
            // Its writer is alive and has just finished.
        }
    }

    /** True while the store is there: an unmounted file system leaves an empty directory behind. */
    boolean present() {
        return Files.exists(marker);
    }

    Path object(ObjectName name) {
        int fan = Checksums.crc32c(name.key().unshared(), 0, name.key().size()) >>> (Integer.SIZE - FAN_BITS);
        return objects.resolve(namespaceOf(name)).resolve(HEX.toHexDigits(fan, FAN_BITS / 4)).resolve(name.key().hex());
    }

    Path newTemporary() {
        return incoming.resolve(process + "-" + number.incrementAndGet());
    }

    /** Generation for the next object of this name: one more than there are wrong ones set aside. */
    long nextGeneration(ObjectName name) {
        long generation = 1;
        while (Files.exists(asideOf(name, generation))) {
            generation++;
        }
        return generation;
    }

    /** Moves a wrong object out of the way; when too many are kept already it is deleted. */
    void moveAside(ObjectName name) throws IOException {
        try {
            if (setAside.incrementAndGet() > MOST_ASIDE) {
                setAside.decrementAndGet();
                Files.deleteIfExists(object(name));
            } else {
                Files.move(object(name), asideOf(name, nextGeneration(name)));
            }
        } catch (NoSuchFileException e) {
            // Another reader was faster.
        }
    }

    private Path asideOf(ObjectName name, long generation) {
        return aside.resolve(namespaceOf(name) + "-" + name.key().hex() + "." + generation);
    }

    private static String namespaceOf(ObjectName name) {
        return HEX.formatHex(name.namespace().unshared(), 0, SHORT_NAMESPACE_BYTES);
    }
}
