/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The memory of a block: native segments, one after the other, any number of them. Immutable.
 *
 * <p>One piece whose address and length are aligned goes to the disk as it is; anything else is copied through a staging buffer, so that a block
 * is one write however many pieces it has, beyond what one gathering system call takes too.
 */
record Payload(List<MemorySegment> pieces) {
    long bytes() {
        return pieces.stream().mapToLong(MemorySegment::byteSize).sum();
    }

    boolean isAligned(int alignBytes) {
        MemorySegment first = pieces.getFirst();
        return pieces.size() == 1 && (first.address() | first.byteSize()) % alignBytes == 0;
    }

    int crc32c() {
        return Checksums.crc32c(pieces);
    }

    /** Copies to {@code staged}; what is left of it becomes zeros. */
    void copyTo(MemorySegment staged) {
        long at = 0;
        for (MemorySegment piece : pieces) {
            MemorySegment.copy(piece, 0, staged, at, piece.byteSize());
            at += piece.byteSize();
        }
        staged.asSlice(at).fill((byte) 0);
    }

    /** Copies from {@code staged}. */
    void copyFrom(MemorySegment staged) {
        long at = 0;
        for (MemorySegment piece : pieces) {
            MemorySegment.copy(staged, at, piece, 0, piece.byteSize());
            at += piece.byteSize();
        }
    }
}
