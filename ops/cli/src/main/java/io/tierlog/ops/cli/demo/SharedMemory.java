/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directories of this run: device memory in a memory file system where there is one. Static and without state. */
final class SharedMemory {
    private static final Path MEMORY_FILE_SYSTEM = Path.of("/dev/shm");

    private SharedMemory() {}

    /** A fresh directory for device memory that engine and agents share. */
    static Path directory() {
        boolean there = Files.isDirectory(MEMORY_FILE_SYSTEM) && Files.isWritable(MEMORY_FILE_SYSTEM);
        try {
            return there ? Files.createTempDirectory(MEMORY_FILE_SYSTEM, "tierlog-") : Files.createTempDirectory("tierlog-device-");
        } catch (IOException e) {
            throw new CliError(
                    "cannot make a directory for device memory: " + Causes.of(e), "check the free space of /dev/shm and /tmp", CliError.FAILURE, e);
        }
    }

    /** Deletes {@code directory} and all that is in it. */
    static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        List<Path> deepestFirst;
        try (Stream<Path> files = Files.walk(directory)) {
            deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory, e);
        }
    }
}
