/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.layout;

/** An engine described memory that cannot exist like that. The message has the numbers. */
public final class LayoutFault extends Exception {
    private static final long serialVersionUID = 1L;

    /** The closed list of reasons. */
    public enum Reason {
        /** A base address of 0. */
        BASE_ZERO,
        /** A region or layer of 0 bytes. */
        SIZE_ZERO,
        /** Segments of 0 bytes. */
        SEGMENT_BYTES_ZERO,
        /** No blocks. */
        BLOCKS_ZERO,
        /** No segments. */
        SEGMENTS_ZERO,
        /** An address or a length does not fit 64 bits. */
        OVERFLOW,
        /** Several segments without a distance between them. */
        SEGMENT_STRIDE_ZERO,
        /** Segments of one block overlap. */
        SEGMENTS_OVERLAP,
        /** Blocks are closer together than their bytes are long. */
        BLOCK_STRIDE_TOO_SMALL,
        /** The last block ends behind the end of the layer. */
        REGION_TOO_SMALL,
        /** A segment of one block overlaps another segment of another block. */
        BLOCKS_OVERLAP,
        /** A layout without layers. */
        NO_LAYERS,
        /** More layers, or more pieces of a block, than the named limit. */
        TOO_MANY_PIECES,
        /** A name that is empty, too long, or has a control character. */
        NAME_INVALID,
        /** Two layers of the same name. */
        NAME_REPEATED,
        /** Layers with different numbers of blocks. */
        BLOCKS_DIFFER,
        /** A layer that names a region which is not there. */
        REGION_UNKNOWN,
        /** A layer that does not lie inside its region. */
        OUTSIDE_REGION,
        /** A rank that the agent does not have, or one of its ranks without layers. */
        RANKS_DIFFER,
        /** Two layers share bytes. */
        LAYERS_OVERLAP,
        /** Layers that are not those of the agreed layouts: another number, other segments. */
        GEOMETRY_MISMATCH,
        /** A region without a memory handle, or with one of the wrong form. */
        HANDLE_INVALID,
        /** A form of the host image that this agent does not keep. */
        HOST_IMAGE_UNSUPPORTED
    }

    private final Reason reason;
    private final String detail;

    /** A fault; {@code detail} has the numbers and ends without a full stop. */
    public LayoutFault(Reason reason, String detail) {
        super(reason + ": " + detail);
        this.reason = reason;
        this.detail = detail;
    }

    /** Which of the closed list. */
    public Reason reason() {
        return reason;
    }

    /** This fault as the fault of a part of a whole: the reason stays, the detail begins with the part. */
    public LayoutFault in(String part) {
        return new LayoutFault(reason, part + detail);
    }
}
