/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import java.util.OptionalLong;

/**
 * An engine's description of the memory of one layer, not yet checked. Addresses, sizes and strides are unsigned 64-bit numbers.
 *
 * @param base address of segment 0 of block 0
 * @param size bytes from the base that belong to the layer
 * @param blocks number of blocks
 * @param segment bytes and places of the segments of a block
 * @param blockStride bytes from a block to the next; empty when blocks (contiguous) or segments (split) follow each other without a gap
 */
public record LayerSpec(long base, long size, int blocks, Segments segment, OptionalLong blockStride) {
    /**
     * The segments of a block in one layer.
     *
     * @param bytes size of one
     * @param stride bytes from one to the next; without meaning when there is one
     * @param count how many
     */
    public record Segments(long bytes, long stride, int count) {}
}
