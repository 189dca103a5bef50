/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.events.Causes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The beginning of a file, mapped for reading and writing until its arena is closed. */
record MappedFile(Arena arena, MemorySegment memory) {
    /**
     * Maps the file of an engine.
     *
     * @param path absolute path of a regular file of at least {@code bytes} bytes
     * @throws DeviceFault INVALID_HANDLE with what is wrong with it, OUT_OF_MEMORY without address space
     */
    static MappedFile open(String path, long bytes) throws DeviceFault {
        Arena arena = Arena.ofShared();
        boolean mapped = false;
        try {
            Path file = Path.of(path);
            if (!file.isAbsolute()) {
                throw invalid(path, "is not absolute");
            }
            if (!Files.isRegularFile(file)) {
                throw invalid(path, "is not a file that the agent can see");
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                if (channel.size() < bytes) {
                    throw invalid(path, "has " + channel.size() + " bytes, the pool needs " + bytes);
                }
                MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
                mapped = true;
                return new MappedFile(arena, memory);
            }
        } catch (IOException | IllegalArgumentException e) {
            throw invalid(path, "cannot be mapped: " + Causes.of(e));
        } catch (OutOfMemoryError e) {
            throw new DeviceFault(Kind.OUT_OF_MEMORY, "shared_memory_path " + path + ": no address space for " + bytes + " bytes");
        } finally {
            if (!mapped) {
                arena.close();
            }
        }
    }

    private static DeviceFault invalid(String path, String what) {
        return new DeviceFault(Kind.INVALID_HANDLE, "shared_memory_path " + path + " " + what);
    }
}
