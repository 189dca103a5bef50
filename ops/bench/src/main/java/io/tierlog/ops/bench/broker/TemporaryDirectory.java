/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A directory that {@link #close} removes. Safe for use by several threads.
 *
 * <p>Trade-off: a process that is killed outright leaves it behind, in the temporary directory of the system.
 */
public final class TemporaryDirectory implements AutoCloseable {
    /** Begins the name of what a benchmark creates; with the process, so that of several beside each other each knows its own. */
    public static final String PREFIX = "tierlog-bench-" + ProcessHandle.current().pid() + "-";

    private static final int ATTEMPTS = 20;
    private static final long BETWEEN_ATTEMPTS_NANOS = 100_000_000;

    private final Path path;

    private TemporaryDirectory(Path path) {
        this.path = path;
    }

    /** Creates one in the temporary directory of the system. */
    public static TemporaryDirectory create() {
        return create(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** Creates one in another directory, which must exist. */
    public static TemporaryDirectory create(Path parent) {
        try {
            return new TemporaryDirectory(Files.createTempDirectory(parent, PREFIX));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot create a temporary directory in " + parent, failure);
        }
    }

    /** Its path. */
    public Path path() {
        return path;
    }

    /** A path in it. */
    public Path resolve(String name) {
        return path.resolve(name);
    }

    /** Removes it with everything in it; what other threads remove meanwhile is not an error. */
    @Override
    public void close() {
        remove(path);
    }

    /** {@link #close} while other threads may still create files in it, as after a signal: tries again for two seconds. */
    public void closeUnderWriters() {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                close();
                return;
            } catch (UncheckedIOException failure) {
                if (attempt == ATTEMPTS) {
                    throw failure;
                }
                LockSupport.parkNanos(BETWEEN_ATTEMPTS_NANOS);
            }
        }
    }

    /** Removes a directory with everything in it, if it is there; what other threads remove meanwhile is not an error. */
    public static void remove(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                    if (failure instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw failure;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path emptied, @Nullable IOException failure) throws IOException {
                    if (failure != null) {
                        throw failure;
                    }
                    Files.deleteIfExists(emptied);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot remove the temporary directory " + directory, failure);
        }
    }
}
