/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A device, an engine's memory on it and a host slab, for tests that need all three. */
final class CudaWorld implements AutoCloseable {
    /** Longer than anything here takes. */
    static final long SOON_NS = TimeUnit.SECONDS.toNanos(60);

    private static final long PAGE = 4_096;

    final CudaMemory memory;
    final Engine.Memory engine;
    final Allocation device;
    final Allocation host;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment slab;

    /** Opens the engine's memory whole and registers a slab of {@code hostBytes}. */
    CudaWorld(CudaMemory memory, Engine.Memory engine, long hostBytes) {
        this.memory = memory;
        this.engine = engine;
        this.slab = arena.allocate(hostBytes, PAGE);
        try {
            this.device = memory.open(engine.handle(), engine.bytes());
            this.host = memory.register(slab);
        } catch (DeviceFault e) {
            throw new AssertionError(e);
        }
    }

    byte[] hostBytes(long offset, int length) {
        return slab.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    void fillHost(long offset, byte[] content) {
        MemorySegment.copy(content, 0, slab, ValueLayout.JAVA_BYTE, offset, content.length);
    }

    Copy.Linear linear(long deviceOffset, long hostOffset, long bytes) {
        return new Copy.Linear(device.at(deviceOffset), host.at(hostOffset), bytes);
    }

    Copy.Fragment fragment(long deviceOffset, long hostOffset) {
        return new Copy.Fragment(device.at(deviceOffset), host.at(hostOffset));
    }

    /** Queues copies and waits for their event. */
    static void run(DeviceStream stream, Copy... copies) throws DeviceFault {
        stream.enqueue(new CopyPlan(List.of(copies)));
        try (DeviceEvent event = stream.record()) {
            assertTrue(event.await(SOON_NS), "the copies did not end");
        }
    }

    static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Override
    public void close() throws DeviceFault {
        memory.close();
        arena.close();
    }
}
