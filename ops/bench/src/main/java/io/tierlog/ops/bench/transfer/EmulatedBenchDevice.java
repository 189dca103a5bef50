/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The emulated device, whose memory is files, against copies in memory by the calling thread. */
final class EmulatedBenchDevice implements BenchDevice {
    private final Path directory;
    private int files;

    /** @param directory for the files, in memory where the system has such a file system */
    EmulatedBenchDevice(Path directory) {
        this.directory = directory;
    }

    @Override
    public DeviceMemory open() {
        return new EmulatedDevice("bench", EmulatedDevice.Limits.DEFAULTS);
    }

    @Override
    public MemoryHandle allocate(long bytes) {
        Path file = directory.resolve("device-" + files++);
        try (Arena arena = Arena.ofConfined()) {
            map(file, bytes, arena).fill((byte) 1);
        }
        return new MemoryHandle.SharedFile(file.toString());
    }

    private static MemorySegment map(Path file, long bytes, Arena arena) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create memory of the emulated device in " + file, e);
        }
    }

    @Override
    public Plain plain(HostTrackingDevice device, HostBlocks host) throws DeviceFault {
        MemoryHandle.SharedFile file = (MemoryHandle.SharedFile) allocate(host.memory().byteSize());
        Arena arena = Arena.ofConfined();
        return new MemoryCopy(arena, host.memory(), map(Path.of(file.path()), host.memory().byteSize(), arena));
    }

    private record MemoryCopy(Arena arena, MemorySegment host, MemorySegment device) implements Plain {
        @Override
        public String name() {
            return "plain memory copy";
        }

        @Override
        public void copy(Direction direction, long offset, long bytes) {
            switch (direction) {
                case LOAD -> MemorySegment.copy(host, offset, device, offset, bytes);
                case SAVE -> MemorySegment.copy(device, offset, host, offset, bytes);
            }
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    @Override
    public void close() {
        // The directory is removed as a whole.
    }
}
