/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static io.tierlog.agent.app.EngineMessages.page;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.engine.EngineApiLimits;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.agent.cuda.Engine;
import io.tierlog.agent.cuda.FakeDriver;
import io.tierlog.agent.cuda.Gpu;
import io.tierlog.engine.v1.BlockStatus;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.ReadRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole path of an engine with a GPU, or with the fake driver: its IPC handle through the engine API, blocks into its memory. */
class CudaEngineServerTest {
    private static final int LAYERS = 4;
    private static final int SEGMENT = EngineWorld.BLOCK / LAYERS;

    @TempDir
    Path directory;

    /** A block is 4 layers of 250 bytes; layer after layer in one allocation, each with all 16 pages. */
    @Test
    void blocksComeIntoTheMemoryOfAnEngineInAnotherProcess() throws Exception {
        Gpu gpu = Gpu.load();
        try (Engine process = new Engine(gpu);
                EngineWorld world = EngineWorld.registered(
                        directory, EngineApiLimits.DEFAULTS, DeviceStart.open("engine", AgentConfig.Device.parse("cuda:0")))) {
            Engine.Memory memory = process.allocate((long) EngineWorld.PAGES * EngineWorld.BLOCK);
            TestEngine engine = world.engine();
            String session = engine.open("gpu0");
            engine.calls().registerBuffers(buffers(world, session, memory));
            world.warm(engine, session, 4);

            List<BlockStatus> read = engine.calls().read(ReadRequest.newBuilder().setSession(session).setNamespace(AgentAppTest.NAMESPACE)
                    .addBlocks(page(1, 14)).addBlocks(page(3, 2)).build()).getBlocksList();

            assertEquals(List.of(true, true), read.stream().map(BlockStatus::getDone).toList());
            assertArrayEquals(EngineWorld.content(1), block(memory, 14));
            assertArrayEquals(EngineWorld.content(3), block(memory, 2));
            assertArrayEquals(new byte[EngineWorld.BLOCK], block(memory, 3), "no write there");
        }
        gpu.fake().map(FakeDriver::violations).ifPresent(violations -> assertEquals(List.of(), violations));
    }

    private static RegisterBuffersRequest buffers(EngineWorld world, String session, Engine.Memory memory) {
        assertTrue(memory.handle() instanceof MemoryHandle.CudaIpc);
        MemoryHandle.CudaIpc handle = (MemoryHandle.CudaIpc) memory.handle();
        RegisterBuffersRequest.Builder buffers = world.buffers(session).clearSharedMemoryPath().addRegions(
                MemoryRegion.newBuilder().setBase(0x7f00_0000).setBytes(memory.bytes()).setIpcHandle(TestEngine.bytes(handle.handle())));
        IntStream.range(0, LAYERS).forEach(layer -> buffers.addLayers(KvLayer.newBuilder().setName("layer." + layer)
                .setOffset((long) layer * EngineWorld.PAGES * SEGMENT).setSize((long) EngineWorld.PAGES * SEGMENT)
                .setBlocks(EngineWorld.PAGES).setSegmentBytes(SEGMENT).setSegments(1)));
        return buffers.build();
    }

    /** A block as it lies in the engine's memory, its layers put together. */
    private static byte[] block(Engine.Memory memory, int page) {
        byte[] block = new byte[EngineWorld.BLOCK];
        for (int layer = 0; layer < LAYERS; layer++) {
            byte[] segment = memory.read(((long) layer * EngineWorld.PAGES + page) * SEGMENT, SEGMENT);
            System.arraycopy(Arrays.copyOf(segment, SEGMENT), 0, block, layer * SEGMENT, SEGMENT);
        }
        return block;
    }
}
