/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceBench;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.GatedDeviceContract;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the emulated device, and what only it can do. */
class EmulatedDeviceTest extends GatedDeviceContract {
    @TempDir
    Path directory;

    /** Pieces of 1,000 bytes, so that nothing fits evenly. */
    private final EmulatedDevice device = new EmulatedDevice("test", new EmulatedDevice.Limits(1_000, 0, 300));

    @Override
    protected DeviceBench bench() {
        return new FileBench(directory, device);
    }

    @Override
    protected Gate gate(Direction direction) {
        CopyGate gate = device.gate(direction);
        return new Gate() {
            @Override
            public void pauseAfter(long copies) {
                gate.pauseAfter(copies);
            }

            @Override
            public void resume() {
                gate.resume();
            }

            @Override
            public void failAt(long k) {
                gate.failAt(k);
            }

            @Override
            public void awaitHolding() {
                Eventually.await("the stream stands at the gate", gate::holds);
            }
        };
    }

    private Path file(int region) {
        return Path.of(((MemoryHandle.SharedFile) handles.get(region)).path());
    }

    @Test
    void anEngineThatShortensItsFileHarmsItselfOnly() throws IOException, DeviceFault {
        try (FileChannel channel = FileChannel.open(file(0), StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        try (DeviceStream stream = device.open(Direction.SAVE)) {
            stream.enqueue(plan(new Linear(regions.get(0).at(0), slabs.get(0).at(0), 10_000)));
            DeviceEvent gone = stream.record();
            stream.enqueue(plan(new Linear(regions.get(1).at(0), slabs.get(1).at(0), 10_000)));
            DeviceEvent other = stream.record();

            assertEquals(Kind.MEMORY_GONE, assertThrows(DeviceFault.class, () -> gone.await(LONG)).kind());
            assertTrue(other.await(LONG));
        }
    }

    @Test
    void theBandwidthIsKept() throws DeviceFault {
        // 4,000 bytes at 100,000 bytes a second take 40 ms; that it is not less is what can be asserted.
        EmulatedDevice slow = new EmulatedDevice("slow", new EmulatedDevice.Limits(1_000, 100_000, 10));
        var region = slow.open(handles.get(0), BYTES);
        var slab = slow.register(host.get(0));
        DeviceStream stream = slow.open(Direction.SAVE);
        long before = System.nanoTime();
        stream.enqueue(plan(new Linear(region.at(0), slab.at(0), 4_000)));
        assertTrue(stream.record().await(LONG));
        long tookMs = (System.nanoTime() - before) / 1_000_000;
        slow.close();
        assertTrue(tookMs >= 39, "took " + tookMs + " ms");
    }

    @Test
    void memoryThatCannotServeIsRefusedInWords() {
        refused(Kind.INVALID_HANDLE, "has 65536 bytes, the pool needs 65537", new MemoryHandle.SharedFile(file(0).toString()), BYTES + 1);
        for (String path : List.of("relative", directory.toString(), Path.of("/no/such/file").toString(), "/bad\0path", "")) {
            refused(Kind.INVALID_HANDLE, "shared_memory_path", new MemoryHandle.SharedFile(path), 1);
        }
        refused(Kind.UNSUPPORTED, "give a file", new MemoryHandle.CudaIpc(Bytes.wrapUnshared(new byte[64])), 1);
    }

    private void refused(Kind kind, String said, MemoryHandle handle, long bytes) {
        DeviceFault fault = assertThrows(DeviceFault.class, () -> device.open(handle, bytes));
        assertEquals(kind, fault.kind());
        assertTrue(String.valueOf(fault.getMessage()).contains(said), fault::getMessage);
    }

    @Test
    void aStreamTakesABoundedNumberOfCopies() throws DeviceFault {
        gate(Direction.SAVE).pauseAfter(0);
        DeviceStream stream = device.open(Direction.SAVE);
        Linear copy = new Linear(regions.get(0).at(0), slabs.get(0).at(0), 1);
        stream.enqueue(plan(copy));
        gate(Direction.SAVE).awaitHolding();
        for (int i = 0; i < 300; i++) {
            stream.enqueue(plan(copy));
        }

        DeviceFault fault = assertThrows(DeviceFault.class, () -> stream.enqueue(plan(copy)));

        assertEquals(Kind.OUT_OF_MEMORY, fault.kind());
        assertTrue(String.valueOf(fault.getMessage()).contains("300 copies wait already"), fault::getMessage);
    }
}
