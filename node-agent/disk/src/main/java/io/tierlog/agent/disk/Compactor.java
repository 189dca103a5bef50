/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockFile.CompactionStep;
import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.agent.disk.SegmentScanner.Found;
import io.tierlog.agent.disk.Segments.Extent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies live blocks out of the sparsest full segment, so that it can go. A copy keeps its generation; it is verified on the way, and unless
 * the policy is NEVER it is forced before the original may go. Safe for use by several threads; one of them works at a time.
 */
final class Compactor {
    private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

    /** When the tier is full, a segment is worth emptying when a tenth of it is dead. */
    private static final int BELOW_PERCENT_WITHOUT_ROOM = 90;

    private final Tier tier;
    private final ReentrantLock working = new ReentrantLock();
    private @Nullable Segment candidate;

    private record Copy(BlockName name, Entry from, Extent extent, Entry to) {}

    Compactor(Tier tier) {
        this.tier = tier;
    }

    boolean hasWork() {
        return !working.isLocked() && findsWork();
    }

    CompactionStep step() {
        if (!working.tryLock()) {
            return new CompactionStep(0, 0, false);
        }
        try {
            // One that was begun is finished first.
            Segment from = candidate != null ? candidate : tier.segments().sparsest(threshold());
            candidate = null;
            if (from == null || !tier.segments().use(from)) {
                return new CompactionStep(0, 0, false);
            }
            try {
                return copy(from);
            } finally {
                tier.segments().release(from);
            }
        } finally {
            working.unlock();
        }
    }

    private boolean findsWork() {
        return tier.segments().sparsest(threshold()) != null;
    }

    private int threshold() {
        return tier.segments().hasSpace() ? tier.limits().compaction().belowPercent() : BELOW_PERCENT_WITHOUT_ROOM;
    }

    private CompactionStep copy(Segment from) {
        List<Copy> copies = new ArrayList<>();
        long bytes = 0;
        long end = tier.segments().used(from);
        long at = from.compactedTo;
        boolean stopped = false;
        try (Staging.Buffer window = tier.staging().take()) {
            SegmentScanner scanner = new SegmentScanner(from.file, from.number, tier.generations().tier(), tier.whole(), window.header());
            Found found = scanner.next(at, end);
            while (found != null && bytes < tier.limits().compaction().bytesPerStep()) {
                Copy copy = copyIfLive(from, found.header());
                if (copy != null) {
                    copies.add(copy);
                    bytes += copy.extent.bytes();
                }
                at = found.next();
                found = scanner.next(at, end);
            }
            at = found == null ? end : at;
        } catch (IOException e) {
            stopped = true; // what is copied by then may move
            LOG.warn("segment {} cannot be emptied further now: {}", from.number, e.toString());
        }
        if (!force(copies)) {
            copies.forEach(this::undo);
            return new CompactionStep(0, 0, false);
        }
        copies.forEach(this::move);
        tier.segments().compacted(from, at);
        tier.counters().add(DiskCounter.BLOCKS_COMPACTED, copies.size());
        tier.counters().add(DiskCounter.BYTES_COMPACTED, bytes);
        candidate = !stopped && at < end ? from : null;
        return new CompactionStep(copies.size(), bytes, !stopped && (at < end || findsWork()));
    }

    /** Copies the block if it is held; one that cannot be read stays where it is, and its next reader gets the fault. */
    private @Nullable Copy copyIfLive(Segment from, RecordHeader header) throws IOException {
        BlockName name = header.block().name();
        Entry entry = tier.table().at(name, from, header.place().offset());
        if (entry == null) {
            return null;
        }
        try (Staging.Buffer buffer = tier.staging().take()) {
            if (!isRead(from, entry, buffer)) {
                return null;
            }
            if (Checksums.crc32c(buffer.block(entry.length())) == entry.crc32c()) {
                return write(name, entry, header, buffer);
            }
        }
        tier.condemn(name, entry, "compaction found that its bytes do not match its checksum");
        return null;
    }

    private boolean isRead(Segment from, Entry entry, Staging.Buffer buffer) {
        try {
            long padded = DiskLimits.padded(entry.length(), tier.whole().alignBytes());
            tier.whole().read(from.file, buffer.block(padded), entry.offset() + RecordHeader.BYTES);
            return true;
        } catch (IOException e) {
            tier.counters().count(DiskCounter.READS_FAILED);
            LOG.warn("a block in segment {} at {} cannot be read and stays there: {}", from.number, entry.offset(), e.toString());
            return false;
        }
    }

    private Copy write(BlockName name, Entry entry, RecordHeader header, Staging.Buffer buffer) throws IOException {
        Extent extent = tier.segments().reserve(tier.limits().recordBytes(entry.length()), true);
        boolean headerBegun = false;
        boolean isDown = false;
        try {
            SegmentFile to = extent.segment().file;
            MemorySegment block = buffer.block(DiskLimits.padded(entry.length(), tier.whole().alignBytes()));
            tier.whole().write(to, block, extent.offset() + RecordHeader.BYTES);
            new RecordHeader(tier.place(extent.segment(), extent.offset()), header.block(), false).put(buffer.header());
            headerBegun = true;
            tier.whole().write(to, buffer.header(), extent.offset());
            isDown = true;
            Entry copy = new Entry(extent.segment(), extent.offset(), entry.generation(), entry.length(), entry.crc32c());
            return new Copy(name, entry, extent, copy);
        } finally {
            if (!isDown) {
                tier.segments().end(extent, !headerBegun);
            }
        }
    }

    private boolean force(List<Copy> copies) {
        if (tier.limits().force() == ForcePolicy.NEVER) {
            return true;
        }
        for (Segment segment : copies.stream().map(copy -> copy.extent.segment()).distinct().toList()) {
            try {
                tier.segments().force(segment);
            } catch (IOException e) {
                tier.segments().retire(segment);
                LOG.warn("copies in segment {} cannot be made durable, the originals stay: {}", segment.number, e.toString());
                return false;
            }
        }
        return true;
    }

    private void move(Copy copy) {
        if (tier.table().move(copy.name, copy.from, copy.to)) {
            tier.mark(copy.name, copy.from);
        } else {
            tier.mark(copy.name, copy.to); // dropped meanwhile
        }
        tier.segments().end(copy.extent, false);
    }

    private void undo(Copy copy) {
        tier.mark(copy.name, copy.to);
        tier.segments().end(copy.extent, false);
    }
}
