/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Copy.Strided;
import io.tierlog.agent.core.copy.CopyPlanner.Options;
import io.tierlog.agent.core.copy.CopyPlanner.Pair;
import io.tierlog.agent.core.layout.FusedGeometry;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.RegisteredLayer;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How many copies a plan takes. */
class CopyPlannerTest {
    private static final FusedGeometry QWEN3_4B = new FusedGeometry(36, 8, 128, 16, 2);
    private static final int BLOCKS = 127;
    private static final long BYTES = 299_630_592;

    private final KvLayout qwen;
    private final List<DeviceLayer> layers;
    private final Allocation slab = new Allocation(2, Allocation.Side.HOST, 0x10_0000_0000L, BYTES);

    CopyPlannerTest() throws LayoutFault {
        qwen = QWEN3_4B.layout(0x7000_0000, BLOCKS);
        layers = DeviceLayer.of(qwen, List.of(new Allocation(1, Allocation.Side.DEVICE, 0x7f00_0000_0000L, BYTES)));
    }

    private static List<Pair> pairs(int count, IntUnaryOperator page) {
        return IntStream.range(0, count).mapToObj(i -> new Pair(i, page.applyAsInt(i))).toList();
    }

    private CopyPlan plan(HostImage image, IntUnaryOperator page, Options options) {
        CopyPlan plan = CopyPlanner.plan(layers, image, pairs(BLOCKS, page), options);
        assertEquals(BYTES, plan.bytes());
        return plan;
    }

    @Test
    void oneByOneTakes4572Copies() {
        HostImage image = HostImage.layerFirst(slab, BLOCKS, qwen);
        List<Copy> copies = CopyPlanner.naive(layers, image, pairs(BLOCKS, i -> i)).copies();

        assertEquals(4_572, copies.size());
        assertTrue(copies.stream().allMatch(copy -> copy.bytes() == 65_536));
        // Neighbours on the device are not on the host, so merging alone gains nothing.
        assertEquals(4_572, plan(image, i -> i, Options.LINEAR).copies().size());
    }

    @Test
    void rectanglesTake36Copies() {
        List<Copy> copies = plan(HostImage.layerFirst(slab, BLOCKS, qwen), i -> i, Options.STRIDED).copies();

        assertEquals(36, copies.size());
        Copy layer5 = copies.get(5);
        assertEquals(new Strided(layers.getFirst().allocation().at(5 * 65_536), slab.at(5L * BLOCKS * 65_536),
                new Copy.Pitch(2_359_296, 65_536), 65_536, BLOCKS), layer5);
    }

    @Test
    void aPageFirstImageTakesOneCopyPerBlock() {
        HostImage image = HostImage.pageFirst(List.of(slab), BLOCKS, qwen);

        List<Copy> scattered = plan(image, i -> BLOCKS - 1 - i, Options.LINEAR).copies();
        assertEquals(127, scattered.size());
        assertTrue(scattered.stream().allMatch(copy -> copy.bytes() == 2_359_296));
        // Every third page backwards, so that no two neighbours and no three equal distances forwards are among them.
        assertEquals(127, plan(image, i -> Math.floorMod(-3 * i, BLOCKS), Options.LINEAR).copies().size());
    }

    @Test
    void aPageFirstImageTakesOneCopyWhenConsecutiveOnBothSides() {
        HostImage image = HostImage.pageFirst(List.of(slab), BLOCKS, qwen);

        for (Options options : List.of(Options.LINEAR, Options.STRIDED, Options.GATHERING)) {
            assertEquals(List.of(new Linear(layers.getFirst().allocation().at(0), slab.at(0), BYTES)), plan(image, i -> i, options).copies());
        }
    }

    @Test
    void blocksAtEqualDistancesAreOneRectangleToo() {
        HostImage image = HostImage.pageFirst(List.of(slab), BLOCKS, qwen);
        List<Pair> everySecond = IntStream.range(0, 60).mapToObj(i -> new Pair(2 * i, i)).toList();

        List<Copy> copies = CopyPlanner.plan(layers, image, everySecond, Options.STRIDED).copies();

        assertEquals(1, copies.size());
        assertEquals(60 * 2_359_296L, copies.getFirst().bytes());
    }

    /** A layer after the other on the device, in one allocation: a block has equal distances over its layers. */
    @Test
    void aScatteredBlockIsARectangleOverItsLayers() throws LayoutFault {
        KvLayout layout = layerFirst(8, 10, 1_000);
        List<DeviceLayer> device = DeviceLayer.of(layout, List.of(new Allocation(1, Allocation.Side.DEVICE, 0x1000, 80_000)));
        HostImage image = HostImage.pageFirst(List.of(new Allocation(2, Allocation.Side.HOST, 0x9000, 80_000)), 10, layout);

        List<Copy> copies = CopyPlanner.plan(device, image, List.of(new Pair(1, 7), new Pair(9, 2)), Options.STRIDED).copies();

        assertEquals(2, copies.size());
        assertTrue(copies.contains(new Strided(device.getFirst().allocation().at(1_000), image.place(7, 0, 0),
                new Copy.Pitch(10_000, 1_000), 1_000, 8)), copies::toString);
    }

    /** The second slab begins where the first one ends, and so do the regions: they are two all the same. */
    @Test
    void whatTouchesAcrossAllocationsIsNotMerged() throws LayoutFault {
        var one = new Segments(1_000, 0, 1);
        Region low = new Region(0x1000, 4_000);
        Region high = new Region(0x1000 + 4_000, 4_000);
        KvLayout layout = KvLayout.of(List.of(low, high), List.of(
                new Layer("0", 0, RegisteredLayer.of(new LayerSpec(0x1000, 4_000, 4, one, OptionalLong.empty()))),
                new Layer("1", 1, RegisteredLayer.of(new LayerSpec(0x1000 + 4_000, 4_000, 4, one, OptionalLong.empty())))));
        List<DeviceLayer> split = DeviceLayer.of(layout, List.of(
                new Allocation(1, Allocation.Side.DEVICE, 0x5000, 4_000), new Allocation(2, Allocation.Side.DEVICE, 0x5000 + 4_000, 4_000)));
        Allocation host = new Allocation(3, Allocation.Side.HOST, 0x9000, 8_000);
        HostImage image = HostImage.layerFirst(host, 4, layout);

        for (Options options : List.of(Options.LINEAR, Options.STRIDED)) {
            CopyPlan plan = CopyPlanner.plan(split, image, pairs(4, i -> i), options);
            assertEquals(List.of(new Linear(split.get(0).allocation().at(0), host.at(0), 4_000),
                    new Linear(split.get(1).allocation().at(0), host.at(4_000), 4_000)), plan.copies());
        }
        // The same for two slabs of the host: block 1 and 2 touch on the device and by their host addresses.
        HostImage slabs = HostImage.pageFirst(List.of(new Allocation(4, Allocation.Side.HOST, 0x9000, 4_000),
                new Allocation(5, Allocation.Side.HOST, 0x9000 + 4_000, 4_000)), 2, layout);
        KvLayout opaque = KvLayout.opaque(4, 2_000);
        List<DeviceLayer> device = DeviceLayer.of(opaque, List.of(new Allocation(1, Allocation.Side.DEVICE, 0x5000, 8_000)));
        assertEquals(2, CopyPlanner.plan(device, slabs, pairs(4, i -> i), Options.STRIDED).copies().size());
        // In one allocation they are one copy.
        HostImage oneSlab = HostImage.pageFirst(List.of(new Allocation(4, Allocation.Side.HOST, 0x9000, 8_000)), 4, opaque);
        assertEquals(1, CopyPlanner.plan(device, oneSlab, pairs(4, i -> i), Options.STRIDED).copies().size());
    }

    @Test
    void shortRunsAreGatheredAndLongOnesAreNot() throws LayoutFault {
        KvLayout layout = layerFirst(8, 10, 1_000);
        List<DeviceLayer> device = DeviceLayer.of(layout, List.of(new Allocation(1, Allocation.Side.DEVICE, 0x1000, 80_000)));
        HostImage image = HostImage.pageFirst(List.of(new Allocation(2, Allocation.Side.HOST, 0x9000, 80_000)), 10, layout);
        List<Pair> pairs = List.of(new Pair(1, 7), new Pair(9, 2));

        CopyPlan gathered = CopyPlanner.plan(device, image, pairs, Options.GATHERING);
        assertEquals(1, gathered.copies().size());
        assertEquals(16, gathered.runs().size());
        // 1,000 bytes are not below 1,000.
        assertEquals(2, CopyPlanner.plan(device, image, pairs, new Options(Integer.MAX_VALUE, 1_000)).copies().size());
        // 65,536 bytes are not short either.
        assertEquals(36, plan(HostImage.layerFirst(slab, BLOCKS, qwen), i -> i, Options.GATHERING).copies().size());
    }

    @Test
    void aPitchBeyondTheDriversMeansSingleCopies() {
        HostImage image = HostImage.layerFirst(slab, BLOCKS, qwen);

        assertEquals(36, plan(image, i -> i, new Options(2_359_296, 0)).copies().size());
        assertEquals(4_572, plan(image, i -> i, new Options(2_359_295, 0)).copies().size());
    }

    @Test
    void aPlanIsCutIntoUnitsOfWork() {
        HostImage image = HostImage.layerFirst(slab, BLOCKS, qwen);
        CopyPlan plan = plan(image, i -> i, Options.STRIDED);

        List<CopyPlan> units = plan.cut(4 << 20);

        // 64 rows of 65,536 bytes fill 4 MiB, so a layer of 127 rows is cut in two.
        assertEquals(72, units.size());
        assertTrue(units.stream().allMatch(unit -> unit.bytes() <= 4 << 20));
        assertEquals(plan.runs(), units.stream().flatMap(unit -> unit.runs().stream()).toList());
        assertThrows(IllegalArgumentException.class, () -> plan.cut(0));
    }

    @Test
    void whatIsNotThereIsNotPlanned() {
        HostImage image = HostImage.pageFirst(List.of(slab), BLOCKS, qwen);

        assertThrows(IndexOutOfBoundsException.class,
                () -> CopyPlanner.plan(layers, image, List.of(new Pair(127, 0)), Options.STRIDED));
        assertThrows(IndexOutOfBoundsException.class,
                () -> CopyPlanner.plan(layers, image, List.of(new Pair(0, 127)), Options.STRIDED));
        assertEquals(CopyPlan.EMPTY, CopyPlanner.plan(layers, image, List.of(), Options.STRIDED));
        assertThrows(IllegalArgumentException.class, () -> HostImage.layerFirst(slab, BLOCKS + 1, qwen));
        assertThrows(IllegalArgumentException.class, () -> HostImage.pageFirst(List.of(slab, slab), BLOCKS + 1, qwen));
    }

    /** Layers one after the other from 0x1000 on, blocks without gaps. */
    private static KvLayout layerFirst(int count, long blocks, long bytes) throws LayoutFault {
        Region region = new Region(0x1000, count * blocks * bytes);
        List<Layer> all = new java.util.ArrayList<>();
        for (int layer = 0; layer < count; layer++) {
            var spec = new LayerSpec(
                    0x1000 + layer * blocks * bytes, blocks * bytes, (int) blocks, new Segments(bytes, 0, 1), OptionalLong.empty());
            all.add(new Layer(String.valueOf(layer), 0, RegisteredLayer.of(spec)));
        }
        return KvLayout.of(List.of(region), all);
    }
}
