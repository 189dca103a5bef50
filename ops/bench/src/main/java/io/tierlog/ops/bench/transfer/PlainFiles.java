/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Every host page to a file of its own and back, by plain calls without checksums, names or order. fio moves one buffer a thread again and again,
 * which the processor's cache keeps; this moves the same pages as the tiers.
 */
final class PlainFiles {
    private final HostBlocks host;
    private final Path directory;

    /** @param directory exists */
    PlainFiles(HostBlocks host, Path directory) {
        this.host = host;
        this.directory = directory;
    }

    Sample run(Mode mode) throws InterruptedException {
        return BlockLoop.run(host.shape(), "a plain file", block -> move(mode, block));
    }

    private void move(Mode mode, int block) throws IOException {
        Path file = directory.resolve(Integer.toString(block));
        ByteBuffer page = host.pool().buffer(block);
        switch (mode) {
            case write -> {
                Files.deleteIfExists(file);
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    while (page.hasRemaining()) {
                        channel.write(page);
                    }
                }
            }
            case read -> {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                    int read = 0;
                    while (read >= 0 && page.hasRemaining()) {
                        read = channel.read(page);
                    }
                }
            }
        }
    }
}
