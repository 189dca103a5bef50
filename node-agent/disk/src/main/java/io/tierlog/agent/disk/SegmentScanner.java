/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.RecordHeader.Place;
import io.tierlog.schemas.Bytes;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the records of one segment, from header to header. Where a header is missing or damaged it looks through every aligned place
 * behind, a window at a time, until it finds the next.
 *
 * <p>For one thread. Trade-off: behind a hole every byte up to the next header is read.
 */
final class SegmentScanner {
    /** Reads that fail one after the other before the rest of the segment is abandoned. */
    private static final int MOST_ERRORS = 16;

    private static final ValueLayout.OfInt BIG_ENDIAN_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final SegmentFile file;
    private final long number;
    private final Bytes tier;
    private final WholeIo io;
    private final MemorySegment window;
    private int damaged;
    private int errors;
    private int errorsInARow;

    /** A record that was found, and where the next one begins. */
    record Found(RecordHeader header, long next) {}

    /**
     * @param window aligned memory for at least one header; what is read at once
     */
    SegmentScanner(SegmentFile file, long number, Bytes tier, WholeIo io, MemorySegment window) {
        this.file = file;
        this.number = number;
        this.tier = tier;
        this.io = io;
        this.window = window;
    }

    /** Places where a header should have been and something else stood. */
    int damaged() {
        return damaged;
    }

    /** Reads that failed. */
    int errors() {
        return errors;
    }

    /** The first record at or behind {@code from} that ends at or before {@code end}, or null. */
    @Nullable Found next(long from, long end) {
        if (end - from < RecordHeader.BYTES || !fill(from, RecordHeader.BYTES)) {
            return errorsInARow == 0 ? null : search(from + io.alignBytes(), end);
        }
        Found found = found(window, from, end);
        if (found != null) {
            return found;
        }
        if (!isZero()) {
            damaged++;
        }
        return search(from + io.alignBytes(), end);
    }

    private @Nullable Found search(long from, long end) {
        long at = from;
        while (end - at >= RecordHeader.BYTES && errorsInARow < MOST_ERRORS) {
            long length = Math.min(window.byteSize(), end - at) / io.alignBytes() * io.alignBytes();
            if (!fill(at, length)) {
                at += io.alignBytes();
                continue;
            }
            long candidates = length - RecordHeader.BYTES;
            for (long i = 0; i <= candidates; i += io.alignBytes()) {
                Found found = window.get(BIG_ENDIAN_INT, i) == RecordHeader.MAGIC ? found(window.asSlice(i), at + i, end) : null;
                if (found != null) {
                    return found;
                }
            }
            at += candidates + io.alignBytes();
        }
        return null;
    }

    private @Nullable Found found(MemorySegment bytes, long offset, long end) {
        Optional<RecordHeader> header = RecordHeader.parse(bytes, new Place(tier, number, offset));
        long next = header
                .map(it -> offset + RecordHeader.BYTES + DiskLimits.padded(it.block().content().length(), io.alignBytes()))
                .orElse(Long.MAX_VALUE);
        return next <= end ? new Found(header.orElseThrow(), next) : null;
    }

    private boolean fill(long at, long length) {
        try {
            io.read(file, window.asSlice(0, length), at);
            errorsInARow = 0;
            return true;
        } catch (EOFException e) {
            // Shorter than it was a moment ago: no record follows.
            errorsInARow = 0;
            return false;
        } catch (IOException e) {
            errors++;
            errorsInARow++;
            return false;
        }
    }

    private boolean isZero() {
        for (long i = 0; i < RecordHeader.BYTES; i += Long.BYTES) {
            if (window.get(ValueLayout.JAVA_LONG, i) != 0) {
                return false;
            }
        }
        return true;
    }
}
