/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentConfig.Device;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.GoldenVector;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.cuda.CudaLimits;
import io.tierlog.agent.cuda.Engine;
import io.tierlog.agent.cuda.FakeDriver;
import io.tierlog.agent.cuda.Gpu;
import io.tierlog.schemas.OperationReason;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The copies of an agent go through the device of its configuration: here a GPU, played by the fake driver where there is none. */
class DeviceStartTest {
    private final List<CopiesEnded> ended = new CopyOnWriteArrayList<>();

    /** The pool of an engine in another process, in slabs of two pages: blocks out to the host, and back to other pages. */
    @Test
    void theGoldenVectorGoesThroughUnitsOnAGpu() throws Exception {
        Gpu gpu = Gpu.load();
        HostPool.Options slabs = new HostPool.Options(true, OptionalInt.empty(), 2 * GoldenVector.PAGE_BYTES);
        KvLayout layout = GoldenVector.GEOMETRY.layout(0x7f00_0000, GoldenVector.BLOCKS);
        DeviceMemory device = DeviceStart.open("agent", Device.parse("cuda"));
        try (Engine engine = new Engine(gpu);
                HostPool host = HostPool.allocate(GoldenVector.PAGES, GoldenVector.PAGE_BYTES, slabs);
                DeviceStreams streams = DeviceStreams.start("agent", device, host, DeviceStreams.Limits.DEFAULTS, ended::add)) {
            byte[] content = GoldenVector.device();
            Engine.Memory memory = engine.allocate(content.length);
            memory.write(0, content);
            streams.attach(EnginePool.open(device, List.of(layout), List.of(memory.handle())));

            streams.save(1, GoldenVector.SAVE.stream().map(pair -> new PageCopy(pair.block(), pair.page(), 0)).toList());
            List<UnitResult> saved = await(1);
            assertEquals(Collections.nCopies(3, OperationReason.COMPLETED), saved.stream().map(UnitResult::reason).toList());
            assertEquals(GoldenVector.BLOCK_CRC32, IntStream.range(0, GoldenVector.PAGES)
                    .mapToObj(page -> GoldenVector.crc32(host.page(page).toArray(ValueLayout.JAVA_BYTE), 0, GoldenVector.PAGE_BYTES))
                    .toList());

            streams.load(2, GoldenVector.LOAD.stream()
                    .map(pair -> new PageCopy(pair.block(), pair.page(), saved.get(pair.page()).crc32c()))
                    .toList());
            assertEquals(saved, await(2));
            assertEquals(GoldenVector.DEVICE_AFTER, GoldenVector.sums(memory.read(0, content.length)));
        }
        gpu.fake().map(FakeDriver::violations).ifPresent(violations -> assertEquals(List.of(), violations));
    }

    @Test
    void aMissingGpuIsReported() {
        Gpu.load();
        DeviceUnavailableException refused =
                assertThrows(DeviceUnavailableException.class, () -> DeviceStart.open("agent", Device.parse("cuda:123")));

        assertTrue(String.valueOf(refused.getMessage()).contains("GPU 123 of "), refused.getMessage());
    }

    @Test
    void devicesAreNamed() {
        assertEquals(new Device.Cuda(0, CudaLimits.DEFAULTS), Device.parse("cuda"));
        assertEquals(new Device.Cuda(3, CudaLimits.DEFAULTS), Device.parse("cuda:3"));
        assertInstanceOf(Device.Emulated.class, Device.parse("emulated"));
        for (String wrong : List.of("", "gpu", "cuda:", "cuda:-1", "cuda:1x", "Emulated")) {
            assertThrows(IllegalArgumentException.class, () -> Device.parse(wrong), wrong);
        }
    }

    private List<UnitResult> await(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(e -> e.unit() == unit));
        return ended.stream().filter(e -> e.unit() == unit).findFirst().orElseThrow().results();
    }
}
