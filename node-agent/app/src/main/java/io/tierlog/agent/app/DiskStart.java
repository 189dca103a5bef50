/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.AgentInput.DiskFound;
import io.tierlog.agent.core.AgentInput.FoundOnDisk;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.DiskLimits;
import io.tierlog.agent.disk.FileSegmentIo;
import io.tierlog.agent.disk.HeldBlock;
import io.tierlog.agent.disk.Recovered;
import io.tierlog.schemas.Block;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the disk tier of an agent comes up: opened within its bounds, then told to the core page by page. Static and without state. */
final class DiskStart {
    private static final Logger LOG = LoggerFactory.getLogger(DiskStart.class);
    private static final int ALIGN_BYTES = 4_096;
    private static final long MOST_SEGMENT_BYTES = 256L << 20;
    private static final int SEGMENTS = 16;
    /** One that is kept for compaction, one that is being filled, and one half dead. */
    private static final int FURTHER_SEGMENTS = 3;
    private static final long MOST_FREE_BYTES = 1L << 30;
    private static final long PROGRESS_NANOS = 2_000_000_000L;
    private static final int PAGE_BLOCKS = 1_000;

    private DiskStart() {}

    /**
     * Opens the tier and finds what it holds; progress goes to the program's own log.
     *
     * @throws DiskUnavailableException when it cannot be
     */
    static BlockFile open(AgentConfig.Disk disk, int blockBytes) {
        long[] saidNs = {System.nanoTime()};
        try {
            FileSegmentIo io = FileSegmentIo.open(disk.directory(), ALIGN_BYTES);
            boolean opened = false;
            try {
                BlockFile file = BlockFile.open(io, limits(disk, blockBytes), sofar -> progress(disk, sofar, saidNs));
                opened = true;
                return file;
            } finally {
                if (!opened) {
                    io.close();
                }
            }
        } catch (IOException e) {
            throw new DiskUnavailableException("the disk tier in " + disk.directory() + " cannot be opened: " + e.getMessage(), e);
        }
    }

    private static void progress(AgentConfig.Disk disk, Recovered sofar, long[] saidNs) {
        if (System.nanoTime() - saidNs[0] > PROGRESS_NANOS) {
            saidNs[0] = System.nanoTime();
            LOG.info("disk tier {}: segment {} of {}, {} blocks so far",
                    disk.directory(), sofar.segmentsDone(), sofar.segments(), sofar.blocks());
        }
    }

    /** Files for so many blocks at once, with room for what is dead and not yet compacted: about an eighth more, and three segments. */
    static DiskLimits limits(AgentConfig.Disk disk, int blockBytes) {
        long record = ALIGN_BYTES + DiskLimits.padded(blockBytes, ALIGN_BYTES);
        long perSegment = Math.clamp(Math.ceilDiv(disk.blocks(), SEGMENTS), 1L, Math.max(1, MOST_SEGMENT_BYTES / record));
        long segments = Math.ceilDiv(disk.blocks(), perSegment);
        long capacity = (segments + Math.ceilDiv(segments, 8) + FURTHER_SEGMENTS) * perSegment * record;
        return DiskLimits.of(capacity, blockBytes)
                .with(new DiskLimits.Space(capacity, Math.min(MOST_FREE_BYTES, capacity), perSegment * record, ALIGN_BYTES))
                .with(disk.force());
    }

    /**
     * Tells everything that is held, the last page as such.
     *
     * @param put takes an input, waiting for room; false when nobody takes any more
     */
    static void tell(BlockFile file, Predicate<AgentInput> put) {
        Optional<BlockFile.Cursor> next = Optional.of(BlockFile.Cursor.START);
        boolean taken = true;
        while (next.isPresent() && taken) {
            BlockFile.HeldPage page = file.held(next.get(), PAGE_BLOCKS);
            next = page.next();
            List<FoundOnDisk> found = page.blocks().stream().map(DiskStart::found).toList();
            taken = put.test(new DiskFound(found, next.isEmpty()));
        }
    }

    private static FoundOnDisk found(HeldBlock held) {
        Block block = new Block(held.position().index(), held.key(), held.position().parent());
        return new FoundOnDisk(held.namespace(), block, held.generation(), held.crc32c(), held.length());
    }
}
