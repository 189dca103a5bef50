/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.events.Causes;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in a directory, local or on a network file system that all nodes mount: one file per object.
 *
 * <p>A write fills a temporary file and links it to its name, which fails when the name is taken: of several writers one arrives, and
 * readers see whole objects only. Deletes are of one generation only ({@link ObjectRemoval}), and raise the generation of what is put next
 * ({@link GenerationFloors}): a generation of one key is given once. The file system must have hard links, and for deletes file locks
 * ({@link FanLocks}).
 *
 * <p>Safe for use by several threads and processes. Trade-off of the default, no fsync: after a loss of power objects may be short or
 * empty, which reads find out. With fsync a write waits for the disk twice, for the file and for its name: measured on one local disk with
 * objects of 16 KiB, some 900 microseconds each instead of 45. Fsync covers the file, its name in its directory, and directories made for it; of a
 * delete the raised generation before the name goes, and then the name's absence.
 */
public final class DirectoryStore implements SharedStore {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStore.class);

    /**
     * How a directory is used.
     *
     * @param fsync whether a write returns only when it would survive a loss of power
     * @param leftoverAge temporary files of crashed writers older than this are removed at start; longer than any write takes
     * @param longestLockWait how long a delete waits for others that delete near by, for those of this process and then for those of others
     */
    public record Options(boolean fsync, Duration leftoverAge, Duration longestLockWait) {
        /** No fsync, one hour, five seconds. */
        public static final Options DEFAULTS = new Options(false, Duration.ofHours(1), Duration.ofSeconds(5));

        /** With the default wait. */
        public Options(boolean fsync, Duration leftoverAge) {
            this(fsync, leftoverAge, Duration.ofSeconds(5));
        }
    }

    /** File in its directory without which a directory is no store. */
    public static final String MARKER = "tierlog-store";

    /** How often one write may find that what lay in its way was deleted meanwhile. */
    private static final int MOST_ATTEMPTS = 8;

    /** Gives a file another name if no other file has that one. */
    interface Link {
        /** {@link FileAlreadyExistsException} when the name was taken, {@link NoSuchFileException} when its directory, or the file, is not there. */
        void link(Path file, Path name) throws IOException;
    }

    private final StoreDirectory directory;
    private final ObjectRemoval removal;
    private final boolean fsync;
    private final Link link;
    private final LongAdder wrongObjects = new LongAdder();
    private final ThreadLocal<ByteBuffer> headers = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(ObjectHeader.BYTES));

    /** On a directory that is prepared. */
    DirectoryStore(StoreDirectory directory, boolean fsync, Link link) {
        this.directory = directory;
        this.removal = new ObjectRemoval(directory);
        this.fsync = fsync;
        this.link = link;
    }

    /** Opens the store, made new if need be. A directory that cannot be used now may come back: until then every call says so. */
    public static DirectoryStore open(Path root, Options options) {
        StoreDirectory directory = new StoreDirectory(root, options);
        try {
            directory.prepare(options.leftoverAge());
        } catch (IOException | ReadOnlyFileSystemException e) {
            LOG.warn("the store {} cannot be used now, requests will compute what it holds: {}", root, Causes.of(e));
        }
        return new DirectoryStore(directory, options.fsync(), StoreDirectory::link);
    }

    @Override
    public long wrongObjects() {
        return wrongObjects.sum();
    }

    @Override
    public Presence probe(ObjectName name) {
        try {
            Files.readAttributes(directory.object(name), BasicFileAttributes.class);
            return Presence.PRESENT;
        } catch (NoSuchFileException e) {
            return directory.present() ? Presence.ABSENT : Presence.UNREACHABLE;
        } catch (IOException e) {
            // Whether it is there is unknown, and that is all that a caller needs to know.
            LOG.debug("the store {} does not say whether {} is there: {}", directory.root(), name.key(), e.toString());
            return Presence.UNREACHABLE;
        }
    }

    @Override
    public Result read(ObjectName name, ByteBuffer into) {
        try {
            ByteBuffer page = into.slice(0, into.limit());
            Result result = readFresh(name, page);
            if (result.reason() != OperationReason.CHECKSUM) {
                return result;
            }
            // Looked at twice: meanwhile another reader may have moved it aside and a writer may have put a right one.
            // The second look is not into the page: a page with a stuck bit makes every object wrong that is read into it.
            ByteBuffer fresh = ByteBuffer.allocate(page.capacity());
            return copy(name, condemn(name, result, () -> readOnce(name, fresh)), fresh, page);
        } catch (NoSuchFileException e) {
            return directory.present() ? Result.failed(OperationReason.NOT_FOUND, "no object " + name.key()) : gone();
        } catch (IOException | ReadOnlyFileSystemException e) {
            return failed(e);
        }
    }

    @Override
    public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
        try {
            Optional<Result> result = Optional.empty();
            for (int attempt = 0; attempt < MOST_ATTEMPTS && result.isEmpty(); attempt++) {
                result = writeOnce(name, bytes.slice(0, bytes.limit()), crc32c);
            }
            return result.orElseGet(() -> Result.failed(OperationReason.IO,
                    "object " + name.key() + ": what lies beside it was deleted " + MOST_ATTEMPTS + " times while it was put"));
        } catch (IOException | ReadOnlyFileSystemException e) {
            return failed(e);
        }
    }

    /** Nothing when it must be tried again with a higher generation. */
    private Optional<Result> writeOnce(ObjectName name, ByteBuffer bytes, int crc32c) throws IOException {
        if (Files.exists(directory.object(name))) {
            Result there = inspect(name, bytes.limit());
            if (there.reason() == OperationReason.CHECKSUM) {
                there = condemn(name, there, () -> inspect(name, bytes.limit()));
            }
            if (there.reason() != OperationReason.CHECKSUM) {
                return unlessGone(there);
            }
        }
        ObjectHeader header = new ObjectHeader(name, bytes.limit(), crc32c, directory.floor(name) + 1);
        Result result = put(header, bytes);
        boolean late = result.status() == BlockStatus.ARRIVED && directory.floor(name) >= header.generation();
        if (late) {
            // A delete has come between: this generation has been deleted once, and must not be seen again.
            remove(name, header.generation());
        }
        return late ? Optional.empty() : unlessGone(result);
    }

    /** What lay in the way was deleted while it was looked at: nothing is wrong, and the name is free now. */
    private static Optional<Result> unlessGone(Result result) {
        return result.reason() == OperationReason.NOT_FOUND ? Optional.empty() : Optional.of(result);
    }

    @Override
    public Result delete(ObjectName name, long generation) {
        try {
            // A look before the lock: most deletes that have nothing to do need not wait, and a store that is gone gets no lock file.
            Result there = inspect(name, -1);
            if (there.status() == BlockStatus.FAILED) {
                return there;
            }
            return there.generation() == generation ? remove(name, generation) : staleGeneration(name, there.generation(), generation);
        } catch (IOException | ReadOnlyFileSystemException e) {
            return failed(e);
        }
    }

    /** Removes an object if it has this generation: GONE, or what else was found. */
    Result remove(ObjectName name, long generation) throws IOException {
        return removal.remove(name, generation, () -> inspect(name, -1));
    }

    static Result staleGeneration(ObjectName name, long there, long asked) {
        return Result.failed(OperationReason.STALE_GENERATION, "object " + name.key() + " has generation " + there + ", not " + asked);
    }

    /**
     * A walk over the objects that were put longer ago than {@code age}, to remove some of them.
     *
     * @param age longer than a write and its report take
     * @throws IOException when the store is not there, or cannot be read
     */
    public OldObjects olderThan(Duration age) throws IOException {
        return new OldObjects(directory, this, age);
    }

    @Override
    public void close() {
        // Every call opens and closes its own file.
    }

    @Override
    public Presence check(ObjectName name, int bytes) {
        try {
            return presence(inspect(name, bytes).reason());
        } catch (IOException e) {
            LOG.debug("the store {} does not show {}: {}", directory.root(), name.key(), e.toString());
            return Presence.UNREACHABLE;
        }
    }

    /** Whether an object is there, by what was found at a look at its header. */
    static Presence presence(OperationReason found) {
        return switch (found) {
            case COMPLETED -> Presence.PRESENT;
            case NOT_FOUND, CHECKSUM, UNSUPPORTED -> Presence.ABSENT;
            default -> Presence.UNREACHABLE;
        };
    }

    /** A handle that went stale under a read is opened again, once: by its name another object may be there, or none. */
    private Result readFresh(ObjectName name, ByteBuffer into) throws IOException {
        try {
            return readOnce(name, into);
        } catch (IOException e) {
            if (!StoreErrors.isStale(e)) {
                throw e;
            }
            return readOnce(name, into);
        }
    }

    private Result readOnce(ObjectName name, ByteBuffer into) throws IOException {
        ByteBuffer header = headers.get().clear();
        long size;
        try (FileChannel file = FileChannel.open(directory.object(name), StandardOpenOption.READ)) {
            ByteBuffer[] parts = {header, into.clear()};
            long read = 0;
            while (read >= 0 && into.hasRemaining()) {
                read = file.read(parts);
            }
            size = file.size();
        }
        Result found = judge(name, header.flip(), size, into.limit());
        if (found.reason() == OperationReason.COMPLETED && Checksums.crc32c(into.flip()) != found.crc32c()) {
            return Result.failed(OperationReason.CHECKSUM, "its bytes do not match its checksum");
        }
        return found;
    }

    /** What an object's header says of an object that is there, of a length or (negative) of any: ALREADY_THERE, or what is wrong. */
    private Result inspect(ObjectName name, int length) throws IOException {
        ByteBuffer header = headers.get().clear();
        try (FileChannel file = FileChannel.open(directory.object(name), StandardOpenOption.READ)) {
            int read = 0;
            while (read >= 0 && header.hasRemaining()) {
                read = file.read(header);
            }
            Result found = judge(name, header.flip(), file.size(), length);
            return found.reason() == OperationReason.COMPLETED ? Result.alreadyThere(found.crc32c(), found.generation()) : found;
        } catch (NoSuchFileException e) {
            return directory.present() ? Result.failed(OperationReason.NOT_FOUND, "no object " + name.key()) : gone();
        }
    }

    static Result judge(ObjectName name, ByteBuffer bytes, long size, int length) {
        ObjectHeader header = ObjectHeader.parse(bytes).orElse(null);
        if (header == null) {
            return Result.failed(OperationReason.CHECKSUM, "it has no whole header");
        }
        if (!header.name().equals(name)) {
            return Result.failed(OperationReason.CHECKSUM, "it is object " + header.name().key() + " under a wrong name");
        }
        if (size != ObjectHeader.BYTES + header.length()) {
            return Result.failed(OperationReason.CHECKSUM,
                    "it says " + header.length() + " bytes and has " + (size - ObjectHeader.BYTES));
        }
        if (length >= 0 && header.length() != length) {
            // Nothing is wrong with it: blocks of another writer have another size under the same namespace.
            return otherSize(name, header.length(), length);
        }
        return Result.arrived(header.crc32c(), header.generation());
    }

    private Result put(ObjectHeader header, ByteBuffer bytes) throws IOException {
        Path temporary = directory.newTemporary();
        try {
            fill(temporary, header, bytes);
            if (publish(temporary, header.name())) {
                return Result.arrived(header.crc32c(), header.generation());
            }
            return inspect(header.name(), bytes.limit());
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private void fill(Path temporary, ObjectHeader header, ByteBuffer bytes) throws IOException {
        ByteBuffer head = headers.get().clear();
        header.put(head);
        try (FileChannel file = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer[] parts = {head, bytes.clear()};
            while (bytes.hasRemaining()) {
                file.write(parts);
            }
            if (fsync) {
                file.force(true);
            }
        }
    }

    /** Gives the file its name if no other file has it; returns whether it did. */
    private boolean publish(Path temporary, ObjectName name) throws IOException {
        Path target = directory.object(name);
        try {
            link.link(temporary, target);
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (NoSuchFileException e) {
            // The first object of its directory. Without the marker the store is gone, and nothing shall grow in its mount point.
            if (!directory.present()) {
                throw e;
            }
            GenerationFloors.createDirectories(directory.fanDirectory(name), fsync);
            try {
                link.link(temporary, target);
            } catch (FileAlreadyExistsException again) {
                return false;
            }
        }
        directory.forceFan(name);
        return true;
    }

    /** Moves aside what was found wrong and is so when looked at again; without a lock (a store that is read only) it stays. What was found. */
    private Result condemn(ObjectName name, Result first, ObjectRemoval.Look look) throws IOException {
        Result found = first;
        String fate = "moved aside";
        try {
            found = removal.moveAside(name, look);
        } catch (FanLocks.NoLockException e) {
            fate = "stays there, because " + e.getMessage();
        }
        if (found.reason() == OperationReason.CHECKSUM) {
            wrongObjects.increment();
            LOG.warn("object {} of the store {} is wrong ({}) and {}", name.key(), directory.root(), found.detail(), fate);
        }
        return found;
    }

    private Result failed(Exception e) {
        if (StoreErrors.reason(e) == OperationReason.STORE_UNAVAILABLE || !directory.present()) {
            return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store " + directory.root() + " cannot be used: " + Causes.of(e));
        }
        return Result.failed(OperationReason.IO, Causes.of(e));
    }

    /** Copies what a second look has read to the caller's page; CHECKSUM when the page does not hold it, which is no fault of the object. */
    static Result copy(ObjectName name, Result read, ByteBuffer from, ByteBuffer page) {
        if (read.reason() != OperationReason.COMPLETED) {
            return read;
        }
        page.clear().put(from.clear());
        return Checksums.crc32c(page.flip()) == read.crc32c() ? read
                : Result.failed(OperationReason.CHECKSUM, "object " + name.key() + " is right, but the host page does not hold its bytes");
    }

    static Result otherSize(ObjectName name, long found, int wanted) {
        return Result.failed(OperationReason.UNSUPPORTED, "object " + name.key() + " has " + found + " bytes, a block here has " + wanted
                + ": the namespace must tell layouts apart");
    }

    private Result gone() {
        return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store " + directory.root() + " is not there");
    }
}
