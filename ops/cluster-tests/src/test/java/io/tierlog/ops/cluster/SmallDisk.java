/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A file system of a few hundred megabytes in memory, which outlives the containers that see it. Needs root. For one thread. */
final class SmallDisk implements AutoCloseable {
    /** By this name {@code ops/containers/docker-down} finds what a killed run left. */
    private static final String SOURCE = "tierlog-test-disk";

    private static final String FILLER = "filler";
    private static final int PIECE = 1 << 20;

    private final Path directory;

    /** Mounts it at {@code directory}, which is made; {@code owner} is {@code UID:GID}. */
    SmallDisk(Path directory, int megabytes, String owner) throws IOException {
        this.directory = Files.createDirectories(directory);
        String[] ids = owner.split(":", -1);
        Machine.run(List.of("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m,mode=0777,uid=" + ids[0] + ",gid=" + ids[1], SOURCE,
                directory.toString()));
    }

    /** Whether this process may mount file systems here. */
    static boolean isPossible() {
        return "root".equals(System.getProperty("user.name")) && Machine.has("mount", "umount");
    }

    Path directory() {
        return directory;
    }

    /** Leaves no free byte. */
    void fill() {
        for (byte[] piece : List.of(new byte[PIECE], new byte[1])) {
            try (OutputStream file = Files.newOutputStream(directory.resolve(FILLER + piece.length))) {
                while (true) {
                    file.write(piece);
                }
            } catch (IOException e) {
                // It is full.
            }
        }
        long free = directory.toFile().getUsableSpace();
        if (free > 0) {
            throw new IllegalStateException(directory + " still has " + free + " bytes free");
        }
    }

    /** Gives back what {@link #fill} took. */
    void free() {
        try {
            Files.deleteIfExists(directory.resolve(FILLER + PIECE));
            Files.deleteIfExists(directory.resolve(FILLER + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes all files. */
    void clear() {
        try (Stream<Path> all = Files.walk(directory)) {
            all.filter(path -> !path.equals(directory)).sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        Machine.run(List.of("umount", "-l", directory.toString()));
    }
}
