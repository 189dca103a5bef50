/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What the generations of deleted objects leave behind: for each fan directory the highest of them, its floor. The next object there gets the floor
 * and one, so a generation rises when a deleted key is put again, and nothing is kept per deleted key.
 *
 * <pre>
 *   floors/NAMESPACE/FAN      its size in bytes is the floor; its bytes mean nothing
 * </pre>
 *
 * <p>A size is read in one step, so no reader sees half a change. It never shrinks: who raises it is alone ({@link FanLocks}), and a file is made
 * before the first object of its fan directory and never removed. It is opened for every look, because an NFS client asks its server when a file
 * is opened, and not when it is only looked at. Trade-off: a file is opened twice for every object written, and grows by a byte for each delete.
 * Without fsync a loss of power may take back floors that were raised just before it. Safe for use by several threads and processes.
 */
final class GenerationFloors {
    private final Path root;
    private final boolean fsync;

    GenerationFloors(Path root, boolean fsync) {
        this.root = root;
        this.fsync = fsync;
    }

    /** The floor of a fan directory: no object there has a generation above it and one. {@link NoSuchFileException} when it was never made. */
    long of(Path fan) throws IOException {
        try (FileChannel floor = FileChannel.open(root.resolve(fan), StandardOpenOption.READ)) {
            return floor.size();
        }
    }

    /**
     * The floor of a fan directory, created with 0 if it does not exist. A put creates it, so that no reader finds a floor by a name that was not
     * there a moment ago: NFS clients remember for a while that a name was not there.
     */
    long made(Path fan) throws IOException {
        try (FileChannel floor = openToRaise(fan)) {
            return floor.size();
        }
    }

    /** Raises a floor to a generation, if it is lower; by policy durable when this returns. The caller is alone ({@link FanLocks}). */
    void raise(Path fan, long to) throws IOException {
        try (FileChannel floor = openToRaise(fan)) {
            if (floor.size() < to) {
                floor.write(ByteBuffer.allocate(1), to - 1);
            }
            if (fsync) {
                floor.force(true);
            }
        }
        if (fsync) {
            force(namespace(fan));
        }
        // What is deleted next relies on it, and a server may have its own idea of a full disk.
        long now = of(fan);
        if (now < to) {
            throw new IOException("the floor " + root.resolve(fan) + " was raised to " + to + " and is " + now);
        }
    }

    private FileChannel openToRaise(Path fan) throws IOException {
        Path path = root.resolve(fan);
        createDirectories(namespace(fan), fsync);
        return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private Path namespace(Path fan) {
        return root.resolve(fan.getName(0));
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
