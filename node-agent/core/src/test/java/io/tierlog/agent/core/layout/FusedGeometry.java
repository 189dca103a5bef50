/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The KV of an attention model by its numbers, in one buffer with the block outermost (page-first): within a block layer after layer, K before V.
 * Immutable. Two models may have the same numbers (Qwen3-4B and 8B have): geometry alone does not identify a model.
 *
 * @param layers number of layers
 * @param kvHeads heads of K and of V
 * @param headDim elements of a head
 * @param blockTokens tokens in a block
 * @param elementBytes bytes of an element, 2 for bf16
 */
public record FusedGeometry(int layers, int kvHeads, int headDim, int blockTokens, int elementBytes) {
    private static final int K_AND_V = 2;

    public FusedGeometry {
        if (layers < 1 || kvHeads < 1 || headDim < 1 || blockTokens < 1 || elementBytes < 1) {
            throw new IllegalArgumentException("every number of a geometry is 1 or more: layers " + layers + ", kvHeads " + kvHeads
                    + ", headDim " + headDim + ", blockTokens " + blockTokens + ", elementBytes " + elementBytes);
        }
    }

    /** Bytes of K or of V of one layer of one block. */
    public long segmentBytes() {
        return (long) blockTokens * kvHeads * headDim * elementBytes;
    }

    /** Bytes of K and V of one layer of one block. */
    public long layerBytes() {
        return K_AND_V * segmentBytes();
    }

    /** Bytes of a block. */
    public long blockBytes() {
        return layers * layerBytes();
    }

    /** Bytes from the beginning of the buffer to a segment (0 for K, 1 for V). */
    public long offset(int block, int layer, int segment) {
        return block * blockBytes() + layer * layerBytes() + segment * segmentBytes();
    }

    /**
     * The layers in a buffer of {@code blocks} blocks at {@code base}, named by their numbers.
     *
     * @throws LayoutFault BASE_ZERO, BLOCKS_ZERO or OVERFLOW
     */
    public KvLayout layout(long base, int blocks) throws LayoutFault {
        long bytes = Math.multiplyExact(blocks, blockBytes());
        List<Layer> all = new ArrayList<>(layers);
        for (int layer = 0; layer < layers; layer++) {
            long from = offset(0, layer, 0);
            var segment = new LayerSpec.Segments(segmentBytes(), segmentBytes(), K_AND_V);
            var spec = new LayerSpec(base + from, bytes - from, blocks, segment, OptionalLong.of(blockBytes()));
            all.add(new Layer(String.valueOf(layer), 0, RegisteredLayer.of(spec)));
        }
        return KvLayout.of(List.of(new Region(base, bytes)), all);
    }
}
