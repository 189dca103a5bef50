/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.CopyPlanner.Options;
import io.tierlog.agent.core.copy.DeviceLayer;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.copy.GoldenVector;
import io.tierlog.agent.core.copy.HostImage;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceStream;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G1 to the byte through the driver: 1-D, 2-D and gathered, both host images. */
class CudaGoldenVectorTest {
    private final Gpu gpu = Gpu.load();

    @ParameterizedTest
    @EnumSource(HostImage.Form.class)
    void everyWayOfCopyingMovesTheRightBytes(HostImage.Form form) throws Exception {
        int hostBytes = GoldenVector.PAGES * GoldenVector.PAGE_BYTES;
        for (Options options : List.of(Options.LINEAR, Options.STRIDED, Options.GATHERING)) {
            try (Engine process = new Engine(gpu);
                    CudaWorld world = new CudaWorld(gpu.open(), process.allocate(GoldenVector.DEVICE_BYTES), hostBytes)) {
                Engine.Memory engine = world.engine;
                engine.write(0, GoldenVector.device());
                assertEquals(GoldenVector.DEVICE_BEFORE, GoldenVector.sums(engine.read(0, GoldenVector.DEVICE_BYTES)));
                KvLayout layout = GoldenVector.GEOMETRY.layout(0x1000, GoldenVector.BLOCKS);
                List<DeviceLayer> layers = DeviceLayer.of(layout, List.of(world.device));
                HostImage image = form == HostImage.Form.PAGE_FIRST
                        ? HostImage.pageFirst(List.of(world.host), GoldenVector.PAGES, layout)
                        : HostImage.layerFirst(world.host, GoldenVector.PAGES, layout);
                try (DeviceStream save = world.memory.open(Direction.SAVE); DeviceStream load = world.memory.open(Direction.LOAD)) {
                    Copy[] out = CopyPlanner.plan(layers, image, GoldenVector.SAVE, options).copies().toArray(Copy[]::new);
                    CudaWorld.run(save, out);
                    byte[] host = world.hostBytes(0, hostBytes);
                    assertEquals(form == HostImage.Form.PAGE_FIRST ? GoldenVector.PAGE_FIRST : GoldenVector.LAYER_FIRST, GoldenVector.sums(host));
                    if (form == HostImage.Form.PAGE_FIRST) {
                        assertEquals(GoldenVector.BLOCK_CRC32, IntStream.range(0, GoldenVector.PAGES)
                                .mapToObj(page -> GoldenVector.crc32(host, page * GoldenVector.PAGE_BYTES, GoldenVector.PAGE_BYTES))
                                .toList());
                    }
                    CudaWorld.run(load, CopyPlanner.plan(layers, image, GoldenVector.LOAD, options).copies().toArray(Copy[]::new));
                }
                assertEquals(GoldenVector.DEVICE_AFTER, GoldenVector.sums(engine.read(0, GoldenVector.DEVICE_BYTES)));
            }
            gpu.fake().ifPresent(fake -> {
                assertEquals(List.of(), fake.violations());
                fake.reset();
            });
        }
    }
}
