/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gather kernel: every length and alignment lands exactly, and descriptors are not written over while a kernel may read them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CudaGatherTest {
    private static final int BYTES = 1 << 20;

    private final Gpu gpu = Gpu.load();
    private final List<Engine> engines = new ArrayList<>();

    @BeforeAll
    void start() {
        engines.add(new Engine(gpu));
    }

    @AfterAll
    void stop() {
        engines.forEach(Engine::close);
    }

    private CudaWorld world(CudaLimits limits) {
        return new CudaWorld(gpu.open(limits), engines.getFirst().allocate(BYTES), BYTES);
    }

    /** Lengths around one vector of 16, one round of 256 threads (4,096), four rounds (16,384), and odd ones; offsets that break alignment. */
    @ParameterizedTest
    @CsvSource({
        "1, 0, 0", "15, 0, 0", "16, 0, 0", "17, 0, 0", "31, 1, 0", "1024, 0, 0", "1024, 8, 8", "1024, 0, 3", "4096, 0, 0", "4097, 0, 0",
        "16383, 0, 0", "16384, 0, 0", "16400, 0, 0", "20000, 16, 32", "33000, 5, 5", "65536, 0, 0"
    })
    void everyByteLandsAndNoOther(int length, int deviceShift, int hostShift) throws DeviceFault {
        byte[] content = CudaWorld.random(length, BYTES);
        int fragments = Math.min(20, BYTES / (2 * length + 64));
        try (CudaWorld world = world(CudaLimits.DEFAULTS)) {
            assumeTrue(world.memory.facts().gathers(), "this driver does not compile the kernel");
            world.engine.write(0, content);
            List<Copy.Fragment> list = new ArrayList<>();
            byte[] expected = new byte[BYTES];
            int stride = (2 * length + 63) / 16 * 16;
            for (int i = 0; i < fragments; i++) {
                int from = i * stride + deviceShift;
                int to = (fragments - 1 - i) * stride + hostShift;
                list.add(world.fragment(from, to));
                System.arraycopy(content, from, expected, to, length);
            }
            try (DeviceStream save = world.memory.open(Direction.SAVE); DeviceStream load = world.memory.open(Direction.LOAD)) {
                CudaWorld.run(save, new Copy.Gather(list, length));
                assertArrayEquals(expected, world.hostBytes(0, BYTES));
                // Back to where it came from, over other content: only the fragments may change.
                byte[] other = CudaWorld.random(length + 1L, BYTES);
                world.engine.write(0, other);
                CudaWorld.run(load, new Copy.Gather(list, length));
                for (int i = 0; i < fragments; i++) {
                    System.arraycopy(content, i * stride + deviceShift, other, i * stride + deviceShift, length);
                }
                assertArrayEquals(other, world.engine.read(0, BYTES));
            }
        }
        gpu.fake().ifPresent(fake -> assertEquals(2, fake.count("cuLaunchKernel"), "one launch each way"));
        gpu.fake().ifPresent(FakeDriver::reset);
    }

    @Test
    void aRingThatIsFullMeansSingleCopiesAndTheSameBytes() throws DeviceFault {
        byte[] content = CudaWorld.random(5, BYTES);
        try (CudaWorld world = world(CudaLimits.DEFAULTS.withGatherPieces(8)); DeviceStream save = world.memory.open(Direction.SAVE)) {
            world.engine.write(0, content);
            byte[] expected = new byte[BYTES];
            Random random = new Random(5);
            List<CopyPlan> plans = new ArrayList<>();
            int at = 0;
            // 40 gathers of 1 to 12 fragments over a ring of 8, without a wait between them.
            for (int plan = 0; plan < 40; plan++) {
                List<Copy.Fragment> list = new ArrayList<>();
                for (int i = random.nextInt(12); i >= 0; i--) {
                    int from = random.nextInt(BYTES - 256);
                    list.add(world.fragment(from, at));
                    System.arraycopy(content, from, expected, at, 256);
                    at += 256;
                }
                plans.add(new CopyPlan(List.of(new Copy.Gather(list, 256))));
            }
            for (CopyPlan plan : plans) {
                save.enqueue(plan);
            }
            assertTrue(save.drain(CudaWorld.SOON_NS));
            assertArrayEquals(expected, world.hostBytes(0, BYTES));
            gpu.fake().ifPresent(fake -> {
                assertTrue(fake.count("cuMemcpyDtoHAsync_v2") > 0, "the ring was never full");
                assertTrue(fake.count("cuLaunchKernel") > 2, "the ring was never free again");
            });
        }
        gpu.fake().ifPresent(FakeDriver::reset);
    }
}
