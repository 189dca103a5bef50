/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.function.Executable;

/** What only a driver that can be held, read and broken shows: arguments, order, waits. 64 KiB on the device, 64 KiB on the host. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DisabledIf(value = "io.tierlog.agent.cuda.Gpu#real", disabledReason = "a GPU cannot be held or broken")
class CudaMemoryTest {
    private static final int BYTES = 64 << 10;
    private static final long NOW = 0;

    private final Gpu gpu = Gpu.load();
    private final FakeDriver fake = gpu.fake().orElseThrow();
    private final List<Engine> engines = new ArrayList<>();
    private final List<Engine.Memory> regions = new ArrayList<>();
    private final List<CudaWorld> worlds = new ArrayList<>();

    @BeforeAll
    void startEngine() {
        engines.add(new Engine(gpu));
        regions.add(engines.getFirst().allocate(BYTES));
    }

    @AfterAll
    void stopEngine() {
        engines.forEach(Engine::close);
    }

    @BeforeEach
    void open() {
        fake.reset();
        worlds.add(new CudaWorld(gpu.open(), regions.getFirst(), BYTES));
        regions.getFirst().write(0, new byte[BYTES]);
    }

    @AfterEach
    void nothingIsLeft() throws DeviceFault {
        fake.pass(-1);
        fake.ignoreWaits(false);
        for (CudaWorld world : worlds) {
            world.close();
        }
        worlds.clear();
        for (FakeDriver.Kind kind : FakeDriver.Kind.values()) {
            assertEquals(0, fake.alive(kind), kind + " left behind");
        }
        assertEquals(List.of(), fake.violations());
    }

    private CudaWorld world() {
        return worlds.getFirst();
    }

    private static CopyPlan plan(Copy... copies) {
        return new CopyPlan(List.of(copies));
    }

    @Test
    void argumentsStandInTheDriversOrder() throws DeviceFault {
        CudaWorld w = world();
        try (DeviceStream save = w.memory.open(Direction.SAVE); DeviceStream load = w.memory.open(Direction.LOAD)) {
            Copy.Strided rows = new Copy.Strided(w.device.at(512), w.host.at(8_192), new Copy.Pitch(1_024, 300), 256, 5);
            CudaWorld.run(save, w.linear(4_096, 100, 1_000), rows);
            CudaWorld.run(load, w.linear(4_096, 100, 1_000), rows);
        }
        assertEquals(0, fake.alive(FakeDriver.Kind.STREAM) + fake.alive(FakeDriver.Kind.EVENT), "both have been given back");
        assertEquals(1, fake.alive(FakeDriver.Kind.PINNED), "the slab, and no ring of descriptors");
        List<String> out = fake.book("cuMemcpyDtoHAsync_v2");
        assertEquals(1, out.size());
        assertTrue(out.getFirst().matches("cuMemcpyDtoHAsync_v2 dst=host\\d+\\+100 src=device\\d+\\+4096 bytes=1000 stream=\\d+"), out::toString);
        List<String> in = fake.book("cuMemcpyHtoDAsync_v2");
        assertTrue(in.getFirst().matches("cuMemcpyHtoDAsync_v2 dst=device\\d+\\+4096 src=host\\d+\\+100 bytes=1000 stream=\\d+"), in::toString);
        List<String> both = fake.book("cuMemcpy2DAsync_v2");
        assertTrue(both.get(0).matches(
                "cuMemcpy2DAsync_v2 dst=host\\d+\\+8192 dst_pitch=300 src=device\\d+\\+512 src_pitch=1024 width=256 height=5 stream=\\d+"),
                both::toString);
        assertTrue(both.get(1).matches(
                "cuMemcpy2DAsync_v2 dst=device\\d+\\+512 dst_pitch=1024 src=host\\d+\\+8192 src_pitch=300 width=256 height=5 stream=\\d+"),
                both::toString);
        String saves = out.getFirst().substring(out.getFirst().indexOf("stream="));
        assertTrue(both.get(0).endsWith(saves) && !both.get(1).endsWith(saves), "the directions have streams of their own");
        // 1: the flag of a stream that does not wait for the default stream.
        assertEquals(List.of("cuStreamCreate flags=1", "cuStreamCreate flags=1"), fake.book("cuStreamCreate"));
        // 3: portable, and mapped for kernels. The slab, and two rings of descriptors.
        assertEquals(3, fake.book("cuMemHostRegister_v2").stream().filter(line -> line.endsWith("flags=3")).count());
    }

    @Test
    void aStridedCopyTouchesItsRowsOnly() throws DeviceFault {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(1, BYTES);
        w.engine.write(0, content);
        byte[] expected = new byte[BYTES];
        for (int row = 0; row < 5; row++) {
            System.arraycopy(content, 512 + row * 1_024, expected, 8_192 + row * 300, 256);
        }
        try (DeviceStream save = w.memory.open(Direction.SAVE)) {
            CudaWorld.run(save, new Copy.Strided(w.device.at(512), w.host.at(8_192), new Copy.Pitch(1_024, 300), 256, 5));
        }
        assertArrayEquals(expected, w.hostBytes(0, BYTES));
    }

    @Test
    void anEventIsReachedWhenTheBytesAreThereAndNotBefore() throws DeviceFault {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(2, BYTES);
        w.engine.write(0, content);
        fake.pass(1);
        try (DeviceStream save = w.memory.open(Direction.SAVE)) {
            save.enqueue(plan(w.linear(0, 0, 1_000), w.linear(1_000, 1_000, 1_000)));
            DeviceEvent event = save.record();
            assertFalse(event.await(TimeUnit.MILLISECONDS.toNanos(20)), "one copy is held");
            assertFalse(event.poll());
            assertFalse(save.drain(NOW));
            assertArrayEquals(new byte[1_000], w.hostBytes(1_000, 1_000));
            fake.pass(-1);
            assertTrue(event.await(CudaWorld.SOON_NS));
            assertArrayEquals(java.util.Arrays.copyOf(content, 2_000), w.hostBytes(0, 2_000));
            assertTrue(event.poll());
            event.close();
            event.close();
        }
    }

    /** What a missing wait does here, so that every test above that compares bytes is known to see one. */
    @Test
    void withoutWaitsTheBytesAreWrong() throws DeviceFault {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(3, BYTES);
        w.engine.write(0, content);
        fake.ignoreWaits(true);
        DeviceStream save = w.memory.open(Direction.SAVE);
        CudaWorld.run(save, w.linear(0, 0, BYTES));
        assertArrayEquals(new byte[BYTES], w.hostBytes(0, BYTES), "no byte has moved");
        fake.ignoreWaits(false);
        assertTrue(save.drain(CudaWorld.SOON_NS));
        assertArrayEquals(content, w.hostBytes(0, BYTES));
        save.close();
    }

    @Test
    void streamsRunApart() throws DeviceFault {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(4, 4_096);
        w.fillHost(0, content);
        try (DeviceStream save = w.memory.open(Direction.SAVE); DeviceStream load = w.memory.open(Direction.LOAD)) {
            // Loaded and saved again, without a wait between the two: the save may run first, and here it does.
            load.enqueue(plan(w.linear(0, 0, 4_096)));
            CudaWorld.run(save, w.linear(0, 4_096, 4_096));
            assertArrayEquals(new byte[4_096], w.hostBytes(4_096, 4_096));
            assertTrue(load.drain(CudaWorld.SOON_NS));
            CudaWorld.run(save, w.linear(0, 4_096, 4_096));
            assertArrayEquals(content, w.hostBytes(4_096, 4_096));
        }
    }

    @Test
    void aPlanThatIsWrongQueuesNothing() throws DeviceFault {
        CudaWorld w = world();
        Copy right = w.linear(0, 0, 16);
        Allocation stranger = new Allocation(99, Allocation.Side.DEVICE, w.device.address(), BYTES);
        try (DeviceStream save = w.memory.open(Direction.SAVE)) {
            for (Copy wrong : List.of(
                    w.linear(BYTES - 15, 0, 16),
                    w.linear(0, BYTES - 15, 16),
                    new Copy.Linear(w.host.at(0), w.device.at(0), 16),
                    new Copy.Linear(stranger.at(0), w.host.at(0), 16),
                    new Copy.Strided(w.device.at(0), w.host.at(0), new Copy.Pitch(32_768, 16), 16, 3),
                    new Copy.Strided(w.device.at(0), w.host.at(0), new Copy.Pitch(1L << 31, 16), 16, 2),
                    new Copy.Gather(List.of(w.fragment(0, 0), w.fragment(BYTES - 15, 16)), 16))) {
                fails(Kind.INVALID_VALUE, () -> save.enqueue(plan(right, wrong)));
            }
        }
        assertEquals(0, fake.count("cuMemcpyDtoHAsync_v2") + fake.count("cuMemcpy2DAsync_v2") + fake.count("cuLaunchKernel"));
    }

    @Test
    void everyThreadMayCall() throws Exception {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(8, BYTES);
        w.engine.write(0, content);
        // A context is current per thread, and on a new one none is.
        FutureTask<Boolean> elsewhere = new FutureTask<>(() -> {
            try (DeviceStream save = w.memory.open(Direction.SAVE)) {
                CudaWorld.run(save, w.linear(0, 0, BYTES));
                return save.drain(CudaWorld.SOON_NS);
            }
        });
        Thread.ofPlatform().start(elsewhere);
        assertTrue(elsewhere.get(1, TimeUnit.MINUTES));
        assertArrayEquals(content, w.hostBytes(0, BYTES));
    }

    @Test
    void slabsAreRegisteredOnceAndReleasedOnce() throws DeviceFault {
        CudaMemory memory = world().memory;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment slab = arena.allocate(8_192, 4_096);
            Allocation registered = memory.register(slab);
            long before = fake.count("cuMemHostRegister_v2");
            fails(Kind.INVALID_VALUE, () -> memory.register(slab));
            fails(Kind.INVALID_VALUE, () -> memory.register(slab.asSlice(4_096)));
            fails(Kind.INVALID_VALUE, () -> memory.register(slab.asSlice(1)));
            fails(Kind.INVALID_VALUE, () -> memory.register(MemorySegment.ofArray(new byte[4_096])));
            assertEquals(before, fake.count("cuMemHostRegister_v2"), "refused without asking the driver");
            memory.release(registered);
            fails(Kind.INVALID_VALUE, () -> memory.release(registered));
            memory.release(memory.register(slab));
        }
    }

    @Test
    void memoryOfAnEngineIsOpenedByItsHandle() throws DeviceFault {
        CudaMemory memory = world().memory;
        MemoryHandle handle = regions.getFirst().handle();
        fails(Kind.INVALID_HANDLE, () -> memory.open(handle, BYTES + 1));
        fails(Kind.INVALID_HANDLE, () -> memory.open(new MemoryHandle.CudaIpc(Bytes.copyOf(new byte[64])), 16));
        fails(Kind.INVALID_VALUE, () -> memory.open(handle, 0));
        fails(Kind.UNSUPPORTED, () -> memory.open(new MemoryHandle.SharedFile("/dev/shm/x"), 16));
        // Opened: for this world, the one that was too small, and the one that was no handle. Closed: the one that was too small.
        assertEquals(List.of(3L, 1L), List.of(fake.count("cuIpcOpenMemHandle_v2"), fake.count("cuIpcCloseMemHandle")));
        // The same handle twice: one address, two allocations, and the first release leaves the second alone.
        Allocation second = memory.open(handle, 1_000);
        assertEquals(world().device.address(), second.address());
        memory.release(second);
        try (DeviceStream save = memory.open(Direction.SAVE)) {
            CudaWorld.run(save, world().linear(0, 0, BYTES));
            fails(Kind.INVALID_VALUE, () -> save.enqueue(plan(new Copy.Linear(second.at(0), world().host.at(0), 16))));
        }
    }

    @Test
    void aHandleOfAnEngineThatHasDiedIsRefused() {
        Engine dying = new Engine(gpu);
        MemoryHandle handle = dying.allocate(4_096).handle();
        dying.kill();
        DeviceFault fault = assertThrows(DeviceFault.class, () -> world().memory.open(handle, 4_096));
        assertFalse(fault.kind().endsContext(), fault::toString);
    }

    @Test
    void afterAFaultThatEndsTheContextEverythingButCloseFailsWithItsKind() throws DeviceFault {
        CudaWorld w = world();
        DeviceStream save = w.memory.open(Direction.SAVE);
        save.enqueue(plan(w.linear(0, 0, 16), w.linear(16, 16, 16)));
        DeviceEvent event = save.record();
        fake.failOperation(2, 719);
        assertEquals(719, fails(Kind.LAUNCH_FAILED, () -> event.await(CudaWorld.SOON_NS)).code());
        fails(Kind.LAUNCH_FAILED, event::poll);
        fails(Kind.LAUNCH_FAILED, () -> save.drain(NOW));
        fails(Kind.LAUNCH_FAILED, save::record);
        fails(Kind.LAUNCH_FAILED, () -> save.enqueue(CopyPlan.EMPTY));
        fails(Kind.LAUNCH_FAILED, () -> w.memory.open(Direction.LOAD));
        fails(Kind.LAUNCH_FAILED, () -> w.memory.release(w.host));
        event.close();
        save.close();
        w.memory.close();
        fails(Kind.LAUNCH_FAILED, () -> w.memory.open(Direction.LOAD));
    }

    @Test
    void closeWaitsForWhatIsUnderWay() throws DeviceFault {
        CudaWorld w = world();
        byte[] content = CudaWorld.random(6, BYTES);
        w.engine.write(0, content);
        w.memory.open(Direction.SAVE).enqueue(plan(w.linear(0, 0, BYTES)));
        w.memory.close();
        assertArrayEquals(content, w.hostBytes(0, BYTES));
        w.memory.close();
        fails(Kind.DEVICE_LOST, () -> w.memory.open(Direction.SAVE));
    }

    @Test
    void aDriverThatCannotCompileTheKernelMeansSingleCopies() throws DeviceFault {
        fake.failAt("cuModuleLoadData", 1, 222);
        try (CudaWorld w = new CudaWorld(gpu.open(), regions.getFirst(), BYTES); DeviceStream save = w.memory.open(Direction.SAVE)) {
            assertFalse(w.memory.facts().gathers());
            byte[] content = CudaWorld.random(7, BYTES);
            w.engine.write(0, content);
            CudaWorld.run(save, new Copy.Gather(List.of(w.fragment(64, 0), w.fragment(0, 64)), 64));
            assertArrayEquals(java.util.Arrays.copyOfRange(content, 64, 128), w.hostBytes(0, 64));
            assertEquals(0, fake.count("cuLaunchKernel"));
        }
    }

    @Test
    void tooManyAllocationsAreRefused() throws DeviceFault {
        try (CudaWorld w = new CudaWorld(gpu.open(new CudaLimits(2, 16, 1, 32, 0)), regions.getFirst(), BYTES)) {
            String message = String.valueOf(fails(Kind.OUT_OF_MEMORY, () -> w.memory.open(w.engine.handle(), 16)).getMessage());
            assertTrue(message.contains("CudaLimits.allocations"), message);
            w.memory.release(w.device);
            w.memory.open(w.engine.handle(), 16);
        }
    }

    @Test
    void aGpuThatIsNotThereIsRefused() {
        fails(Kind.INVALID_VALUE, () -> CudaMemory.open(gpu.driver(), 1, CudaLimits.DEFAULTS));
        fails(Kind.INVALID_VALUE, () -> CudaMemory.open(gpu.driver(), -1, CudaLimits.DEFAULTS));
    }

    private static DeviceFault fails(Kind kind, Executable body) {
        DeviceFault fault = assertThrows(DeviceFault.class, body);
        assertEquals(kind, fault.kind(), fault.getMessage());
        return fault;
    }
}
