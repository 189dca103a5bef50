/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.RegisteredLayer;
import java.util.List;

/**
 * A layer of an engine in memory that a device has opened. Immutable.
 *
 * @param allocation what the device opened for the layer's region
 * @param regionBase the engine's own address of the first byte of that region
 * @param memory where the layer lies, by the engine's addresses
 */
public record DeviceLayer(Allocation allocation, long regionBase, RegisteredLayer memory) {
    /** All layers of a layout, in its order; {@code opened} has an allocation for each of its regions. */
    public static List<DeviceLayer> of(KvLayout layout, List<Allocation> opened) {
        return layout.layers().stream()
                .map(layer -> of(layout, opened, layer))
                .toList();
    }

    private static DeviceLayer of(KvLayout layout, List<Allocation> opened, Layer layer) {
        return new DeviceLayer(opened.get(layer.region()), layout.regions().get(layer.region()).base(), layer.memory());
    }

    /** Where a piece of a block begins. */
    public Place place(int block, int piece) {
        return allocation.at(memory.pieceAddress(block, piece) - regionBase);
    }
}
