/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.Moment;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of one log, in a directory. Several processes may use it at a time.
 *
 * <pre>
 *   DIR/snapshot-000001/partition-0 ... snapshot.properties, verified
 *   DIR/.making-UUID/          one that is being made, or was when its process ended; DIR/.making-UUID.lock is locked as long as it is made
 * </pre>
 *
 * <p>A snapshot is written beside the others, brought to the disk, and then gets its name in one step: what has a name is whole. What a killed
 * process left is deleted by the next one.
 */
public final class SnapshotDirectory {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotDirectory.class);
    private static final String SNAPSHOT = "snapshot";
    private static final String MAKING = ".making-";
    private static final String LOCK = ".lock";

    private final Path directory;
    private final SnapshotFiles files;
    private final String kind;
    private final Pattern name;

    /** The directory, which {@link #create} makes if there is none. */
    public SnapshotDirectory(Path directory) {
        this(directory, SnapshotFiles.DISK);
    }

    SnapshotDirectory(Path directory, SnapshotFiles files) {
        this(directory, files, SNAPSHOT);
    }

    /** A directory in which each has a name that begins with {@code kind}; others do not show. */
    SnapshotDirectory(Path directory, SnapshotFiles files, String kind) {
        this.directory = directory;
        this.files = files;
        this.kind = kind;
        this.name = Pattern.compile(kind + "-(\\d{6,9})");
    }

    /** Fills a directory. */
    @FunctionalInterface
    interface Maker {
        /** Writes the files of a snapshot and returns its manifest; empty when there is to be none. */
        Optional<Manifest> make(Path into) throws IOException, InterruptedException;
    }

    /**
     * The snapshot that a path names: a snapshot itself, or the last one of a directory of them.
     *
     * @throws AuditException when there is none
     */
    public static Snapshot find(Path path) {
        return Files.exists(path.resolve(Manifest.FILE)) ? Snapshot.in(path) : new SnapshotDirectory(path).last().orElseThrow(
                () -> noneIn(path));
    }

    private static AuditException noneIn(Path path) {
        return new AuditException("there is no snapshot in " + path, "make one with snapshot create --to " + path);
    }

    /**
     * The snapshot to begin at for a question about a moment: a snapshot itself, or of a directory the last one that is not later.
     *
     * @param moment with its partition
     * @throws AuditException when there is none, or the directory has only later ones
     */
    public static Snapshot find(Path path, Moment moment) {
        if (Files.exists(path.resolve(Manifest.FILE))) {
            return Snapshot.in(path);
        }
        List<Snapshot> all = new SnapshotDirectory(path).list();
        if (all.isEmpty()) {
            throw noneIn(path);
        }
        return all.reversed().stream().filter(one -> !one.isAfter(moment)).findFirst().orElseThrow(() -> new AuditException(
                "all snapshots in " + path + " are later than " + moment,
                "leave out --snapshot: the log is then read from its beginning; where that was trimmed, give with --log an archive that audit archive"
                        + " made before"));
    }

    /**
     * The snapshot of a name.
     *
     * @throws AuditException when there is none
     */
    public Snapshot get(String name) {
        return Snapshot.in(directory.resolve(name));
    }

    /** All snapshots, the oldest first; those that are damaged are left out. */
    public List<Snapshot> list() {
        List<Snapshot> found = new ArrayList<>();
        for (Path path : paths()) {
            try {
                found.add(Snapshot.in(path));
            } catch (AuditException e) {
                LOG.warn("{}", e.getMessage());
            }
        }
        return found;
    }

    /** The last whole snapshot. */
    public Optional<Snapshot> last() {
        List<Snapshot> all = list();
        return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
    }

    /**
     * The newest.
     *
     * @throws AuditException when its manifest is damaged
     */
    Optional<Snapshot> newest() {
        List<Path> all = paths();
        return all.isEmpty() ? Optional.empty() : Optional.of(Snapshot.in(all.getLast()));
    }

    /** Deletes all but the newest {@code count}, and the newest verified one: from it the next is verified where the log has no beginning. */
    public void keep(int count) {
        List<Path> all = paths();
        Optional<Path> verified = all.reversed().stream().filter(SnapshotDirectory::isVerified).findFirst();
        try {
            for (Path one : all.subList(0, Math.max(0, all.size() - count))) {
                if (verified.filter(one::equals).isPresent()) {
                    continue;
                }
                // What has a name is whole, so it loses its name first; when the process is killed here, the next one deletes the rest.
                Path leftover = directory.resolve(MAKING + UUID.randomUUID());
                whileLocked(leftover, () -> files.rename(one, leftover));
            }
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private static boolean isVerified(Path path) {
        try {
            return Snapshot.in(path).isVerified();
        } catch (AuditException e) {
            return false;
        }
    }

    private List<Path> paths() {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> names = Files.list(directory)) {
            return names.filter(path -> name.matcher(path.getFileName().toString()).matches()).sorted().toList();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private AuditException unreadable(Exception why) {
        return new AuditException("cannot use " + directory + ": " + why, "check that this user may read and write it, and that its disk is not full",
                why);
    }

    /**
     * Makes a snapshot. Nothing that is there is changed.
     *
     * @throws AuditException when it cannot be written; nothing of it is left then
     */
    Optional<Snapshot> create(Maker maker) throws InterruptedException {
        Path making = directory.resolve(MAKING + UUID.randomUUID());
        AtomicReference<Path> made = new AtomicReference<>();
        try {
            Files.createDirectories(directory);
            whileLocked(making, () -> {
                deleteLeftovers();
                files.createDirectory(making);
                Optional<Manifest> manifest = maker.make(making);
                if (manifest.isPresent()) {
                    made.set(publish(making, manifest.get()));
                }
            });
            return Optional.ofNullable(made.get()).map(Snapshot::in);
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(e);
        }
    }

    /** What is done in a directory that is not there yet, or no longer. */
    @FunctionalInterface
    private interface Work<E extends Exception> {
        void run() throws IOException, E;
    }

    /** Works while other processes see that {@code making} is in use, and deletes it then, should it be there. */
    private <E extends Exception> void whileLocked(Path making, Work<E> work) throws IOException, E {
        Path lock = making.resolveSibling(making.getFileName() + LOCK);
        // Closing the channel releases the lock.
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.lock();
            try {
                work.run();
            } finally {
                delete(making);
                Files.deleteIfExists(lock);
            }
        }
    }

    private Path publish(Path making, Manifest manifest) throws IOException {
        writeText(making.resolve(Manifest.FILE), manifest.text());
        files.sync(making);
        while (true) {
            Path next = directory.resolve(String.format(Locale.ROOT, "%s-%06d", kind, lastNumber() + 1));
            try {
                files.rename(making, next);
            } catch (IOException e) {
                if (Files.exists(next)) {
                    continue; // Another process was faster.
                }
                throw e;
            }
            files.sync(directory);
            return next;
        }
    }

    private long lastNumber() {
        List<Path> taken = paths();
        return taken.isEmpty() ? 0 : Long.parseLong(taken.getLast().getFileName().toString().substring(kind.length() + 1));
    }

    /** Records that a snapshot was verified. */
    void verified(Snapshot snapshot) {
        Path mark = snapshot.directory().resolve(Snapshot.VERIFIED);
        Path next = snapshot.directory().resolve(MAKING + UUID.randomUUID());
        try {
            writeText(next, snapshot.mark() + "\n");
            files.rename(next, mark);
            files.sync(snapshot.directory());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private void writeText(Path file, String text) throws IOException {
        try (OutputStream out = files.write(file)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A new file of a snapshot that is being made. */
    OutputStream write(Path file) throws IOException {
        return files.write(file);
    }

    /** What processes left that were killed: their locks are free. */
    private void deleteLeftovers() throws IOException {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(directory, MAKING + "*" + LOCK)) {
            for (Path lock : locks) {
                deleteLeftover(lock);
            }
        }
    }

    private void deleteLeftover(Path lock) throws IOException {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
            FileLock free = channel.tryLock();
            if (free != null) {
                String leftover = lock.getFileName().toString();
                delete(directory.resolve(leftover.substring(0, leftover.length() - LOCK.length())));
                Files.deleteIfExists(lock);
            }
        } catch (OverlappingFileLockException | NoSuchFileException e) {
            LOG.debug("{} is being made by another thread, or was finished meanwhile", lock);
        }
    }

    private void delete(Path making) throws IOException {
        if (!Files.isDirectory(making)) {
            return;
        }
        List<Path> parts;
        try (Stream<Path> all = Files.list(making)) {
            parts = all.toList();
        }
        for (Path part : parts) {
            files.delete(part);
        }
        files.delete(making);
    }
}
