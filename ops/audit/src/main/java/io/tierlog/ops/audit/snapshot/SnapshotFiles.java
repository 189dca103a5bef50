/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** The changes that a directory of snapshots is made of: a port, so that a test fails or stops at each of them. Without state. */
interface SnapshotFiles {
    /** The file system. */
    SnapshotFiles DISK = new SnapshotFiles() {
        @Override
        public void createDirectory(Path directory) throws IOException {
            Files.createDirectory(directory);
        }

        @Override
        public OutputStream write(Path file) throws IOException {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            OutputStream out = Channels.newOutputStream(channel);
            return new OutputStream() {
                @Override
                public void write(int one) throws IOException {
                    out.write(one);
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    out.write(bytes, offset, length);
                }

                @Override
                public void close() throws IOException {
                    try (channel) {
                        if (channel.isOpen()) {
                            channel.force(true);
                        }
                    }
                }
            };
        }

        @Override
        public void sync(Path directory) throws IOException {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        }

        @Override
        public void delete(Path path) throws IOException {
            Files.deleteIfExists(path);
        }
    };

    /** Makes a directory that is not there yet. */
    void createDirectory(Path directory) throws IOException;

    /** A new file; closing it brings it to the disk. */
    OutputStream write(Path file) throws IOException;

    /** Brings the names in a directory to the disk. */
    void sync(Path directory) throws IOException;

    /** Renames in one step; fails where a directory with files has that name already. */
    void rename(Path from, Path to) throws IOException;

    /** Deletes a file or an empty directory; a missing one is not an error. */
    void delete(Path path) throws IOException;
}
