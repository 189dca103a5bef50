/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in a directory, local or on a network file system that all nodes mount: one file per object.
 *
 * <p>A write fills a temporary file and links it to its name, which fails when the name is taken: of several writers one arrives, and
 * readers see whole objects only. On a file system without hard links it is renamed instead; then two writers at the same moment may both
 * arrive, with the same content by the meaning of a key.
 *
 * <p>Safe for use by several threads and processes. The price of the default, no fsync: after a loss of power objects may be short or
 * empty, which reads find out. With fsync a write waits for the disk twice, for the file and for its name: measured on one local disk with
 * objects of 16 KiB, some 900 microseconds each instead of 45.
 */
public final class DirectoryStore implements SharedStore {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStore.class);

    /**
     * How a directory is used.
     *
     * @param fsync whether a write returns only when it would survive a loss of power
     * @param leftoverAge temporary files of crashed writers older than this are removed at start; longer than any write takes
     */
    public record Options(boolean fsync, Duration leftoverAge) {
        /** No fsync, one hour. */
        public static final Options DEFAULTS = new Options(false, Duration.ofHours(1));
    }

    private final StoreDirectory directory;
    private final boolean fsync;
    private final LongAdder wrongObjects = new LongAdder();
    private final ThreadLocal<ByteBuffer> headers = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(ObjectHeader.BYTES));

    private DirectoryStore(StoreDirectory directory, boolean fsync) {
        this.directory = directory;
        this.fsync = fsync;
    }

    /** Opens the store, made new if need be. A directory that cannot be used now may come back: until then every call says so. */
    public static DirectoryStore open(Path root, Options options) {
        StoreDirectory directory = new StoreDirectory(root);
        try {
            directory.prepare(options.leftoverAge());
        } catch (IOException | ReadOnlyFileSystemException e) {
            LOG.warn("the store {} cannot be used now, requests will compute what it holds: {}", root, e.toString());
        }
        return new DirectoryStore(directory, options.fsync());
    }

    /** Objects found wrong so far by this process, count. */
    public long wrongObjects() {
        return wrongObjects.sum();
    }

    @Override
    public Presence probe(ObjectName name) {
        if (Files.exists(directory.object(name))) {
            return Presence.PRESENT;
        }
        return directory.present() ? Presence.ABSENT : Presence.UNREACHABLE;
    }

    @Override
    public Result read(ObjectName name, ByteBuffer into) {
        try {
            ByteBuffer page = into.slice(0, into.limit());
            Result result = readOnce(name, page);
            if (result.reason() == OperationReason.CHECKSUM) {
                // Looked at twice: meanwhile another reader may have moved it aside and a writer may have put a right one.
                result = readOnce(name, page);
            }
            if (result.reason() == OperationReason.CHECKSUM) {
                condemn(name, result.detail());
            }
            return result;
        } catch (NoSuchFileException e) {
            return directory.present() ? Result.failed(OperationReason.NOT_FOUND, "no object " + name.key()) : gone();
        } catch (IOException | ReadOnlyFileSystemException e) {
            return failed(e);
        }
    }

    @Override
    public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
        Path target = directory.object(name);
        try {
            if (Files.exists(target)) {
                Result there = inspect(name, bytes.limit());
                if (there.reason() != OperationReason.CHECKSUM) {
                    return there;
                }
                condemn(name, there.detail());
            }
            ObjectHeader header = new ObjectHeader(name, bytes.limit(), crc32c, directory.nextGeneration(name));
            return put(header, bytes.slice(0, bytes.limit()), target);
        } catch (IOException | ReadOnlyFileSystemException e) {
            return failed(e);
        }
    }

    @Override
    public void close() {
        // Every call opens and closes its own file.
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

    /** What an object's header says of an object that is there. */
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
            // It was moved aside a moment ago: nothing lies in the way, and it is not wrong either. The next write will find out.
            return Result.failed(OperationReason.IO, "object " + name.key() + " vanished while it was looked at");
        }
    }

    private static Result judge(ObjectName name, ByteBuffer bytes, long size, int length) {
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
        if (header.length() != length) {
            // Nothing is wrong with it: somebody's blocks have another size under the same namespace.
            return otherSize(name, header.length(), length);
        }
        return Result.arrived(header.crc32c(), header.generation());
    }

    private Result put(ObjectHeader header, ByteBuffer bytes, Path target) throws IOException {
        Path temporary = directory.newTemporary();
        try {
            fill(temporary, header, bytes);
            if (publish(temporary, target)) {
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

    /** Gives the file its name if nobody has it; returns whether it did. */
    private boolean publish(Path temporary, Path target) throws IOException {
        try {
            link(temporary, target);
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (NoSuchFileException e) {
            // The first object of its directory. Without the marker the store is gone, and nothing shall grow in its mount point.
            if (!directory.present()) {
                throw e;
            }
            Files.createDirectories(target.getParent());
            try {
                link(temporary, target);
            } catch (FileAlreadyExistsException again) {
                return false;
            }
        }
        if (fsync) {
            try (FileChannel parent = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
                parent.force(true);
            }
        }
        return true;
    }

    private static void link(Path temporary, Path target) throws IOException {
        try {
            Files.createLink(target, temporary);
        } catch (UnsupportedOperationException e) {
            if (Files.exists(target)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private void condemn(ObjectName name, String why) throws IOException {
        wrongObjects.increment();
        LOG.warn("object {} of the store {} is wrong and moved aside: {}", name.key(), directory.root(), why);
        directory.moveAside(name);
    }

    private Result failed(Exception e) {
        boolean denied = e instanceof AccessDeniedException
                || e instanceof ReadOnlyFileSystemException
                || (e instanceof FileSystemException named && String.valueOf(named.getReason()).contains("Read-only"));
        if (denied || !directory.present()) {
            return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store " + directory.root() + " cannot be used: " + e);
        }
        return Result.failed(OperationReason.IO, e.toString());
    }

    static Result otherSize(ObjectName name, long found, int wanted) {
        return Result.failed(OperationReason.UNSUPPORTED, "object " + name.key() + " has " + found + " bytes, a block here has " + wanted
                + ": the namespace must tell layouts apart");
    }

    private Result gone() {
        return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store " + directory.root() + " is not there");
    }
}
