/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What the generations of deleted objects leave behind: for each fan directory the highest of them, its floor. The next object there gets the floor
 * and one, so a generation rises when a deleted key is put again, and nothing is kept per deleted key.
 *
 * <pre>
 *   generations/NAMESPACE/FAN/NUMBER      empty; the highest number counts, lower ones are removed by whoever makes a higher one
 * </pre>
 *
 * <p>Safe for use by several threads and processes: a floor never falls. The price: a directory is listed twice for every object
 * written, and more often only while it changes. On NFS a client may see a floor made elsewhere as late as it caches directories (acdirmax, 60 s by
 * default); within that time a generation may be given again.
 */
final class GenerationFloors {
    private static final String NUMBER = "\\d{1,18}";

    /** Listings of a directory that changes all the time, or in which the first number is not made yet. */
    private static final int MOST_LISTINGS = 16;

    private final Path root;
    private final boolean fsync;

    GenerationFloors(Path root, boolean fsync) {
        this.root = root;
        this.fsync = fsync;
    }

    /**
     * The floor of a fan directory: no object there has a generation above it and one.
     *
     * <p>A listing is no moment: it may miss the number that was made after it began, and the one that was removed before it came there. A floor
     * never falls, so it is listed until twice the same is seen, and never believed to be gone where one was made.
     */
    long of(Path fan) throws IOException {
        Path directory = root.resolve(fan);
        long floor = highest(directory);
        for (int again = 0; again < MOST_LISTINGS; again++) {
            long now = highest(directory);
            if (now == floor && (now > 0 || !Files.isDirectory(directory))) {
                return floor;
            }
            floor = Math.max(floor, now);
        }
        return floor;
    }

    private static long highest(Path directory) throws IOException {
        return numbers(directory).stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /** Raises a floor to a generation, if it is lower; by policy durable when this returns. */
    void raise(Path fan, long to) throws IOException {
        Path directory = root.resolve(fan);
        createDirectories(directory, fsync);
        try {
            Files.createFile(directory.resolve(Long.toString(to)));
        } catch (FileAlreadyExistsException e) {
            // Another one has raised it as far.
        }
        if (fsync) {
            force(directory);
        }
        for (long number : numbers(directory)) {
            if (number < to) {
                Files.deleteIfExists(directory.resolve(Long.toString(number)));
            }
        }
    }

    private static List<Long> numbers(Path directory) throws IOException {
        List<Long> numbers = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.matches(NUMBER)) {
                    numbers.add(Long.parseLong(name));
                }
            }
        } catch (NoSuchFileException e) {
            // Nothing has ever been deleted there.
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return numbers;
    }

    /** Makes a directory and what is missing above it; by policy each is durable in its parent. */
    static void createDirectories(Path directory, boolean fsync) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Path parent = directory.getParent();
        if (!fsync || parent == null) {
            Files.createDirectories(directory);
            return;
        }
        createDirectories(parent, true);
        Files.createDirectories(directory);
        force(parent);
    }

    /** Makes the names in a directory durable. */
    static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
