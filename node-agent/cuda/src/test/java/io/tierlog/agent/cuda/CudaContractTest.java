/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.port.DeviceBench;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceMemoryContract;
import io.tierlog.agent.core.port.MemoryHandle;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of the device port, over CUDA. */
class CudaContractTest extends DeviceMemoryContract {
    private static final List<Engine> ENGINES = new java.util.concurrent.CopyOnWriteArrayList<>();

    private final Gpu gpu = Gpu.load();

    @BeforeAll
    static void start() {
        ENGINES.add(new Engine(Gpu.load()));
    }

    @AfterAll
    static void stop() {
        ENGINES.forEach(Engine::close);
        ENGINES.clear();
    }

    @Override
    protected DeviceBench bench() {
        return new Bench(gpu, gpu.open(), new ConcurrentHashMap<>());
    }

    private record Bench(Gpu gpu, DeviceMemory memory, Map<MemoryHandle, Engine.Memory> regions) implements DeviceBench {
        @Override
        public MemoryHandle engineMemory(byte[] content) {
            Engine.Memory region = ENGINES.getFirst().allocate(content.length);
            region.write(0, content);
            regions.put(region.handle(), region);
            return region.handle();
        }

        @Override
        public byte[] read(MemoryHandle handle, int length) {
            Engine.Memory region = regions.get(handle);
            if (region == null) {
                throw new IllegalArgumentException("not mine: " + handle);
            }
            return region.read(0, length);
        }

        @Override
        public void close() {
            try {
                memory.close();
            } catch (DeviceFault e) {
                throw new IllegalStateException(e);
            }
            gpu.fake().ifPresent(fake -> assertEquals(List.of(), fake.violations()));
            gpu.fake().ifPresent(fake -> assertEquals(0, fake.alive(FakeDriver.Kind.CONTEXT)));
        }
    }
}
