/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.RegisteredLayer;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** How an engine may lay out blocks of a size. Static and without state. */
final class DeviceLayouts {
    /** Layers of Qwen3-4B, the model of the default block. */
    static final int LAYERS = 36;

    private static final int K_AND_V = 2;
    /** Any address but 0. */
    private static final long BASE = 4_096;

    private DeviceLayouts() {}

    /** The layouts of blocks of this size, by name; each in one region with the bytes of all blocks. */
    static Map<String, KvLayout> of(Shape shape) {
        Map<String, KvLayout> all = new LinkedHashMap<>();
        try {
            all.put("a block is one segment", KvLayout.opaque(shape.blocks(), shape.blockBytes()));
            if (shape.blockBytes() % (LAYERS * K_AND_V) == 0) {
                all.put(LAYERS + " layers in each block", inBlocks(shape));
                all.put(LAYERS + " layers apart, K and V apart", apart(shape));
            }
        } catch (LayoutFault e) {
            throw new IllegalStateException("the layouts of this class are valid", e);
        }
        return all;
    }

    /** A block is one run of bytes: layer after layer, K before V. */
    private static KvLayout inBlocks(Shape shape) throws LayoutFault {
        long segment = segmentBytes(shape);
        List<Layer> layers = new ArrayList<>();
        for (int layer = 0; layer < LAYERS; layer++) {
            long from = (long) layer * K_AND_V * segment;
            LayerSpec spec = new LayerSpec(BASE + from, shape.bytes() - from, shape.blocks(), new Segments(segment, segment, K_AND_V),
                    OptionalLong.of(shape.blockBytes()));
            layers.add(new Layer(Integer.toString(layer), 0, RegisteredLayer.of(spec)));
        }
        return KvLayout.of(List.of(new Region(BASE, shape.bytes())), layers);
    }

    /** As engines allocate it: a tensor per layer, in it K of all blocks, then V of all blocks. */
    private static KvLayout apart(Shape shape) throws LayoutFault {
        long segment = segmentBytes(shape);
        long layerBytes = K_AND_V * segment * shape.blocks();
        List<Layer> layers = new ArrayList<>();
        for (int layer = 0; layer < LAYERS; layer++) {
            LayerSpec spec = new LayerSpec(BASE + layer * layerBytes, layerBytes, shape.blocks(),
                    new Segments(segment, segment * shape.blocks(), K_AND_V), OptionalLong.empty());
            layers.add(new Layer(Integer.toString(layer), 0, RegisteredLayer.of(spec)));
        }
        return KvLayout.of(List.of(new Region(BASE, shape.bytes())), layers);
    }

    private static long segmentBytes(Shape shape) {
        return shape.blockBytes() / (LAYERS * K_AND_V);
    }
}
