/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.tierlog.agent.core.copy.CopyPlanner.Options;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.LayoutFault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** G1 to the byte, plans run over arrays. */
class GoldenVectorTest {
    private static final String FIRST_OF_BLOCK_1 = "c2b4 c2b3 c2b1 c2b0 c2af c2ae c2ac c2ab";

    private final byte[] device = GoldenVector.device();
    private final byte[] host = new byte[GoldenVector.PAGES * GoldenVector.PAGE_BYTES];

    @Test
    void theDeviceBeforeIsRight() {
        assertEquals(FIRST_OF_BLOCK_1, words(GoldenVector.GEOMETRY.offset(1, 0, 0), 8));
        assertEquals(11_776, GoldenVector.GEOMETRY.offset(2, 3, 1));
        assertEquals("431a 431b 431c 431c", words(11_776, 4));
        assertEquals(GoldenVector.DEVICE_BEFORE, GoldenVector.sums(device));
    }

    @ParameterizedTest
    @EnumSource(HostImage.Form.class)
    void everyPlanMovesTheRightBytes(HostImage.Form form) throws LayoutFault {
        for (Options options : List.of(Options.LINEAR, Options.STRIDED, Options.GATHERING)) {
            byte[] memory = device.clone();
            PlanRunner runner = new PlanRunner();
            KvLayout layout = GoldenVector.GEOMETRY.layout(0x1000, GoldenVector.BLOCKS);
            List<DeviceLayer> layers =
                    DeviceLayer.of(layout, List.of(runner.add(Allocation.Side.DEVICE, 0x7000, memory)));
            Allocation slab = runner.add(Allocation.Side.HOST, 0x9000, host);
            HostImage image = form == HostImage.Form.PAGE_FIRST
                    ? HostImage.pageFirst(List.of(slab), GoldenVector.PAGES, layout)
                    : HostImage.layerFirst(slab, GoldenVector.PAGES, layout);

            runner.run(CopyPlanner.plan(layers, image, GoldenVector.SAVE, options), Direction.SAVE);
            assertEquals(form == HostImage.Form.PAGE_FIRST ? GoldenVector.PAGE_FIRST : GoldenVector.LAYER_FIRST, GoldenVector.sums(host));
            runner.run(CopyPlanner.plan(layers, image, GoldenVector.LOAD, options), Direction.LOAD);
            assertEquals(GoldenVector.DEVICE_AFTER, GoldenVector.sums(memory));
        }
    }

    @Test
    void everyBlockHasItsChecksum() throws LayoutFault {
        PlanRunner runner = new PlanRunner();
        KvLayout layout = GoldenVector.GEOMETRY.layout(0x1000, GoldenVector.BLOCKS);
        List<DeviceLayer> layers = DeviceLayer.of(layout, List.of(runner.add(Allocation.Side.DEVICE, 0x7000, device)));
        Allocation slab = runner.add(Allocation.Side.HOST, 0x9000, host);
        HostImage image = HostImage.pageFirst(List.of(slab), GoldenVector.PAGES, layout);
        CopyPlan plan = CopyPlanner.plan(layers, image, GoldenVector.SAVE, Options.STRIDED);

        runner.run(plan, Direction.SAVE);

        assertEquals(1, plan.copies().size(), "consecutive on both sides");
        assertEquals(GoldenVector.BLOCK_CRC32, IntStream.range(0, GoldenVector.PAGES)
                .mapToObj(page -> GoldenVector.crc32(host, page * GoldenVector.PAGE_BYTES, GoldenVector.PAGE_BYTES))
                .toList());
    }

    @Test
    void layerFirstTakesTwelveDescriptors() throws LayoutFault {
        PlanRunner runner = new PlanRunner();
        KvLayout layout = GoldenVector.GEOMETRY.layout(0x1000, GoldenVector.BLOCKS);
        List<DeviceLayer> layers = DeviceLayer.of(layout, List.of(runner.add(Allocation.Side.DEVICE, 0x7000, device)));
        HostImage image = HostImage.layerFirst(runner.add(Allocation.Side.HOST, 0x9000, host), GoldenVector.PAGES, layout);

        CopyPlan plan = CopyPlanner.plan(layers, image, GoldenVector.SAVE, Options.GATHERING);

        assertEquals(1, plan.copies().size());
        Copy.Gather gather = assertInstanceOf(Copy.Gather.class, plan.copies().getFirst());
        assertEquals(12, gather.fragments().size());
        assertEquals(1_024, gather.fragmentBytes());
    }

    private String words(long offset, int count) {
        ByteBuffer bytes = ByteBuffer.wrap(device).order(ByteOrder.LITTLE_ENDIAN);
        List<String> words = IntStream.range(0, count)
                .mapToObj(i -> String.format("%04x", bytes.getShort((int) offset + 2 * i) & 0xffff))
                .toList();
        return String.join(" ", words);
    }
}
