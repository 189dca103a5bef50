/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes objects out of a store, each only if it is the one that was meant. A file system removes by name and not by content, so an object is first
 * renamed to a name that nobody else has, looked at there, and put back when it is another one: then it was out of sight for a moment.
 *
 * <pre>
 *   objects/.../KEY --rename--> leaving/PROCESS-NUMBER.GENERATION --that generation--> removed
 *                                          \--another----------> linked back, unless KEY has been put again meanwhile
 * </pre>
 *
 * <p>Who dies in between leaves the file in {@code leaving}; its name says what was meant, and {@link #settle} does it later. Safe for use by several
 * threads and processes.
 */
final class ObjectRemoval {
    private static final Logger LOG = LoggerFactory.getLogger(ObjectRemoval.class);

    private final StoreDirectory directory;

    ObjectRemoval(StoreDirectory directory) {
        this.directory = directory;
    }

    /** Removes the object of this name if it has this generation; false when it has another, or is not there. */
    boolean remove(ObjectName name, long generation) throws IOException {
        Path taken = directory.newLeaving(generation);
        return take(directory.object(name), taken) && settle(taken, generation);
    }

    /** Renames; false when there is nothing. A server may answer "not there" to the repetition of a call whose first answer was lost. */
    private static boolean take(Path object, Path taken) throws IOException {
        try {
            Files.move(object, taken, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (NoSuchFileException e) {
            return Files.exists(taken);
        }
    }

    /** Removes a file that was taken if it has this generation, else puts it back; true when it was removed. */
    boolean settle(Path taken, long generation) throws IOException {
        Optional<ObjectHeader> another = header(taken).filter(header -> header.generation() != generation);
        if (another.isPresent()) {
            putBack(taken, directory.object(another.get().name()));
        }
        Files.deleteIfExists(taken);
        return another.isEmpty();
    }

    private static void putBack(Path taken, Path object) throws IOException {
        try {
            StoreDirectory.link(taken, object);
            LOG.info("{} is another generation than the one to be deleted, and stays", object.getFileName());
        } catch (FileAlreadyExistsException e) {
            LOG.info("{} was put again while it was looked at", object.getFileName());
        }
    }

    private static Optional<ObjectHeader> header(Path file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(ObjectHeader.BYTES);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            int read = 0;
            while (read >= 0 && header.hasRemaining()) {
                read = channel.read(header);
            }
        }
        return ObjectHeader.parse(header.flip());
    }
}
