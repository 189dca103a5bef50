/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault.Reason;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The formula, and every way in which an engine's description of a layer cannot hold. */
class RegisteredLayerTest {
    private static final long BASE = 0x1000;

    private static LayerSpec spec(long base, long size, int blocks, Segments segment) {
        return new LayerSpec(base, size, blocks, segment, OptionalLong.empty());
    }

    private static RegisteredLayer strided(long base, long size, int blocks, Segments segment, long stride) throws LayoutFault {
        return RegisteredLayer.of(new LayerSpec(base, size, blocks, segment, OptionalLong.of(stride)));
    }

    @Test
    void oneSegmentIsContiguous() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(BASE, 1 << 20, 100, new Segments(1_024, 0, 1)));

        assertEquals(BASE + 5_120, layer.address(5));
        assertEquals(1, layer.pieces());
        assertThrows(IndexOutOfBoundsException.class, () -> layer.address(100));
        assertThrows(IndexOutOfBoundsException.class, () -> layer.address(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> layer.address(0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> layer.pieceAddress(0, 1));
    }

    @Test
    void oneSegmentHasNoStride() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(BASE, 1 << 20, 100, new Segments(1_024, 7, 1)));

        assertTrue(layer.contiguous());
        assertEquals(1_024, layer.blockStride());
    }

    @Test
    void splitHasKAndVApart() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(BASE, 200 * 1_024, 100, new Segments(1_024, 100 * 1_024, 2)));

        assertFalse(layer.contiguous());
        assertEquals(BASE + 3_072, layer.address(3, 0));
        assertEquals(BASE + 103 * 1_024, layer.address(3, 1));
        assertEquals(2, layer.pieces());
        assertEquals(1_024, layer.pieceBytes());
        assertEquals(2_048, layer.blockBytes());
    }

    @Test
    void segmentsThatFollowEachOtherAreOneCopy() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(BASE, 200 * 1_024, 100, new Segments(1_024, 1_024, 2)));

        assertTrue(layer.contiguous());
        assertEquals(1, layer.pieces());
        assertEquals(2_048, layer.pieceBytes());
        assertEquals(BASE + 2_048, layer.address(1));
        assertEquals(BASE + 2_048 + 1_024, layer.address(1, 1));
    }

    @Test
    void blocksOfSplitSegmentsMayLieBetweenEachOther() throws LayoutFault {
        RegisteredLayer layer = strided(BASE, 1_600, 2, new Segments(100, 500, 2), 1_000);

        assertEquals(BASE, layer.address(0, 0));
        assertEquals(BASE + 500, layer.address(0, 1));
        assertEquals(BASE + 1_000, layer.address(1, 0));
        assertEquals(BASE + 1_500, layer.address(1, 1));
    }

    @Test
    void blocksMayHaveGaps() throws LayoutFault {
        RegisteredLayer layer = strided(0x10000, 8 * 16_384, 8, new Segments(8_192, 0, 1), 16_384);

        assertEquals(0x10000 + 49_152, layer.address(3));
        assertEquals(0x10000 + 114_688, layer.address(7));
    }

    /** Base, size, blocks, segment bytes, segment stride, segments, block stride or empty; then the message. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0x1000 | 204800 | 100 | 1024 | 512 | 2 | | SEGMENTS_OVERLAP | stride of 512 is less than the 1024",
        "0x1000 | 204800 | 100 | 1024 | 2048 | 2 | | BLOCKS_OVERLAP | blocks 2 apart",
        "0x1000 | 1048576 | 100 | 1024 | 0 | 1 | 512 | BLOCK_STRIDE_TOO_SMALL | 512 is less than the 1024",
        "0x1000 | 8192 | 8 | 1024 | 0 | 1 | 4096 | REGION_TOO_SMALL | take 29696 bytes, the layer has 8192",
        "0x1000 | 5120 | 10 | 1024 | 0 | 1 | | REGION_TOO_SMALL | take 10240 bytes, the layer has 5120",
        "0 | 1048576 | 100 | 1024 | 0 | 1 | | BASE_ZERO | base",
        "0x1000 | 0 | 100 | 1024 | 0 | 1 | | SIZE_ZERO | size",
        "0x1000 | 1048576 | 100 | 0 | 0 | 1 | | SEGMENT_BYTES_ZERO | 0 bytes",
        "0x1000 | 1048576 | 0 | 1024 | 0 | 1 | | BLOCKS_ZERO | 0 blocks",
        "0x1000 | 1048576 | -1 | 1024 | 0 | 1 | | BLOCKS_ZERO | -1 blocks",
        "0x1000 | 1048576 | 100 | 1024 | 0 | 0 | | SEGMENTS_ZERO | 0 segments",
        "0x1000 | 1048576 | 100 | 1024 | 0 | 2 | | SEGMENT_STRIDE_ZERO | 2 segments",
        // Contiguous blocks of 2,048 bytes, split ones of 1,024.
        "0x1000 | 204800 | 100 | 1024 | 1024 | 2 | 2047 | BLOCK_STRIDE_TOO_SMALL | 2047 is less than the 2048 bytes of a block",
        "0x1000 | 204800 | 100 | 1024 | 102400 | 2 | 1023 | BLOCK_STRIDE_TOO_SMALL | 1023 is less than the 1024 bytes of a segment",
        "0x1000 | 204800 | 100 | 1024 | 0 | 1 | 0 | BLOCK_STRIDE_TOO_SMALL | 0 is less",
        // 102,400 + 99 * 1,024 + 1,024 = 204,800: one byte less is too small.
        "0x1000 | 204799 | 100 | 1024 | 102400 | 2 | | REGION_TOO_SMALL | take 204800 bytes, the layer has 204799",
        // 500 - 1 * 450 = 50 < 100: K of block 1 begins within V of block 0.
        "0x1000 | 1600 | 2 | 100 | 500 | 2 | 450 | BLOCKS_OVERLAP | blocks 1 apart",
        // 950 - 1 * 1,000 = -50: V of block 0 runs into K of block 1.
        "0x1000 | 10000 | 3 | 100 | 950 | 2 | 1000 | BLOCKS_OVERLAP | blocks 1 apart",
        // Three segments: those two apart meet the block one apart: 2 * 500 - 1,000 = 0.
        "0x1000 | 10000 | 2 | 100 | 500 | 3 | 1000 | BLOCKS_OVERLAP | blocks 1 apart",
        // Base and size end at 2^64 + 1; then the last block does; then a block alone has 2^64 bytes.
        "0xfffffffffffffff0 | 17 | 1 | 1 | 0 | 1 | | OVERFLOW | behind 2^64",
        "0x1000 | 1048576 | 2147483647 | 1024 | 0 | 1 | 0x7fffffffffffffff | OVERFLOW | take",
        "0x1000 | 0x8000000000000000 | 1 | 0x4000000000000000 | 0x4000000000000000 | 4 | | OVERFLOW | take",
        "0x1000 | 0xffffffffffff0000 | 1 | 0x8000000000000000 | 0 | 1 | | OVERFLOW | take",
    })
    void whatCannotBeIsRefused(
            String base, String size, int blocks, String bytes, String stride, int segments, String blockStride, Reason reason, String said) {
        OptionalLong explicit = blockStride == null ? OptionalLong.empty() : OptionalLong.of(number(blockStride));
        var spec = new LayerSpec(number(base), number(size), blocks, new Segments(number(bytes), number(stride), segments), explicit);

        LayoutFault fault = assertThrows(LayoutFault.class, () -> RegisteredLayer.of(spec));

        assertEquals(reason, fault.reason());
        assertTrue(String.valueOf(fault.getMessage()).contains(said), fault::getMessage);
    }

    private static long number(String text) {
        return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseUnsignedLong(text);
    }

    @Test
    void theLastByteOfTheAddressSpaceMayBeUsed() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(0xffff_ffff_ffff_fc00L, 1_024, 1, new Segments(1_024, 0, 1)));

        assertEquals(0xffff_ffff_ffff_fc00L, layer.address(0));
    }

    @Test
    void aBlockMayHaveManySegments() throws LayoutFault {
        RegisteredLayer layer = RegisteredLayer.of(spec(BASE, 1_025L * 4_096, 4, new Segments(1_024, 4_096, 1_025)));

        assertEquals(BASE + 3 * 1_024 + 1_024 * 4_096, layer.address(3, 1_024));
    }

    @Test
    void aDiskWritesWholeSectors() throws LayoutFault {
        assertEquals(9_216, RegisteredLayer.padded(8_848, 512));
        assertEquals(12_288, RegisteredLayer.padded(8_848, 4_096));
        assertEquals(8_704, RegisteredLayer.padded(8_704, 512));
        assertThrows(IllegalArgumentException.class, () -> RegisteredLayer.padded(8_848, 500));
        assertThrows(IllegalArgumentException.class, () -> RegisteredLayer.padded(8_848, 0));

        RegisteredLayer split = RegisteredLayer.of(spec(BASE, 200_000, 10, new Segments(8_848, 88_480, 2)));
        assertEquals(18_432, split.diskBytes(512));
        RegisteredLayer whole = RegisteredLayer.of(spec(BASE, 200_000, 10, new Segments(8_848, 8_848, 2)));
        assertEquals(17_920, whole.diskBytes(512), "17,696 bytes in 35 sectors");
    }
}
