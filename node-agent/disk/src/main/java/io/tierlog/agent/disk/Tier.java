/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.agent.disk.RecordHeader.Block;
import io.tierlog.agent.disk.RecordHeader.Content;
import io.tierlog.agent.disk.RecordHeader.Place;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the parts of a block file share. Safe for use by several threads. */
record Tier(
        SegmentIo io,
        DiskLimits limits,
        Generations generations,
        Segments segments,
        BlockTable table,
        WholeIo whole,
        Staging staging,
        DiskCounters counters) {
    private static final Logger LOG = LoggerFactory.getLogger(Tier.class);

    Place place(Segment segment, long offset) {
        return new Place(generations.tier(), segment.number, offset);
    }

    /**
     * Marks a record as dropped, so that a restart does not find it. The caller keeps its segment. A mark is not forced, and one that cannot be
     * written is counted: then a restart may hold the block again, which is true, if not wanted.
     */
    void mark(BlockName name, Entry entry) {
        if (segments.goesAsAWhole(entry.segment())) {
            return;
        }
        Namespace nameless = new Namespace("", name.namespace());
        Block block = new Block(
                nameless, name.key(), entry.generation(), new Content(entry.length(), entry.crc32c()), 0, Bytes.EMPTY, Bytes.EMPTY);
        try (Staging.Buffer buffer = staging.take()) {
            new RecordHeader(place(entry.segment(), entry.offset()), block, true).put(buffer.header());
            whole.write(entry.segment().file, buffer.header(), entry.offset());
        } catch (IOException e) {
            counters.count(DiskCounter.MARKS_FAILED);
            LOG.warn("dropped block {} could not be marked: {}", name.key(), e.toString());
        }
    }

    /** Takes a block found wrong out of service for good; returns false when the tier does not hold it there. */
    boolean condemn(BlockName name, Entry entry, String why) {
        if (!table.remove(name, entry)) {
            return false;
        }
        counters.count(DiskCounter.CONDEMNED);
        LOG.warn("block {} of generation {} in segment {} at {} is wrong and not served again: {}",
                name.key(), entry.generation(), entry.segment().number, entry.offset(), why);
        mark(name, entry);
        segments.release(entry.segment());
        return true;
    }
}
