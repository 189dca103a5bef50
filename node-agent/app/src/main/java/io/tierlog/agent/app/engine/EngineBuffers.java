/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.layout.KvLayout.Layer;
import io.tierlog.agent.core.layout.KvLayout.Region;
import io.tierlog.agent.core.layout.LayerSpec;
import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.LayoutFault.Reason;
import io.tierlog.agent.core.layout.RegisteredLayer;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.HostImageForm;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The memory an engine registers: how it is laid out, checked against itself and against what is agreed, and how each region is opened.
 * Immutable.
 *
 * @param layouts where a block lies: first what a save reads; then, of replicated layers, what each further rank holds alike
 * @param handles one for each region
 */
record EngineBuffers(List<KvLayout> layouts, List<MemoryHandle> handles) {
    private static final int MOST_REGIONS = 1_024;
    private static final int MOST_PATH_BYTES = 4_096;

    /** True when the engine says nothing of regions and layers: one file, one opaque segment per block. */
    static boolean opaque(RegisterBuffersRequest request) {
        return request.getRegionsCount() == 0 && request.getLayersCount() == 0;
    }

    /**
     * Reads the call, whose plain arguments have been checked.
     *
     * @throws LayoutFault with the first thing that cannot be
     */
    static EngineBuffers of(RegisterBuffersRequest request, AgreedLayouts agreed) throws LayoutFault {
        if (request.getHostImage() != HostImageForm.HOST_IMAGE_FORM_UNSPECIFIED
                && request.getHostImage() != HostImageForm.HOST_IMAGE_FORM_PAGE_FIRST) {
            throw new LayoutFault(Reason.HOST_IMAGE_UNSUPPORTED, "host_image " + request.getHostImageValue()
                    + ": the host pages of this agent are page-first, so that disks and stores read a block as one run");
        }
        if (opaque(request)) {
            if (agreed.replicated()) {
                throw new LayoutFault(Reason.RANKS_DIFFER, "every one of the " + agreed.ranks() + " ranks holds the layers: name them for each");
            }
            KvLayout layout = KvLayout.opaque(request.getPages(), request.getBlockBytes());
            return new EngineBuffers(List.of(layout), List.of(new MemoryHandle.SharedFile(request.getSharedMemoryPath())));
        }
        List<Region> regions = new ArrayList<>();
        List<MemoryHandle> handles = new ArrayList<>();
        if (request.getRegionsCount() > MOST_REGIONS) {
            throw new LayoutFault(Reason.TOO_MANY_PIECES, request.getRegionsCount() + " regions, at most " + MOST_REGIONS + " are taken");
        }
        for (MemoryRegion region : request.getRegionsList()) {
            regions.add(region(regions.size(), region));
            handles.add(handle(handles.size(), region));
        }
        List<KvLayout> layouts = layouts(request, regions, agreed);
        for (KvLayout layout : layouts) {
            layout.checkAgainst(agreed.layouts());
            if (layout.blocks() != request.getPages()) {
                throw new LayoutFault(Reason.BLOCKS_DIFFER, "the layers have " + layout.blocks() + " blocks, the pool " + request.getPages()
                        + " pages");
            }
        }
        return new EngineBuffers(layouts, handles);
    }

    private static List<KvLayout> layouts(RegisterBuffersRequest request, List<Region> regions, AgreedLayouts agreed) throws LayoutFault {
        SortedMap<Integer, List<Layer>> byRank = new TreeMap<>();
        for (KvLayer layer : request.getLayersList()) {
            if (layer.getRank() < 0 || layer.getRank() >= agreed.ranks()) {
                throw new LayoutFault(Reason.RANKS_DIFFER, "layer " + layer.getName() + " is of rank " + layer.getRank() + ", this agent has "
                        + agreed.ranks() + ", the first is 0");
            }
            byRank.computeIfAbsent(layer.getRank(), any -> new ArrayList<>()).add(layer(layer, regions));
        }
        if (agreed.ranks() == 1) {
            return List.of(KvLayout.of(regions, byRank.getOrDefault(0, List.of())));
        }
        if (byRank.size() < agreed.ranks()) {
            throw new LayoutFault(Reason.RANKS_DIFFER, "layers of " + byRank.size() + " ranks, this agent has " + agreed.ranks());
        }
        // All together, so that no rank lies in the memory of another; the ranks before the names, so that rank 0 comes first.
        List<Layer> all = new ArrayList<>();
        byRank.forEach((rank, layers) ->
                layers.forEach(layer -> all.add(new Layer("rank" + rank + "." + layer.name(), layer.region(), layer.memory()))));
        KvLayout whole = KvLayout.of(regions, all);
        if (!agreed.replicated()) {
            return List.of(whole);
        }
        List<KvLayout> layouts = new ArrayList<>();
        for (List<Layer> layers : byRank.values()) {
            layouts.add(KvLayout.of(regions, layers));
        }
        return layouts;
    }

    private static Region region(int number, MemoryRegion region) throws LayoutFault {
        if (region.getBase() == 0) {
            throw new LayoutFault(Reason.BASE_ZERO, "region " + number + " has the base address 0");
        }
        if (region.getBytes() == 0) {
            throw new LayoutFault(Reason.SIZE_ZERO, "region " + number + " has 0 bytes");
        }
        boolean wraps = Long.compareUnsigned(region.getBase() + region.getBytes() - 1, region.getBase()) < 0;
        if (region.getBytes() < 0 || wraps) {
            throw new LayoutFault(Reason.OVERFLOW, "region " + number + " of " + Long.toUnsignedString(region.getBytes()) + " bytes at "
                    + Long.toUnsignedString(region.getBase()) + " ends behind 2^64, or has 2^63 bytes or more");
        }
        return new Region(region.getBase(), region.getBytes());
    }

    private static MemoryHandle handle(int number, MemoryRegion region) throws LayoutFault {
        return switch (region.getMemoryCase()) {
            case SHARED_MEMORY_PATH -> {
                String path = region.getSharedMemoryPath();
                if (path.isEmpty() || path.length() > MOST_PATH_BYTES) {
                    throw new LayoutFault(Reason.HANDLE_INVALID, "region " + number + ": shared_memory_path has 1 to " + MOST_PATH_BYTES
                            + " characters, not " + path.length());
                }
                yield new MemoryHandle.SharedFile(path);
            }
            case IPC_HANDLE -> {
                if (region.getIpcHandle().size() != MemoryHandle.CudaIpc.BYTES) {
                    throw new LayoutFault(Reason.HANDLE_INVALID, "region " + number + ": ipc_handle has " + MemoryHandle.CudaIpc.BYTES
                            + " bytes, not " + region.getIpcHandle().size());
                }
                yield new MemoryHandle.CudaIpc(Bytes.wrapUnshared(region.getIpcHandle().toByteArray()));
            }
            case MEMORY_NOT_SET -> throw new LayoutFault(Reason.HANDLE_INVALID, "region " + number
                    + " has neither shared_memory_path nor ipc_handle");
        };
    }

    private static Layer layer(KvLayer layer, List<Region> regions) throws LayoutFault {
        String name = "layer " + layer.getName() + ": ";
        if (layer.getRegion() < 0 || layer.getRegion() >= regions.size()) {
            throw new LayoutFault(Reason.REGION_UNKNOWN, name + "region " + layer.getRegion() + " of " + regions.size());
        }
        Region region = regions.get(layer.getRegion());
        if (Long.compareUnsigned(layer.getOffset(), region.bytes()) >= 0) {
            throw new LayoutFault(Reason.OUTSIDE_REGION, name + "offset " + Long.toUnsignedString(layer.getOffset()) + " in a region of "
                    + region.bytes() + " bytes");
        }
        Segments segments = new Segments(layer.getSegmentBytes(), layer.getSegmentStride(), layer.getSegments());
        OptionalLong stride = layer.hasBlockStride() ? OptionalLong.of(layer.getBlockStride()) : OptionalLong.empty();
        LayerSpec spec = new LayerSpec(region.base() + layer.getOffset(), layer.getSize(), layer.getBlocks(), segments, stride);
        try {
            return new Layer(layer.getName(), layer.getRegion(), RegisteredLayer.of(spec));
        } catch (LayoutFault e) {
            throw e.in(name);
        }
    }
}
