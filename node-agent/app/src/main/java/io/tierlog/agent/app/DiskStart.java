/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.DiskLimits;
import io.tierlog.agent.disk.FileSegmentIo;
import io.tierlog.agent.disk.Recovered;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the disk tier of an agent is opened, and within which bounds. Static and without state. */
final class DiskStart {
    private static final Logger LOG = LoggerFactory.getLogger(DiskStart.class);
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
            DiskLimits limits = DiskLimits.holding(disk.blocks(), blockBytes).with(disk.force());
            Files.createDirectories(disk.directory());
            requireSpace(disk, blockBytes, limits.space());
            FileSegmentIo io = FileSegmentIo.open(disk.directory(), limits.space().alignBytes());
            boolean opened = false;
            try {
                BlockFile file = BlockFile.open(io, limits, sofar -> progress(disk, sofar, saidNs));
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

    /** The tier reserves its files one by one: what does not fit would be found when the disk is full, long after the start. */
    private static void requireSpace(AgentConfig.Disk disk, int blockBytes, DiskLimits.Space wanted) throws IOException {
        long held = FileSegmentIo.heldBytes(disk.directory());
        long free = Files.getFileStore(disk.directory()).getUsableSpace();
        long needed = wanted.capacityBytes() + wanted.minFreeBytes();
        if (needed > held + free) {
            long fits = Math.max(0, held + free - wanted.minFreeBytes());
            // Of the files a part is for blocks that are dead and not compacted yet, so the share of the blocks stays the same.
            long blocks = (long) ((double) disk.blocks() * fits / wanted.capacityBytes());
            throw new IOException(String.format(Locale.ROOT,
                    "%,d blocks of %,d bytes need files of %,d bytes, and %,d bytes are to stay free, but the file system has %,d bytes free and the"
                            + " tier's files take %,d; give --disk-size %dblocks or less, or a larger file system",
                    disk.blocks(), blockBytes, wanted.capacityBytes(), wanted.minFreeBytes(), free, held, blocks));
        }
    }

    private static void progress(AgentConfig.Disk disk, Recovered sofar, long[] saidNs) {
        if (System.nanoTime() - saidNs[0] > PROGRESS_NANOS) {
            saidNs[0] = System.nanoTime();
            LOG.info("disk tier {}: segment {} of {}, {} blocks so far",
                    disk.directory(), sofar.segmentsDone(), sofar.segments(), sofar.blocks());
        }
    }
}
