/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.schemas.OperationReason;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads blocks and verifies each: first its bytes, then its header, which must still name this block at this place. Safe for use by several
 * threads.
 */
final class BlockReader {
    /** How often one read may find that its block was moved meanwhile. */
    private static final int MOST_MOVES = 8;

    private final Tier tier;

    BlockReader(Tier tier) {
        this.tier = tier;
    }

    DiskResult read(BlockName name, BlockRead read) {
        Payload into = new Payload(read.into());
        for (int i = 0; i < MOST_MOVES; i++) {
            Entry entry = tier.table().acquire(name);
            if (entry == null) {
                return DiskResult.failed(OperationReason.NOT_FOUND, "no block " + name.key());
            }
            String wrong;
            try {
                DiskResult refused = refused(entry, read, into);
                if (refused != null) {
                    return refused;
                }
                wrong = wrong(name, entry, into);
            } catch (EOFException e) {
                wrong = String.valueOf(e.getMessage());
            } catch (IOException e) {
                tier.counters().count(DiskCounter.READS_FAILED);
                return DiskResult.failed(OperationReason.IO, e.toString());
            } finally {
                tier.segments().release(entry.segment());
            }
            if (wrong.isEmpty()) {
                tier.counters().count(DiskCounter.BLOCKS_READ);
                tier.counters().add(DiskCounter.BYTES_READ, entry.length());
                return DiskResult.arrived(entry);
            }
            if (tier.condemn(name, entry, wrong)) {
                return DiskResult.failed(OperationReason.CHECKSUM, wrong);
            }
            // It was dropped or moved while it was read: look where it is now.
        }
        return DiskResult.failed(OperationReason.IO, "block " + name.key() + " was moved " + MOST_MOVES + " times while it was read");
    }

    private static @Nullable DiskResult refused(Entry entry, BlockRead read, Payload into) {
        if (read.generation() != 0 && read.generation() != entry.generation()) {
            return DiskResult.failed(OperationReason.STALE_GENERATION,
                    "the block has generation " + entry.generation() + ", not " + read.generation());
        }
        if (into.bytes() != entry.length()) {
            return DiskResult.failed(OperationReason.UNSUPPORTED, BlockWriter.otherLength(entry.length(), into.bytes()));
        }
        return null;
    }

    /** Reads the record; returns its fault, or empty. */
    private String wrong(BlockName name, Entry entry, Payload into) throws IOException {
        int alignBytes = tier.whole().alignBytes();
        SegmentFile file = entry.segment().file;
        try (Staging.Buffer buffer = tier.staging().take()) {
            int found;
            if (into.isAligned(alignBytes)) {
                MemorySegment page = into.pieces().getFirst();
                tier.whole().read(file, page, entry.offset() + RecordHeader.BYTES);
                tier.whole().read(file, buffer.header(), entry.offset());
                found = Checksums.crc32c(page);
            } else {
                tier.whole().read(file, buffer.record(DiskLimits.padded(entry.length(), alignBytes)), entry.offset());
                found = Checksums.crc32c(buffer.block(entry.length()));
                into.copyFrom(buffer.block(entry.length()));
            }
            return judge(name, entry, buffer.header(), found);
        }
    }

    private String judge(BlockName name, Entry entry, MemorySegment header, int crc32c) {
        RecordHeader stored = RecordHeader.parse(header, tier.place(entry.segment(), entry.offset())).orElse(null);
        if (stored == null) {
            return "it has no whole header";
        }
        if (stored.dropped() || !stored.block().name().equals(name) || stored.block().generation() != entry.generation()) {
            return "its header names block " + stored.block().key() + " of generation " + stored.block().generation();
        }
        if (stored.block().content().length() != entry.length() || stored.block().content().crc32c() != entry.crc32c()) {
            return "its header has another length or checksum than when it was written";
        }
        return crc32c == entry.crc32c() ? "" : "its bytes do not match its checksum";
    }
}
