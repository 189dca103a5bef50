/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

import io.tierlog.agent.core.layout.LayerSpec.Segments;
import io.tierlog.agent.core.layout.LayoutFault.Reason;
import java.math.BigInteger;

/**
 * The memory of one layer, checked: {@code address(block, segment) = base + block * blockStride + segment * segmentStride}. Immutable.
 *
 * <pre>
 *   contiguous (segments follow each other, or there is one):  |K V|   |K V|   |K V|       one piece per block
 *   split:                                                     K K K .... V V V            one piece per segment
 * </pre>
 *
 * <p>Checked with whole numbers of any size, so that no value of a caller can wrap around; afterwards every address is below 2^64.
 */
public final class RegisteredLayer {
    private static final BigInteger END_OF_ADDRESSES = BigInteger.ONE.shiftLeft(64);

    private final LayerSpec spec;
    private final boolean contiguous;
    private final long blockStride;
    private final long blockBytes;

    private RegisteredLayer(LayerSpec spec, boolean contiguous, long blockStride, long blockBytes) {
        this.spec = spec;
        this.contiguous = contiguous;
        this.blockStride = blockStride;
        this.blockBytes = blockBytes;
    }

    /**
     * Checks an engine's description of a layer.
     *
     * @throws LayoutFault with the first thing that is wrong
     */
    public static RegisteredLayer of(LayerSpec spec) throws LayoutFault {
        Segments segment = spec.segment();
        refuse(spec.base() == 0, Reason.BASE_ZERO, "the base address is 0");
        refuse(spec.size() == 0, Reason.SIZE_ZERO, "the size is 0 bytes");
        refuse(segment.bytes() == 0, Reason.SEGMENT_BYTES_ZERO, "a segment has 0 bytes");
        refuse(spec.blocks() < 1, Reason.BLOCKS_ZERO, spec.blocks() + " blocks, 1 or more are needed");
        refuse(segment.count() < 1, Reason.SEGMENTS_ZERO, segment.count() + " segments, 1 or more are needed");
        BigInteger end = big(spec.base()).add(big(spec.size()));
        refuse(end.compareTo(END_OF_ADDRESSES) > 0, Reason.OVERFLOW,
                "base " + text(spec.base()) + " and size " + text(spec.size()) + " end behind 2^64");
        boolean contiguous = segment.count() == 1 || segment.stride() == segment.bytes();
        if (!contiguous) {
            checkSegments(segment);
        }
        BigInteger block = big(segment.bytes()).multiply(BigInteger.valueOf(segment.count()));
        BigInteger unit = contiguous ? block : big(segment.bytes());
        BigInteger stride = spec.blockStride().isPresent() ? big(spec.blockStride().getAsLong()) : unit;
        refuse(stride.compareTo(unit) < 0, Reason.BLOCK_STRIDE_TOO_SMALL, "a block stride of " + stride + " is less than the " + unit
                + " bytes of " + (contiguous ? "a block" : "a segment"));
        checkSize(spec, contiguous, unit, stride);
        if (!contiguous) {
            checkBlocks(spec, stride);
        }
        refuse(block.bitLength() > 63, Reason.OVERFLOW, "a block has " + block + " bytes");
        return new RegisteredLayer(spec, contiguous, stride.longValueExact(), block.longValueExact());
    }

    private static void checkSegments(Segments segment) throws LayoutFault {
        refuse(segment.stride() == 0, Reason.SEGMENT_STRIDE_ZERO, segment.count() + " segments with a segment stride of 0");
        refuse(Long.compareUnsigned(segment.stride(), segment.bytes()) < 0, Reason.SEGMENTS_OVERLAP,
                "a segment stride of " + text(segment.stride()) + " is less than the " + text(segment.bytes()) + " bytes of a segment");
    }

    private static void checkSize(LayerSpec spec, boolean contiguous, BigInteger unit, BigInteger stride) throws LayoutFault {
        BigInteger between = contiguous
                ? BigInteger.ZERO
                : big(spec.segment().stride()).multiply(BigInteger.valueOf(spec.segment().count() - 1L));
        BigInteger used = between.add(stride.multiply(BigInteger.valueOf(spec.blocks() - 1L))).add(unit);
        refuse(used.compareTo(END_OF_ADDRESSES) > 0 || stride.bitLength() > 63 || unit.bitLength() > 63, Reason.OVERFLOW,
                spec.blocks() + " blocks with a stride of " + stride + " take " + used + " bytes, more than there are addresses");
        refuse(used.compareTo(big(spec.size())) > 0, Reason.REGION_TOO_SMALL, spec.blocks() + " blocks with a stride of " + stride
                + " take " + used + " bytes, the layer has " + text(spec.size()));
    }

    /** Segments of blocks d apart, where d is where the stride of some segments and that of the blocks come closest. */
    private static void checkBlocks(LayerSpec spec, BigInteger stride) throws LayoutFault {
        BigInteger bytes = big(spec.segment().bytes());
        for (int apart = 1; apart < spec.segment().count(); apart++) {
            BigInteger distance = big(spec.segment().stride()).multiply(BigInteger.valueOf(apart));
            BigInteger floor = distance.divide(stride);
            if (floor.compareTo(BigInteger.valueOf(spec.blocks())) >= 0) {
                return; // Blocks that far apart do not exist, and segments further apart need blocks further apart.
            }
            for (long d = floor.longValueExact(); d <= floor.longValueExact() + 1; d++) {
                BigInteger gap = distance.subtract(stride.multiply(BigInteger.valueOf(d))).abs();
                refuse(d > 0 && d < spec.blocks() && gap.compareTo(bytes) < 0, Reason.BLOCKS_OVERLAP, "segments of " + bytes
                        + " bytes of blocks " + d + " apart overlap: they are " + gap + " bytes apart");
            }
        }
    }

    private static void refuse(boolean wrong, Reason reason, String detail) throws LayoutFault {
        if (wrong) {
            throw new LayoutFault(reason, detail);
        }
    }

    static BigInteger big(long unsigned) {
        return unsigned >= 0 ? BigInteger.valueOf(unsigned) : BigInteger.valueOf(unsigned).add(END_OF_ADDRESSES);
    }

    private static String text(long unsigned) {
        return Long.toUnsignedString(unsigned);
    }

    // --- looking

    /** Address of a segment of a block, an unsigned number. */
    public long address(int block, int segment) {
        if (block < 0 || block >= spec.blocks() || segment < 0 || segment >= spec.segment().count()) {
            throw new IndexOutOfBoundsException("block " + block + " of " + spec.blocks() + ", segment " + segment + " of "
                    + spec.segment().count());
        }
        return spec.base() + block * blockStride + (segment == 0 ? 0 : segment * spec.segment().stride());
    }

    /** Address of the first byte of a block. */
    public long address(int block) {
        return address(block, 0);
    }

    /** Address of a piece of a block: 0 to {@link #pieces} - 1. */
    public long pieceAddress(int block, int piece) {
        if (piece < 0 || piece >= pieces()) {
            throw new IndexOutOfBoundsException("piece " + piece + " of " + pieces());
        }
        return address(block, piece);
    }

    /** Address of segment 0 of block 0. */
    public long base() {
        return spec.base();
    }

    /** Bytes from the base that belong to the layer. */
    public long size() {
        return spec.size();
    }

    /** Number of blocks. */
    public int blocks() {
        return spec.blocks();
    }

    /** Number of segments of a block. */
    public int segments() {
        return spec.segment().count();
    }

    /** Bytes of a segment. */
    public long segmentBytes() {
        return spec.segment().bytes();
    }

    /** Bytes from a block to the next. */
    public long blockStride() {
        return blockStride;
    }

    /** True when a block is one run of bytes. */
    public boolean contiguous() {
        return contiguous;
    }

    /** Runs of bytes that a block consists of: 1 when contiguous, else one per segment. */
    public int pieces() {
        return contiguous ? 1 : spec.segment().count();
    }

    /** Bytes of one such run. */
    public long pieceBytes() {
        return contiguous ? blockBytes : spec.segment().bytes();
    }

    /** Bytes of a block in this layer, without gaps. */
    public long blockBytes() {
        return blockBytes;
    }

    /**
     * Bytes of a block on a disk that writes whole sectors: every piece begins at a sector.
     *
     * @param sectorBytes a power of two, 512 or 4,096 on real disks
     */
    public long diskBytes(int sectorBytes) {
        return Math.multiplyExact(pieces(), padded(pieceBytes(), sectorBytes));
    }

    /**
     * {@code bytes} rounded up to whole sectors.
     *
     * @param sectorBytes a power of two
     */
    public static long padded(long bytes, int sectorBytes) {
        if (Integer.bitCount(sectorBytes) != 1 || sectorBytes < 1) {
            throw new IllegalArgumentException("sectors have a power of two of bytes, not " + sectorBytes);
        }
        return Math.addExact(bytes, sectorBytes - 1L) & -(long) sectorBytes;
    }
}
