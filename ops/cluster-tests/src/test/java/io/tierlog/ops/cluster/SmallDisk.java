/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A file system of a few hundred megabytes in memory, which outlives the containers that see it. Needs root. For one thread. */
final class SmallDisk implements AutoCloseable {
    /** By this name and the process behind it {@code ops/containers/docker-down} finds what a killed run left. */
    private static final String SOURCE = "tierlog-test-disk-" + ProcessHandle.current().pid();

    private static final String FILLER = "filler";
    private static final int PIECE = 1 << 20;
    private static final long AGAIN_NANOS = 50_000_000;

    private final Path directory;
    private @Nullable Thread filling;

    /** Mounts it at {@code directory}, which is made; {@code owner} is {@code UID:GID}. */
    SmallDisk(Path directory, int megabytes, String owner) throws IOException {
        this.directory = Files.createDirectories(directory);
        String[] ids = owner.split(":", -1);
        Machine.run(mount(directory, megabytes, ",mode=0777,uid=" + ids[0] + ",gid=" + ids[1]));
    }

    private static List<String> mount(Path directory, int megabytes, String options) {
        return List.of("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m" + options, SOURCE, directory.toString());
    }

    /** Whether this process may mount file systems here. */
    static boolean isPossible() {
        if (!Machine.has("mount", "umount")) {
            return false;
        }
        try {
            Path tried = Files.createTempDirectory("small-disk");
            boolean possible = Machine.runs(mount(tried, 1, "")) && Machine.runs(List.of("umount", tried.toString()));
            Files.delete(tried);
            return possible;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path directory() {
        return directory;
    }

    /** Takes every free byte, also those that others give back later, until {@link #free}. */
    void fill() {
        fillUp();
        filling = Thread.ofPlatform().daemon().name("fill-" + directory.getFileName()).start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.parkNanos(AGAIN_NANOS);
                fillUp();
            }
        });
    }

    private void fillUp() {
        for (byte[] piece : List.of(new byte[PIECE], new byte[1])) {
            try (OutputStream file = Files.newOutputStream(directory.resolve(FILLER + piece.length), StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND)) {
                while (true) {
                    file.write(piece);
                }
            } catch (IOException e) {
                // It is full.
            }
        }
    }

    /** Gives back what {@link #fill} took. */
    void free() {
        Thread running = filling;
        if (running != null) {
            running.interrupt();
            try {
                running.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            filling = null;
        }
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
        free();
        Machine.run(List.of("umount", "-l", directory.toString()));
    }
}
