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
import org.jspecify.annotations.Nullable;

/**
 * A directory that is gone when it is closed, or when the process ends by a signal. Safe for use by several threads.
 *
 * <p>The price: a process that is killed outright leaves it behind, under the system's directory for such things.
 */
public final class TemporaryDirectory implements AutoCloseable {
    private final Path path;

    private TemporaryDirectory(Path path) {
        this.path = path;
    }

    /** Makes one. */
    public static TemporaryDirectory create(String prefix) {
        try {
            return new TemporaryDirectory(Files.createTempDirectory(prefix));
        } catch (IOException failure) {
            throw new UncheckedIOException("no temporary directory can be made", failure);
        }
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** A directory in it, which the one who is given the path makes. */
    public Path resolve(String name) {
        return path.resolve(name);
    }

    /** Removes it with everything in it; what others remove meanwhile is no error. */
    @Override
    public void close() {
        if (!Files.exists(path)) {
            return;
        }
        try {
            Files.walkFileTree(path, new SimpleFileVisitor<>() {
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
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
                    if (failure != null) {
                        throw failure;
                    }
                    Files.deleteIfExists(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException failure) {
            throw new UncheckedIOException("the temporary directory " + path + " cannot be removed", failure);
        }
    }
}
