/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of rows that RocksDB finds damaged: the files of the task are set aside under the state directory, one copy for each task, and
 * Streams restores the rows from their topic. Safe for use by several threads.
 *
 * <p>A disk that damages rows again and again is not worth a restore each time: after {@value #MOST} of a task in one process the failure is
 * passed on.
 */
public final class DamagedState {
    /** Where the files are set aside, in the state directory. */
    public static final String DIRECTORY = "corrupt-state";

    private static final Logger LOG = LoggerFactory.getLogger(DamagedState.class);
    private static final int MOST = 3;

    private final Path kept;
    private final Consumer<String> listener;
    private final Set<TaskId> toDelete = new HashSet<>();
    private final Map<TaskId, Integer> found = new HashMap<>();

    /**
     * @param stateDir the state directory of the instance
     * @param listener receives a sentence for people each time
     */
    public DamagedState(Path stateDir, Consumer<String> listener) {
        this.kept = stateDir.resolve(DIRECTORY);
        this.listener = listener;
    }

    /** The files that were damaged while the task ran are not opened again, whether or not Streams has deleted them. */
    synchronized void beforeOpening(TaskId task, Path files) {
        if (toDelete.remove(task)) {
            delete(files);
        }
    }

    /**
     * Rows cannot be opened. Damaged files are set aside, so that they can be opened again, empty.
     *
     * @throws ProcessorStateException {@code failure}, when it is about something else
     */
    synchronized void whileOpening(TaskId task, Path files, ProcessorStateException failure) {
        setAside(task, files, failure);
        delete(files);
    }

    /**
     * Rows cannot be read or written. Damaged files are set aside.
     *
     * @return what is to be thrown: then Streams begins the task again
     */
    synchronized RuntimeException whileRunning(TaskId task, Path files, ProcessorStateException failure) {
        if (toDelete.add(task)) {
            setAside(task, files, failure);
        }
        return new TaskCorruptedException(Set.of(task), failure);
    }

    private void setAside(TaskId task, Path files, ProcessorStateException failure) {
        if (!isDamage(failure) || found.merge(task, 1, Integer::sum) > MOST) {
            toDelete.remove(task);
            throw failure;
        }
        Path here = kept.resolve(task.toString());
        delete(here);
        copy(files, here);
        String what = "the state of task " + task + " was damaged and is restored from its topic; the damaged files are in " + here;
        LOG.warn("{} ({})", what, root(failure).getMessage());
        listener.accept(what);
    }

    /** Whether RocksDB has found its own files wrong or gone; a full disk, a lock or a missing permission is something else. */
    static boolean isDamage(Throwable failure) {
        if (!(root(failure) instanceof RocksDBException cause)) {
            return false;
        }
        Status status = cause.getStatus();
        String message = String.valueOf(cause.getMessage());
        return (status != null && status.getCode() == Status.Code.Corruption) || message.contains("No such file or directory");
    }

    /** What kept RocksDB from writing or reading its files, other than damage; empty when {@code failure} is about something else. */
    static Optional<Throwable> ofDisk(Throwable failure) {
        Throwable root = root(failure);
        boolean rows = false;
        for (Throwable each = failure; each != null; each = each.getCause()) {
            rows |= each instanceof ProcessorStateException;
        }
        boolean disk = root instanceof IOException || (root instanceof RocksDBException cause && !isDamage(cause)
                && cause.getStatus() != null && cause.getStatus().getCode() == Status.Code.IOError);
        return rows && disk ? Optional.of(root) : Optional.empty();
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    /** By links, since the files do not change any more and Streams deletes its own. */
    private static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.list(from)) {
            Files.createDirectories(to);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                try {
                    Files.createLink(to.resolve(file.getFileName()), file);
                } catch (IOException | UnsupportedOperationException e) {
                    Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
                }
            }
        } catch (IOException e) {
            LOG.warn("damaged files in {} could not be kept in {}: {}", from, to, e.getMessage());
        }
    }

    private static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                    Files.delete(visited);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("damaged files in " + directory + " cannot be deleted; delete them", e);
        }
    }
}
