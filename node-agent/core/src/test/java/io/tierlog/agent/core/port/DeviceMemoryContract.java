/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.Copy.Fragment;
import io.tierlog.agent.core.copy.Copy.Gather;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Copy.Pitch;
import io.tierlog.agent.core.copy.Copy.Strided;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.DeviceLayer;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.copy.GoldenVector;
import io.tierlog.agent.core.copy.HostImage;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What every device must do: copies right to the byte and in order, events after bytes, typed refusals, an end after which nothing moves.
 * An engine of two regions of 64 KiB, host memory of two slabs of 64 KiB.
 */
public abstract class DeviceMemoryContract {
    /** Bytes of each region and each slab. */
    protected static final int BYTES = 64 << 10;
    /** Longer than any copy here takes; only a defect waits so long. */
    protected static final long LONG = TimeUnit.SECONDS.toNanos(20);

    private final Arena arena = Arena.ofShared();
    /** The host's memory, which the tests see as the agent does. */
    protected final List<MemorySegment> host = List.of(arena.allocate(BYTES, 4_096), arena.allocate(BYTES, 4_096));
    /** The same, registered. */
    protected final List<Allocation> slabs = new ArrayList<>();
    /** The engine's memory, as it names it. */
    protected final List<MemoryHandle> handles = new ArrayList<>();
    /** The same, opened. */
    protected final List<Allocation> regions = new ArrayList<>();
    /** What is in the engine's memory at the beginning. */
    protected final List<byte[]> content = List.of(random(1), random(2));
    private DeviceBench bench = new NoBench();

    /** Makes a device and an engine for one test. */
    protected abstract DeviceBench bench() throws Exception;

    @BeforeEach
    void open() throws Exception {
        bench = bench();
        for (int i = 0; i < 2; i++) {
            host.get(i).copyFrom(MemorySegment.ofArray(random(3 + i)));
            slabs.add(memory().register(host.get(i)));
            handles.add(bench.engineMemory(content.get(i).clone()));
            regions.add(memory().open(handles.get(i), BYTES));
        }
    }

    @AfterEach
    void end() {
        bench.close();
        arena.close();
    }

    /** The device under test. */
    protected final DeviceMemory memory() {
        return bench.memory();
    }

    /** Bytes of a region, from the engine's side. */
    protected final byte[] engine(int region) {
        return bench.read(handles.get(region), BYTES);
    }

    /** Bytes of a slab. */
    protected final byte[] host(int slab) {
        return host.get(slab).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Random bytes, always the same for a seed. */
    protected static byte[] random(int seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** A plan of single copies. */
    protected static CopyPlan plan(Copy... copies) {
        return new CopyPlan(List.of(copies));
    }

    /** Queues a plan, waits until it has ended. */
    protected final void run(Direction direction, CopyPlan plan) throws DeviceFault {
        try (DeviceStream stream = memory().open(direction)) {
            stream.enqueue(plan);
            try (DeviceEvent event = stream.record()) {
                assertTrue(event.await(LONG));
                assertTrue(event.poll());
            }
            assertTrue(stream.drain(LONG));
        }
    }

    /** What an array copy would have made of it. */
    private static void copy(byte[] from, long at, byte[] to, long toAt, long bytes) {
        System.arraycopy(from, (int) at, to, (int) toAt, (int) bytes);
    }

    private static Kind refused(Executable call) {
        return assertThrows(DeviceFault.class, call).kind();
    }

    // --- bytes

    @Test
    void aRunIsCopiedBothWaysAndNothingElseIsTouched() throws DeviceFault {
        byte[] expected = host(1);
        copy(content.get(0), 1_001, expected, 7, 5_003);
        run(Direction.SAVE, plan(new Linear(regions.get(0).at(1_001), slabs.get(1).at(7), 5_003)));
        assertArrayEquals(expected, host(1));
        assertArrayEquals(content.get(0), engine(0));

        byte[] loaded = content.get(1).clone();
        copy(host(0), 3, loaded, BYTES - 100, 100);
        run(Direction.LOAD, plan(new Linear(regions.get(1).at(BYTES - 100), slabs.get(0).at(3), 100)));
        assertArrayEquals(loaded, engine(1));
    }

    @ParameterizedTest
    @EnumSource(Direction.class)
    void aRectangleIsCopiedRowByRow(Direction direction) throws DeviceFault {
        Strided copy = new Strided(regions.get(0).at(5), slabs.get(1).at(11), new Pitch(1_000, 300), 300, 60);
        byte[] device = content.get(0).clone();
        byte[] slab = host(1);
        for (int row = 0; row < 60; row++) {
            if (direction == Direction.LOAD) {
                copy(slab, 11 + row * 300L, device, 5 + row * 1_000L, 300);
            } else {
                copy(device, 5 + row * 1_000L, slab, 11 + row * 300L, 300);
            }
        }

        run(direction, plan(copy));

        assertArrayEquals(slab, host(1));
        assertArrayEquals(device, engine(0));
    }

    @ParameterizedTest
    @EnumSource(Direction.class)
    void aGatherGoesAcrossAllocations(Direction direction) throws DeviceFault {
        List<Fragment> fragments = new ArrayList<>();
        List<byte[]> device = content.stream().map(byte[]::clone).toList();
        List<byte[]> slab = List.of(host(0), host(1));
        for (int i = 0; i < 100; i++) {
            int region = i % 2;
            int to = i / 50;
            int at = (i * 37 % 100) * 640;
            fragments.add(new Fragment(regions.get(region).at(at), slabs.get(to).at(i * 512L)));
            if (direction == Direction.LOAD) {
                copy(slab.get(to), i * 512L, device.get(region), at, 512);
            } else {
                copy(device.get(region), at, slab.get(to), i * 512L, 512);
            }
        }

        run(direction, plan(new Gather(fragments, 512)));

        for (int i = 0; i < 2; i++) {
            assertArrayEquals(slab.get(i), host(i));
            assertArrayEquals(device.get(i), engine(i));
        }
    }

    @Test
    void fragmentsOfAnyLengthAreGathered() throws DeviceFault {
        for (int bytes : new int[] {1, 3, 8, 15, 17, 576, 4_097}) {
            byte[] expected = host(0);
            List<Fragment> fragments = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                fragments.add(new Fragment(regions.get(0).at(1 + i * 5_001L), slabs.get(0).at(3 + (6 - i) * 4_099L)));
                copy(content.get(0), 1 + i * 5_001L, expected, 3 + (6 - i) * 4_099L, bytes);
            }
            run(Direction.SAVE, plan(new Gather(fragments, bytes)));
            assertArrayEquals(expected, host(0), bytes + " bytes");
        }
    }

    @ParameterizedTest
    @EnumSource(HostImage.Form.class)
    void theGoldenVectorIsRight(HostImage.Form form) throws Exception {
        KvLayout layout = GoldenVector.GEOMETRY.layout(0x1000, GoldenVector.BLOCKS);
        MemoryHandle engine = bench.engineMemory(GoldenVector.device());
        List<DeviceLayer> layers = DeviceLayer.of(layout, List.of(memory().open(engine, GoldenVector.DEVICE_BYTES)));
        int bytes = GoldenVector.PAGES * GoldenVector.PAGE_BYTES;
        MemorySegment image = arena.allocate(bytes, 4_096);
        Allocation slab = memory().register(image);
        HostImage pages = form == HostImage.Form.PAGE_FIRST
                ? HostImage.pageFirst(List.of(slab), GoldenVector.PAGES, layout)
                : HostImage.layerFirst(slab, GoldenVector.PAGES, layout);
        for (CopyPlanner.Options options :
                List.of(CopyPlanner.Options.LINEAR, CopyPlanner.Options.STRIDED, CopyPlanner.Options.GATHERING)) {
            image.fill((byte) 0);

            run(Direction.SAVE, CopyPlanner.plan(layers, pages, GoldenVector.SAVE, options));
            assertEquals(form == HostImage.Form.PAGE_FIRST ? GoldenVector.PAGE_FIRST : GoldenVector.LAYER_FIRST,
                    GoldenVector.sums(image.toArray(ValueLayout.JAVA_BYTE)));

            run(Direction.LOAD, CopyPlanner.plan(layers, pages, GoldenVector.LOAD, options));
            assertEquals(GoldenVector.DEVICE_AFTER, GoldenVector.sums(bench.read(engine, GoldenVector.DEVICE_BYTES)));
        }
    }

    // --- order

    @Test
    void whatIsQueuedOnOneStreamRunsInOrder() throws DeviceFault {
        try (DeviceStream stream = memory().open(Direction.LOAD)) {
            for (int i = 0; i < 200; i++) {
                stream.enqueue(plan(new Linear(regions.get(0).at(0), slabs.get(i % 2).at(i * 128L), 20_000 - i)));
            }
            try (DeviceEvent event = stream.record()) {
                assertTrue(event.await(LONG));
            }
        }
        byte[] expected = content.get(0).clone();
        for (int i = 0; i < 200; i++) {
            copy(host(i % 2), i * 128L, expected, 0, 20_000 - i);
        }
        assertArrayEquals(expected, engine(0));
    }

    @Test
    void whoSeesAnEventSeesTheBytesBeforeIt() throws DeviceFault {
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            List<DeviceEvent> events = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                stream.enqueue(plan(new Linear(regions.get(0).at(i * 2_048L), slabs.get(0).at(i * 2_048L), 2_048)));
                events.add(stream.record());
            }
            for (int i = 0; i < 32; i++) {
                assertTrue(events.get(i).await(LONG));
                MemorySegment landed = host.get(0).asSlice(i * 2_048L, 2_048);
                assertEquals(-1, landed.mismatch(MemorySegment.ofArray(content.get(0)).asSlice(i * 2_048L, 2_048)), "event " + i);
                events.get(i).close();
            }
        }
    }

    @Test
    void anEventOfAnEmptyStreamIsReached() throws DeviceFault {
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            assertTrue(stream.drain(LONG));
            stream.enqueue(CopyPlan.EMPTY);
            try (DeviceEvent event = stream.record()) {
                assertTrue(event.await(LONG));
            }
            assertEquals(Direction.SAVE, stream.direction());
        }
    }

    // --- refusals

    @Test
    void aCopyOutOfBoundsIsRefusedAndNothingOfItsPlanIsQueued() throws DeviceFault {
        byte[] before = host(0);
        Linear good = new Linear(regions.get(0).at(0), slabs.get(0).at(0), 100);
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            for (Copy bad : List.of(
                    new Linear(regions.get(0).at(BYTES - 99), slabs.get(0).at(0), 100),
                    new Linear(regions.get(0).at(0), slabs.get(0).at(BYTES - 99), 100),
                    new Linear(slabs.get(0).at(0), slabs.get(1).at(0), 100),
                    new Linear(regions.get(0).at(0), regions.get(1).at(0), 100),
                    new Strided(regions.get(0).at(0), slabs.get(0).at(0), new Pitch(BYTES / 2, 100), 100, 3),
                    new Gather(List.of(new Fragment(regions.get(0).at(BYTES - 99), slabs.get(0).at(0))), 100),
                    new Linear(new Allocation(9_999, Allocation.Side.DEVICE, 0, BYTES).at(0), slabs.get(0).at(0), 100))) {
                assertEquals(Kind.INVALID_VALUE, refused(() -> stream.enqueue(plan(good, bad))), bad::toString);
            }
            assertTrue(stream.drain(LONG));
            assertArrayEquals(before, host(0));
            stream.enqueue(plan(good));
            try (DeviceEvent event = stream.record()) {
                assertTrue(event.await(LONG), "the stream is as it was");
            }
        }
        assertNotEquals(-1, MemorySegment.ofArray(before).mismatch(host.get(0)));
    }

    @Test
    void whatHasBeenReleasedIsNotOpenAnyMore() throws DeviceFault {
        memory().release(regions.get(0));
        memory().release(slabs.get(0));

        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().release(regions.get(0))));
        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().release(slabs.get(0))));
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            assertEquals(Kind.INVALID_VALUE,
                    refused(() -> stream.enqueue(plan(new Linear(regions.get(0).at(0), slabs.get(1).at(0), 100)))));
            assertEquals(Kind.INVALID_VALUE,
                    refused(() -> stream.enqueue(plan(new Linear(regions.get(1).at(0), slabs.get(0).at(0), 100)))));
        }
        Allocation again = memory().register(host.get(0));
        assertFalse(slabs.contains(again), "an id is never used again");
        run(Direction.SAVE, plan(new Linear(regions.get(1).at(0), again.at(0), 100)));
    }

    @Test
    void hostMemoryIsRegisteredOnceAndIsNative() {
        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().register(host.get(0))));
        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().register(host.get(1).asSlice(4_096, 4_096))));
        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().register(MemorySegment.ofArray(new byte[4_096]))));
        assertEquals(Kind.INVALID_VALUE, refused(() -> memory().register(arena.allocate(8_192, 4_096).asSlice(1))));
    }

    @Test
    void anEngineCannotGiveMoreThanItHas() {
        assertEquals(Kind.INVALID_HANDLE, refused(() -> memory().open(handles.get(0), 1L << 40)));
    }

    @Test
    void afterTheEndEveryCallIsRefused() throws DeviceFault {
        DeviceStream stream = memory().open(Direction.SAVE);
        memory().close();
        memory().close();

        assertEquals(Kind.DEVICE_LOST, refused(() -> memory().open(Direction.SAVE)));
        assertEquals(Kind.DEVICE_LOST, refused(() -> memory().register(arena.allocate(4_096, 4_096))));
        assertEquals(Kind.DEVICE_LOST, refused(() -> memory().open(handles.get(0), BYTES)));
        assertEquals(Kind.DEVICE_LOST, refused(() -> memory().release(slabs.get(0))));
        assertEquals(Kind.DEVICE_LOST, refused(() -> stream.enqueue(plan(new Linear(regions.get(0).at(0), slabs.get(0).at(0), 1)))));
        assertEquals(Kind.DEVICE_LOST, refused(stream::record));
        assertEquals(Kind.DEVICE_LOST, refused(() -> stream.drain(0)));
        stream.close();
    }

    @Test
    void aDeviceSaysWhatItIs() {
        DeviceFacts facts = memory().facts();

        assertFalse(facts.name().isEmpty());
        assertTrue(facts.mostPitchBytes() >= BYTES);
        assertEquals(facts, memory().facts());
    }

    /** Before a bench is there. */
    private static final class NoBench implements DeviceBench {
        @Override
        public DeviceMemory memory() {
            throw new IllegalStateException("the bench has not been made");
        }

        @Override
        public MemoryHandle engineMemory(byte[] content) {
            throw new IllegalStateException("the bench has not been made");
        }

        @Override
        public byte[] read(MemoryHandle handle, int length) {
            throw new IllegalStateException("the bench has not been made");
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    }
}
