/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.port.DeviceBench;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A device over files, and an engine that makes them. */
record FileBench(Path directory, DeviceMemory memory) implements DeviceBench {
    @Override
    public MemoryHandle engineMemory(byte[] content) {
        try {
            Path file = Files.createTempFile(directory, "device", "");
            return new MemoryHandle.SharedFile(Files.write(file, content).toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public byte[] read(MemoryHandle handle, int length) {
        if (!(handle instanceof MemoryHandle.SharedFile file)) {
            throw new IllegalArgumentException("not mine: " + handle);
        }
        try {
            return Arrays.copyOf(Files.readAllBytes(Path.of(file.path())), length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            memory.close();
        } catch (DeviceFault e) {
            throw new IllegalStateException(e);
        }
    }
}
