/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.layout.LayoutFault.Reason;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.HostImageForm;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two layers of K and V of 50 bytes in 8 blocks: layer 2 split in a file, layer 10 contiguous behind an IPC handle. */
class EngineBuffersTest {
    private static final List<Layout> AGREED = List.of(new Layout("kv", LayoutKind.ATTENTION, 2, 16, 50, 2, "u8", false));
    private static final AgreedLayouts ONE = new AgreedLayouts(AGREED, 1);
    private static final int PAGES = 8;
    private static final ByteString HANDLE = ByteString.copyFrom(new byte[64]);

    private static RegisterBuffersRequest.Builder good() {
        return RegisterBuffersRequest.newBuilder()
                .setPages(PAGES)
                .setBlockBytes(200)
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(1_000).setIpcHandle(HANDLE))
                .addRegions(MemoryRegion.newBuilder().setBase(0x9000).setBytes(2_000).setSharedMemoryPath("/dev/shm/kv"))
                .addLayers(KvLayer.newBuilder().setName("l.10").setRegion(0).setOffset(100).setSize(800).setBlocks(PAGES)
                        .setSegmentBytes(50).setSegmentStride(50).setSegments(2))
                .addLayers(KvLayer.newBuilder().setName("l.2").setRegion(1).setOffset(7).setSize(1_600).setBlocks(PAGES)
                        .setSegmentBytes(50).setSegmentStride(1_000).setSegments(2).setBlockStride(60));
    }

    @Test
    void whatIsRightIsTaken() throws LayoutFault {
        EngineBuffers buffers = EngineBuffers.of(good().setHostImage(HostImageForm.HOST_IMAGE_FORM_PAGE_FIRST).build(), ONE);

        assertEquals(List.of("l.2", "l.10"), buffers.layouts().getFirst().layers().stream().map(layer -> layer.name()).toList());
        assertEquals(0x9000 + 7 + 3 * 60 + 1_000, buffers.layouts().getFirst().layers().get(0).memory().address(3, 1));
        assertEquals(0x1000 + 100 + 3 * 100 + 50, buffers.layouts().getFirst().layers().get(1).memory().address(3, 1));
        assertEquals(200, buffers.layouts().getFirst().blockBytes());
        assertEquals(new MemoryHandle.SharedFile("/dev/shm/kv"), buffers.handles().get(1));
        assertTrue(buffers.handles().get(0) instanceof MemoryHandle.CudaIpc);
    }

    @Test
    void anEngineThatSaysNothingHasOneOpaqueSegment() throws LayoutFault {
        RegisterBuffersRequest request = RegisterBuffersRequest.newBuilder()
                .setSharedMemoryPath("/dev/shm/kv").setPages(PAGES).setBlockBytes(200).build();

        EngineBuffers buffers = EngineBuffers.of(request, ONE);

        assertTrue(EngineBuffers.opaque(request));
        assertEquals(1, buffers.layouts().getFirst().layers().size());
        assertEquals(200, buffers.layouts().getFirst().blockBytes());
        assertEquals(List.of(new MemoryHandle.SharedFile("/dev/shm/kv")), buffers.handles());
    }

    // --- ranks: each of 2 has one layer of 50 bytes in 8 blocks, rank 0 from 0x1000 and rank 1 from 0x9000 on

    private static AgreedLayouts ranks(LayoutKind kind) {
        int segments = kind == LayoutKind.MLA ? 1 : 2;
        return new AgreedLayouts(List.of(new Layout("kv", kind, segments, 16, 50, 1, "u8", kind == LayoutKind.MLA)), 2);
    }

    private static RegisterBuffersRequest.Builder onTwoRanks(long blockBytes) {
        return RegisterBuffersRequest.newBuilder()
                .setPages(PAGES)
                .setBlockBytes(blockBytes)
                .addRegions(MemoryRegion.newBuilder().setBase(0x1000).setBytes(400).setIpcHandle(HANDLE))
                .addRegions(MemoryRegion.newBuilder().setBase(0x9000).setBytes(800).setIpcHandle(HANDLE))
                .addLayers(ofRank(1).setRegion(1).setOffset(400))
                .addLayers(ofRank(0).setRegion(0));
    }

    private static KvLayer.Builder ofRank(int rank) {
        return KvLayer.newBuilder().setName("l").setRank(rank).setSize(400).setBlocks(PAGES).setSegmentBytes(50).setSegments(1);
    }

    @Test
    void replicatedLayersLieOnEveryRank() throws LayoutFault {
        EngineBuffers buffers = EngineBuffers.of(onTwoRanks(50).build(), ranks(LayoutKind.MLA));

        assertEquals(List.of(0x1000L, 0x9000L + 400), buffers.layouts().stream().map(one -> one.layers().getFirst().memory().base()).toList());
        assertEquals(50, buffers.layouts().getFirst().blockBytes());
    }

    @Test
    void ofSplitLayersABlockIsWhatAllRanksHoldTheFirstFirst() throws LayoutFault {
        EngineBuffers buffers = EngineBuffers.of(onTwoRanks(100).build(), ranks(LayoutKind.ATTENTION));

        assertEquals(1, buffers.layouts().size());
        assertEquals(100, buffers.layouts().getFirst().blockBytes());
        assertEquals(
                List.of(0x1000L, 0x9000L + 400),
                buffers.layouts().getFirst().layers().stream().map(layer -> layer.memory().base()).toList());
    }

    static Stream<Arguments> ranksThatCannotBeAreRefused() {
        return Stream.of(
                bad(onTwoRanks(50), Reason.RANKS_DIFFER, "layer l is of rank 2, this agent has 2", r -> r.getLayersBuilder(0).setRank(2)),
                bad(onTwoRanks(50), Reason.RANKS_DIFFER, "rank -1", r -> r.getLayersBuilder(0).setRank(-1)),
                bad(onTwoRanks(50), Reason.RANKS_DIFFER, "layers of 1 ranks, this agent has 2", r -> r.removeLayers(0)),
                bad(onTwoRanks(50), Reason.RANKS_DIFFER, "name them for each",
                        r -> r.clearLayers().clearRegions().setSharedMemoryPath("/dev/shm/kv")),
                bad(onTwoRanks(50), Reason.LAYERS_OVERLAP, "rank0.l", r -> r.getLayersBuilder(0).setRegion(0).setOffset(0)),
                bad(onTwoRanks(50), Reason.GEOMETRY_MISMATCH, "a block has 100 bytes, agreed are 50",
                        r -> r.addLayers(ofRank(1).setRegion(1).setOffset(0).setName("m"))),
                bad(onTwoRanks(50), Reason.BLOCKS_DIFFER, "7", r -> r.getLayersBuilder(0).setBlocks(7)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void ranksThatCannotBeAreRefused(Reason reason, String said, RegisterBuffersRequest request) {
        assertRefused(reason, said, request, ranks(LayoutKind.MLA));
    }

    static Stream<Arguments> whatCannotBeIsRefused() {
        return Stream.of(
                bad(Reason.BASE_ZERO, "region 0", r -> r.getRegionsBuilder(0).setBase(0)),
                bad(Reason.SIZE_ZERO, "region 1", r -> r.getRegionsBuilder(1).setBytes(0)),
                bad(Reason.OVERFLOW, "region 0", r -> r.getRegionsBuilder(0).setBase(-900)),
                bad(Reason.OVERFLOW, "region 0", r -> r.getRegionsBuilder(0).setBytes(-1)),
                bad(Reason.HANDLE_INVALID, "neither", r -> r.getRegionsBuilder(0).clearMemory()),
                bad(Reason.HANDLE_INVALID, "64 bytes, not 63", r -> r.getRegionsBuilder(0).setIpcHandle(HANDLE.substring(1))),
                bad(Reason.HANDLE_INVALID, "not 0", r -> r.getRegionsBuilder(1).setSharedMemoryPath("")),
                bad(Reason.HANDLE_INVALID, "not 4097", r -> r.getRegionsBuilder(1).setSharedMemoryPath("/".repeat(4_097))),
                bad(Reason.REGION_UNKNOWN, "layer l.2: region 2 of 2", r -> r.getLayersBuilder(1).setRegion(2)),
                bad(Reason.REGION_UNKNOWN, "region -1 of 2", r -> r.getLayersBuilder(1).setRegion(-1)),
                bad(Reason.REGION_UNKNOWN, "region 0 of 0", r -> r.clearRegions()),
                bad(Reason.OUTSIDE_REGION, "offset 1000 in a region of 1000", r -> r.getLayersBuilder(0).setOffset(1_000)),
                bad(Reason.OUTSIDE_REGION, "offset 18446744073709551615", r -> r.getLayersBuilder(0).setOffset(-1)),
                bad(Reason.OUTSIDE_REGION, "layer l.10 lies from 4297 to 5097", r -> r.getLayersBuilder(0).setOffset(201)),
                bad(Reason.SIZE_ZERO, "layer l.10", r -> r.getLayersBuilder(0).setSize(0)),
                bad(Reason.BLOCKS_ZERO, "layer l.10", r -> r.getLayersBuilder(0).setBlocks(0)),
                bad(Reason.SEGMENT_BYTES_ZERO, "layer l.10", r -> r.getLayersBuilder(0).setSegmentBytes(0)),
                bad(Reason.SEGMENTS_ZERO, "layer l.10", r -> r.getLayersBuilder(0).setSegments(0)),
                bad(Reason.SEGMENT_STRIDE_ZERO, "layer l.10", r -> r.getLayersBuilder(0).setSegmentStride(0)),
                bad(Reason.SEGMENTS_OVERLAP, "layer l.10", r -> r.getLayersBuilder(0).setSegmentStride(49)),
                bad(Reason.BLOCKS_OVERLAP, "layer l.2", r -> r.getLayersBuilder(1).setSegmentStride(110)),
                bad(Reason.BLOCK_STRIDE_TOO_SMALL, "layer l.2", r -> r.getLayersBuilder(1).setBlockStride(0)),
                bad(Reason.REGION_TOO_SMALL, "layer l.10", r -> r.getLayersBuilder(0).setSize(799)),
                bad(Reason.NAME_REPEATED, "l.2", r -> r.getLayersBuilder(0).setName("l.2")),
                bad(Reason.NAME_INVALID, "not 0", r -> r.getLayersBuilder(0).setName("")),
                bad(Reason.BLOCKS_DIFFER, "layer l.10 has 7", r -> r.getLayersBuilder(0).setBlocks(7)),
                bad(Reason.BLOCKS_DIFFER, "8 blocks, the pool 7", r -> r.setPages(7)),
                bad(Reason.NO_LAYERS, "1 layer", r -> r.clearLayers()),
                bad(Reason.GEOMETRY_MISMATCH, "1 layers, agreed are 2", r -> r.removeLayers(0)),
                bad(Reason.GEOMETRY_MISMATCH, "layer l.10 has 2 segments of 40",
                        r -> r.getLayersBuilder(0).setSegmentBytes(40).setSegmentStride(40)),
                bad(Reason.LAYERS_OVERLAP, "share bytes", r -> r.addLayers(r.getLayersBuilder(0).clone().setName("l.11").setOffset(150))),
                bad(Reason.HOST_IMAGE_UNSUPPORTED, "host_image 2", r -> r.setHostImage(HostImageForm.HOST_IMAGE_FORM_LAYER_FIRST)),
                bad(Reason.HOST_IMAGE_UNSUPPORTED, "host_image 9", r -> r.setHostImageValue(9)));
    }

    private static Arguments bad(Reason reason, String said, Consumer<RegisterBuffersRequest.Builder> change) {
        return bad(good(), reason, said, change);
    }

    private static Arguments bad(
            RegisterBuffersRequest.Builder request, Reason reason, String said, Consumer<RegisterBuffersRequest.Builder> change) {
        change.accept(request);
        return Arguments.of(reason, said, request.build());
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource
    void whatCannotBeIsRefused(Reason reason, String said, RegisterBuffersRequest request) {
        assertRefused(reason, said, request, ONE);
    }

    private static void assertRefused(Reason reason, String said, RegisterBuffersRequest request, AgreedLayouts agreed) {
        LayoutFault fault = assertThrows(LayoutFault.class, () -> EngineBuffers.of(request, agreed));

        assertEquals(reason, fault.reason(), fault::getMessage);
        assertTrue(String.valueOf(fault.getMessage()).startsWith(reason + ": "), fault::getMessage);
        assertTrue(String.valueOf(fault.getMessage()).contains(said), fault::getMessage);
    }
}
