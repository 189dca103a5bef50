/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The shared file that stands for device memory, and its mapping. Owns both: {@link #close} unmaps and deletes it. The caller of close
 * ensures that {@link #memory} is not used any more.
 */
final class DeviceFile implements AutoCloseable {
    private static final int CHUNK = 1 << 20;

    private final Path path;
    private final Arena arena;
    private final MemorySegment memory;

    private DeviceFile(Path path, Arena arena, MemorySegment memory) {
        this.path = path;
        this.arena = arena;
        this.memory = memory;
    }

    /**
     * Creates {@code path}, which must not exist, with all its bytes: a full file system is an error here and not a fault at the first write to a
     * page.
     */
    static DeviceFile create(Path path, long bytes) throws IOException {
        Path absolute = path.toAbsolutePath();
        try (FileChannel channel = FileChannel.open(
                absolute,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            return fill(absolute, channel, bytes);
        }
    }

    private static DeviceFile fill(Path path, FileChannel channel, long bytes) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK);
            long written = 0;
            while (written < bytes) {
                zeros.clear().limit((int) Math.min(CHUNK, bytes - written));
                written += channel.write(zeros);
            }
            return new DeviceFile(path, arena, channel.map(MapMode.READ_WRITE, 0, bytes, arena));
        } catch (IOException | RuntimeException e) {
            arena.close();
            Files.deleteIfExists(path);
            throw e;
        }
    }

    Path path() {
        return path;
    }

    MemorySegment memory() {
        return memory;
    }

    @Override
    public void close() throws IOException {
        if (arena.scope().isAlive()) {
            arena.close();
        }
        Files.deleteIfExists(path);
    }
}
