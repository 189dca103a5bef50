/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault.Reason;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layers against their regions, against each other and against what was agreed; the geometries of known models. */
class KvLayoutTest {
    private static final Region REGION = new Region(0x1000, 10_000);

    /** 4 blocks of 100 bytes. */
    private static Layer layer(String name, int region, long base) throws LayoutFault {
        return layer(name, region, base, 4, 100);
    }

    private static Layer layer(String name, int region, long base, int blocks, long stride) throws LayoutFault {
        long size = (blocks - 1) * stride + 100;
        var spec = new LayerSpec(base, size, blocks, new Segments(100, 0, 1), OptionalLong.of(stride));
        return new Layer(name, region, RegisteredLayer.of(spec));
    }

    @ParameterizedTest
    @CsvSource({
        "Qwen3-4B and 8B,        36, 8, 128, 32768, 2359296, 299630592",
        "Qwen3-4B a rank of two, 36, 4, 128, 16384, 1179648, 149815296",
        "Llama-3.1-8B,           32, 8, 128, 32768, 2097152, 266338304",
        "Qwen2.5-0.5B,           24, 2,  64,  4096,  196608,  24969216",
    })
    void knownModelsHaveTheirNumbers(String model, int layers, int heads, int dim, long segment, long block, long blocks127) throws LayoutFault {
        FusedGeometry geometry = new FusedGeometry(layers, heads, dim, 16, 2);

        assertEquals(segment, geometry.segmentBytes(), model);
        assertEquals(block, geometry.blockBytes(), model);
        KvLayout layout = geometry.layout(0x7f00_0000_0000L, 127);
        assertEquals(block, layout.blockBytes(), model);
        assertEquals(blocks127, layout.regions().getFirst().bytes(), model);
        // Element offset = block * layers * 2 * L + layer * 2 * L + segment * L, in bytes.
        RegisteredLayer last = layout.layers().getLast().memory();
        assertEquals(0x7f00_0000_0000L + blocks127 - segment, last.address(126, 1), model);
        assertEquals(geometry.offset(126, layers - 1, 1), blocks127 - segment, model);
        assertTrue(last.contiguous(), model);
    }

    @Test
    void layersStandInTheOrderOfTheirNumbers() throws LayoutFault {
        List<Layer> layers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            layers.add(layer("model.layers." + i + ".attn", 0, 0x1000 + i * 400L));
        }
        Collections.shuffle(layers, new Random(1));

        KvLayout layout = KvLayout.of(List.of(REGION), layers);

        List<String> expected = IntStream.range(0, 12).mapToObj(i -> "model.layers." + i + ".attn").toList();
        assertEquals(expected, layout.layers().stream().map(Layer::name).toList());
    }

    @Test
    void namesHaveOneOrder() {
        List<String> sorted = List.of("", "2", "10", "18446744073709551617", "a", "a2", "a2b", "a02b", "a10", "a10b", "b");
        List<String> shuffled = new ArrayList<>(sorted);
        Collections.shuffle(shuffled, new Random(3));
        shuffled.sort(LayerNames.ORDER);

        assertEquals(List.of("", "2", "10", "18446744073709551617", "a", "a2", "a02b", "a2b", "a10", "a10b", "b"), shuffled);
    }

    @Test
    void noLayersAreRefused() {
        refused(Reason.NO_LAYERS, "1 layer or more", List.of());
    }

    @Test
    void namesMustBeNamesAndDiffer() throws LayoutFault {
        refused(Reason.NAME_REPEATED, "the name 1", List.of(layer("1", 0, 0x1000), layer("1", 0, 0x1200)));
        refused(Reason.NAME_INVALID, "not 0", List.of(layer("", 0, 0x1000)));
        refused(Reason.NAME_INVALID, "control", List.of(layer("a\nb", 0, 0x1000)));
        refused(Reason.NAME_INVALID, "not 257", List.of(layer("n".repeat(257), 0, 0x1000)));
    }

    @Test
    void layersLieInTheirRegions() throws LayoutFault {
        refused(Reason.REGION_UNKNOWN, "region 1 of 1", List.of(layer("0", 1, 0x1000)));
        refused(Reason.REGION_UNKNOWN, "region -1 of 1", List.of(layer("0", -1, 0x1000)));
        refused(Reason.OUTSIDE_REGION, "from 4095 to 4495", List.of(layer("0", 0, 0xfff)));
        // The region ends at 4,096 + 10,000 = 14,096.
        refused(Reason.OUTSIDE_REGION, "from 13697 to 14097", List.of(layer("0", 0, 13_697)));
        assertDoesNotThrow(() -> KvLayout.of(List.of(REGION), List.of(layer("0", 0, 13_696))));
    }

    @Test
    void layersHaveEquallyManyBlocks() throws LayoutFault {
        refused(Reason.BLOCKS_DIFFER, "layer 1 has 5 blocks, layer 0 has 4",
                List.of(layer("0", 0, 0x1000), layer("1", 0, 0x1000 + 400, 5, 100)));
    }

    @Test
    void layersDoNotShareBytes() throws LayoutFault {
        refused(Reason.LAYERS_OVERLAP, "layers 0 (from 4096) and 1 (from 4495)", List.of(layer("0", 0, 4_096), layer("1", 0, 4_495)));
        // Within each other, 100 of every 200 bytes each; one byte further back they share one.
        assertDoesNotThrow(() -> KvLayout.of(List.of(REGION), List.of(layer("0", 0, 4_096, 4, 200), layer("1", 0, 4_196, 4, 200))));
        refused(Reason.LAYERS_OVERLAP, "share bytes", List.of(layer("0", 0, 4_096, 4, 200), layer("1", 0, 4_195, 4, 200)));
        refused(Reason.LAYERS_OVERLAP, "share bytes", List.of(layer("0", 0, 4_195, 4, 200), layer("1", 0, 4_096, 4, 200)));
        refused(Reason.LAYERS_OVERLAP, "strides of 200 and 400", List.of(layer("0", 0, 4_096, 4, 200), layer("1", 0, 4_196, 4, 400)));
        // The same addresses in two regions are two places.
        Region other = new Region(0x1000, 10_000);
        assertDoesNotThrow(() -> KvLayout.of(List.of(REGION, other), List.of(layer("0", 0, 4_096), layer("1", 1, 4_096))));
    }

    @Test
    void piecesAreBounded() throws LayoutFault {
        var spec = new LayerSpec(0x1000, 1L << 40, 4, new Segments(8, 4_096, 4_097), OptionalLong.empty());
        List<Layer> layers = List.of(new Layer("0", 0, RegisteredLayer.of(spec)));
        LayoutFault fault = assertThrows(LayoutFault.class, () -> KvLayout.of(List.of(new Region(0x1000, 1L << 40)), layers));
        assertEquals(Reason.TOO_MANY_PIECES, fault.reason());
        assertTrue(String.valueOf(fault.getMessage()).contains("4097 pieces, at most 4096"), fault::getMessage);
    }

    @Test
    void layersAreThoseThatWereAgreed() throws LayoutFault {
        KvLayout layout = new FusedGeometry(4, 2, 8, 16, 2).layout(0x1000, 8);
        Layout agreed = new Layout("kv", LayoutKind.ATTENTION, 4, 16, 512, 2, "bf16", false);
        layout.checkAgainst(List.of(agreed));
        layout.checkAgainst(List.of(new Layout("a", LayoutKind.ATTENTION, 1, 16, 512, 2, "bf16", false),
                new Layout("b", LayoutKind.ATTENTION, 3, 16, 512, 2, "bf16", false)));
        layout.checkAgainst(List.of(new Layout("kv", LayoutKind.ATTENTION, 1, 16, 4_096, 1, "u8", false)));
        KvLayout.opaque(8, 4_096).checkAgainst(List.of(new Layout("kv", LayoutKind.ATTENTION, 1, 16, 4_096, 1, "u8", false)));

        differs(layout, "4 layers, agreed are 3", new Layout("kv", LayoutKind.ATTENTION, 3, 16, 512, 2, "bf16", false));
        differs(layout, "agreed for kv are 1 of 1024", new Layout("kv", LayoutKind.ATTENTION, 4, 16, 1_024, 1, "bf16", false));
        differs(layout, "2 segments of 512 bytes", new Layout("kv", LayoutKind.ATTENTION, 4, 16, 256, 2, "bf16", false));
        differs(layout, "4096 bytes, agreed are 4095", new Layout("kv", LayoutKind.ATTENTION, 1, 16, 4_095, 1, "u8", false));
    }

    private static void differs(KvLayout layout, String said, Layout agreed) {
        LayoutFault fault = assertThrows(LayoutFault.class, () -> layout.checkAgainst(List.of(agreed)));
        assertEquals(Reason.GEOMETRY_MISMATCH, fault.reason());
        assertTrue(String.valueOf(fault.getMessage()).contains(said), fault::getMessage);
    }

    private static void refused(Reason reason, String said, List<Layer> layers) {
        LayoutFault fault = assertThrows(LayoutFault.class, () -> KvLayout.of(List.of(REGION), layers));
        assertEquals(reason, fault.reason());
        assertTrue(String.valueOf(fault.getMessage()).contains(said), fault::getMessage);
    }
}
