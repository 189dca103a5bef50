/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All calls of a device from start to end, once for every single call of the driver in it, in which that call fails: with a code that leaves the
 * context alive, with one that ends it, without effect and after it. Whatever fails, the end is a typed fault or a right result, bytes that were
 * called done are right, and after close nothing is left in the driver.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DisabledIf(value = "io.tierlog.agent.cuda.Gpu#real", disabledReason = "a GPU does not fail on request")
class CudaFaultsTest {
    private static final int BYTES = 16 << 10;
    private static final int HALF = BYTES / 2;
    private static final int OUT_OF_MEMORY = 2;
    private static final int INVALID_VALUE = 1;
    private static final int ILLEGAL_ADDRESS = 700;

    private final Gpu gpu = Gpu.load();
    private final FakeDriver fake = gpu.fake().orElseThrow();
    private final List<Engine> engines = new ArrayList<>();
    private final List<Engine.Memory> regions = new ArrayList<>();
    private final byte[] content = CudaWorld.random(11, BYTES);
    private int leftBeforeClose;

    /** When these fail, something stays until the context ends. */
    private static final Set<String> GIVES_BACK_OR_LOOKS = Set.of("cuStreamDestroy_v2", "cuEventDestroy_v2", "cuMemHostUnregister",
            "cuIpcCloseMemHandle", "cuCtxSetCurrent", "cuEventQuery", "cuStreamQuery", "cuCtxCreate_v2");

    /**
     * Most calls of a name that fail in turn, where all of them would be too many: a context is made current before every call, and how often an
     * event or a stream is polled depends on the time, but each of the two streams is polled at least once.
     */
    private static final Map<String, Integer> ENOUGH = Map.of("cuCtxSetCurrent", 8, "cuEventQuery", 2, "cuStreamQuery", 2);

    /** One call of the driver, and how it fails. */
    record Failure(String call, int nth, int code, boolean after) {
        @Override
        public String toString() {
            return call + " #" + nth + " answers " + code + (after ? " after its effect" : "");
        }
    }

    @BeforeAll
    void start() {
        engines.add(new Engine(gpu));
        regions.add(engines.getFirst().allocate(BYTES));
    }

    @AfterAll
    void stop() {
        engines.forEach(Engine::close);
    }

    Stream<Failure> everyCall() throws DeviceFault {
        fake.reset();
        life();
        Map<String, Integer> calls = new LinkedHashMap<>();
        for (String line : fake.book()) {
            String name = line.substring(0, line.indexOf(' '));
            if (calls.getOrDefault(name, 0) < ENOUGH.getOrDefault(name, Integer.MAX_VALUE)) {
                calls.merge(name, 1, Integer::sum);
            }
        }
        assertTrue(calls.size() > 25, calls.keySet()::toString);
        List<Failure> failures = new ArrayList<>();
        calls.forEach((name, count) -> {
            for (int nth = 1; nth <= count; nth++) {
                for (int code : new int[] {INVALID_VALUE, OUT_OF_MEMORY, ILLEGAL_ADDRESS}) {
                    failures.add(new Failure(name, nth, code, false));
                }
                failures.add(new Failure(name, nth, OUT_OF_MEMORY, true));
            }
        });
        return failures.stream();
    }

    @ParameterizedTest
    @MethodSource("everyCall")
    void aCallThatFailsEndsInATypedFaultAndLeavesNothingBehind(Failure failure) {
        fake.reset();
        if (failure.after()) {
            fake.failAfter(failure.call(), failure.nth(), failure.code());
        } else {
            fake.failAt(failure.call(), failure.nth(), failure.code());
        }
        List<DeviceFault> faults = new ArrayList<>();
        try {
            life();
        } catch (DeviceFault e) {
            faults.add(e);
        }
        assertFalse(fake.failsLater(), () -> "the call was not made; faults " + faults + ", calls " + fake.book());
        for (DeviceFault fault : faults) {
            boolean retold = fault.kind() == CudaResults.kindOf(failure.code()) || fault.kind() == DeviceFault.Kind.UNKNOWN
                    || fault.kind() == DeviceFault.Kind.INVALID_HANDLE;
            assertTrue(retold && fault.code() == failure.code(), fault::toString);
        }
        assertEquals(List.of(), fake.violations());
        // A context whose end the driver does not confirm may still exist, and close reports it. A stray answer after an effect leaves what
        // the driver made and did not tell us of to the end of the context.
        boolean endUnknown = failure.call().equals("cuCtxDestroy_v2") || failure.call().equals("cuCtxCreate_v2");
        for (FakeDriver.Kind kind : FakeDriver.Kind.values()) {
            assertTrue(endUnknown || fake.alive(kind) == 0, kind + " left behind: " + fake.alive(kind));
        }
        // A call that was refused and left the context alive: all else has been given back one by one, before the context went.
        boolean goesOn = failure.code() == OUT_OF_MEMORY && !failure.after() && !GIVES_BACK_OR_LOOKS.contains(failure.call());
        assertTrue(!goesOn || leftBeforeClose == 0, () -> leftBeforeClose + " objects left to the end of the context");
        if (failure.call().equals("cuCtxDestroy_v2")) {
            assertEquals(1, faults.size(), "an end that is not confirmed is a fault");
        }
    }

    /** Opens, registers, saves and loads in all three ways, and ends in order; whatever happens, closes. */
    private void life() throws DeviceFault {
        leftBeforeClose = 0;
        CudaDriver driver = CudaDriver.load();
        regions.getFirst().write(0, content);
        CudaMemory memory = CudaMemory.open(driver, 0, CudaLimits.DEFAULTS);
        // Not confined to a scope that frees it: after an end that is not confirmed bytes may move.
        Arena arena = Arena.ofShared();
        MemorySegment slab = arena.allocate(BYTES, 4_096);
        try {
            Allocation device = memory.open(regions.getFirst().handle(), BYTES);
            try (Release _ = () -> memory.release(device)) {
                Allocation host = memory.register(slab);
                try (Release _ = () -> memory.release(host)) {
                    copies(memory, device, host, slab);
                }
            }
        } finally {
            for (FakeDriver.Kind kind : List.of(
                    FakeDriver.Kind.STREAM, FakeDriver.Kind.EVENT, FakeDriver.Kind.PINNED, FakeDriver.Kind.IPC)) {
                leftBeforeClose += fake.alive(kind);
            }
            memory.close();
            arena.close();
        }
    }

    /** Gives an allocation back. */
    private interface Release extends AutoCloseable {
        @Override
        void close() throws DeviceFault;
    }

    private void copies(CudaMemory memory, Allocation device, Allocation host, MemorySegment slab) throws DeviceFault {
        List<Copy> all = List.of(
                new Copy.Linear(device.at(0), host.at(0), HALF),
                new Copy.Strided(device.at(HALF), host.at(HALF), new Copy.Pitch(512, 512), 512, 4),
                new Copy.Gather(
                        List.of(new Copy.Fragment(device.at(HALF + 2_048), host.at(HALF + 2_048)),
                                new Copy.Fragment(device.at(HALF + 3_072), host.at(HALF + 3_072))),
                        1_024));
        try (DeviceStream save = memory.open(Direction.SAVE); DeviceStream load = memory.open(Direction.LOAD)) {
            run(save, all);
            assertArrayEquals(upTo(HALF + 4_096), slab.asSlice(0, HALF + 4_096).toArray(ValueLayout.JAVA_BYTE), "called done and wrong");
            regions.getFirst().write(0, new byte[BYTES]);
            run(load, all);
            assertArrayEquals(upTo(HALF + 4_096), regions.getFirst().read(0, HALF + 4_096), "called done and wrong");
        }
    }

    private byte[] upTo(int length) {
        return java.util.Arrays.copyOf(content, length);
    }

    /** As an agent does: a plan that was refused half way is waited for all the same, before it is reported. */
    private static void run(DeviceStream stream, List<Copy> copies) throws DeviceFault {
        try {
            stream.enqueue(new CopyPlan(copies));
            try (DeviceEvent event = stream.record()) {
                assertTrue(event.await(CudaWorld.SOON_NS));
            }
        } catch (DeviceFault e) {
            if (!e.kind().endsContext()) {
                assertTrue(stream.drain(CudaWorld.SOON_NS));
            }
            throw e;
        }
    }
}
