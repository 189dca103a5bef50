/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.CopyPlanner.Options;
import io.tierlog.agent.core.copy.CopyPlanner.Pair;
import io.tierlog.agent.core.copy.DeviceLayer;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.copy.HostImage;
import io.tierlog.agent.core.layout.FusedGeometry;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * Blocks of Qwen3-4B (36 layers, 8 heads of 128, bf16, 16 tokens: 2,359,296 bytes) to the host and back to other places, every byte compared
 * by checksums of blocks. On a GPU 127 of them, 299,630,592 bytes, with times; against the fake driver 6, without.
 */
class CudaRoundTripTest {
    private static final FusedGeometry QWEN = new FusedGeometry(36, 8, 128, 16, 2);
    private static final int BLOCK_BYTES = 2_359_296;
    private static final int GPU_BLOCKS = 127;
    private static final int FAKE_BLOCKS = 6;
    private static final double NANOS_PER_MS = 1e6;

    private final Gpu gpu = Gpu.load();
    private final int blocks = Gpu.real() ? GPU_BLOCKS : FAKE_BLOCKS;

    @Test
    void everyBlockComesBack() throws Exception {
        KvLayout layout = QWEN.layout(0x1000, 2 * blocks);
        assertEquals(BLOCK_BYTES, layout.blockBytes());
        long deviceBytes = 2L * blocks * BLOCK_BYTES;
        try (Engine engine = new Engine(gpu);
                CudaWorld world = new CudaWorld(gpu.open(), engine.allocate(deviceBytes), (long) blocks * BLOCK_BYTES);
                DeviceStream save = world.memory.open(Direction.SAVE);
                DeviceStream load = world.memory.open(Direction.LOAD)) {
            List<DeviceLayer> layers = DeviceLayer.of(layout, List.of(world.device));
            for (HostImage image : List.of(
                    HostImage.pageFirst(List.of(world.host), blocks, layout), HostImage.layerFirst(world.host, blocks, layout))) {
                for (Options options : List.of(Options.LINEAR, Options.STRIDED, new Options(Integer.MAX_VALUE, BLOCK_BYTES))) {
                    roundTrip(world, layers, image, options, List.of(save, load));
                }
            }
        }
    }

    /** Blocks 0 to n-1 in random order to the pages, and the pages to blocks n to 2n-1. */
    private void roundTrip(CudaWorld world, List<DeviceLayer> layers, HostImage image, Options options, List<DeviceStream> streams)
            throws DeviceFault {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            order.add(i);
        }
        Random random = new Random(127);
        Collections.shuffle(order, random);
        List<Long> sums = new ArrayList<>();
        byte[] content = new byte[BLOCK_BYTES];
        for (int i = 0; i < blocks; i++) {
            random.nextBytes(content);
            sums.add(crc32c(content));
            world.engine.write((long) i * BLOCK_BYTES, content);
            world.engine.write((long) (blocks + i) * BLOCK_BYTES, new byte[BLOCK_BYTES]);
        }
        List<Pair> out = new ArrayList<>();
        List<Pair> back = new ArrayList<>();
        for (int page = 0; page < blocks; page++) {
            out.add(new Pair(order.get(page), page));
            back.add(new Pair(blocks + page, page));
        }
        double saveMs = timed(streams.get(0), CopyPlanner.plan(layers, image, out, options));
        double loadMs = timed(streams.get(1), CopyPlanner.plan(layers, image, back, options));
        for (int page = 0; page < blocks; page++) {
            byte[] landed = world.engine.read((long) (blocks + page) * BLOCK_BYTES, BLOCK_BYTES);
            assertEquals(sums.get(order.get(page)), crc32c(landed), "block " + page + " with " + options);
        }
        if (Gpu.real()) {
            long bytes = (long) blocks * BLOCK_BYTES;
            System.out.println(String.format(Locale.ROOT, "%s: round trip of %d bytes, %s, %s: save %.2f ms (%.1f GB/s), load %.2f ms (%.1f GB/s)",
                    world.memory.facts().name(), bytes, image.form(), options, saveMs, bytes / saveMs / NANOS_PER_MS, loadMs,
                    bytes / loadMs / NANOS_PER_MS));
        }
    }

    private static double timed(DeviceStream stream, CopyPlan plan) throws DeviceFault {
        long began = System.nanoTime();
        stream.enqueue(plan);
        try (DeviceEvent event = stream.record()) {
            assertEquals(true, event.await(CudaWorld.SOON_NS));
        }
        return (System.nanoTime() - began) / NANOS_PER_MS;
    }

    private static long crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return crc.getValue();
    }
}
