/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.DiskLimits;
import io.tierlog.agent.disk.FileSegmentIo;
import io.tierlog.agent.disk.Recovered;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the disk tier of an agent is opened, and within which bounds. Static and without state. */
final class DiskStart {
    private static final Logger LOG = LoggerFactory.getLogger(DiskStart.class);
    private static final int ALIGN_BYTES = 4_096;
    private static final long MOST_SEGMENT_BYTES = 256L << 20;
    private static final int SEGMENTS = 16;
    /** One that is kept for compaction, one that is being filled, and one half dead. */
    private static final int FURTHER_SEGMENTS = 3;
    private static final long MOST_FREE_BYTES = 1L << 30;
    private static final long PROGRESS_NANOS = 2_000_000_000L;

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
}
