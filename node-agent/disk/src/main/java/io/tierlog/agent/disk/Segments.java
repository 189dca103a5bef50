/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.DiskLimits.Space;
import io.tierlog.agent.disk.Segment.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of a tier: where the next record goes, and when a segment is cut, made durable and removed.
 *
 * <p>Safe for use by several threads. This object's monitor guards the fields of all segments and of {@link BlockTable}; it is never held
 * during a call to the disk. Of the capacity one segment is kept for compaction, which otherwise could not begin when it is needed most; while it is
 * in use, nothing else is written. Files that were found to be larger than the capacity are compacted with one segment more.
 */
final class Segments {
    private static final Logger LOG = LoggerFactory.getLogger(Segments.class);

    private final SegmentIo io;
    private final Space space;
    private final ForcePolicy force;
    private final WholeIo whole;
    private final DiskCounters counters;
    private final Object making = new Object();
    private final TreeMap<Long, Segment> all = new TreeMap<>();
    private @Nullable Segment filling;
    private long fileBytes;
    private long foundBytes;
    private long lastNumber;

    /** A place that a writer has for itself until {@link #end}. */
    record Extent(Segment segment, long offset, long bytes) {}

    Segments(SegmentIo io, DiskLimits limits, DiskCounters counters) {
        this.io = io;
        this.space = limits.space();
        this.force = limits.force();
        this.whole = new WholeIo(io.alignBytes(), limits.work().retries());
        this.counters = counters;
    }

    /**
     * Takes the next place for a record of {@code bytes} bytes, in a new segment if need be.
     *
     * @param compacting whether it may use what is kept for compaction
     * @throws NoSpaceException before anything is written, when the tier or the file system is full
     */
    Extent reserve(long bytes, boolean compacting) throws IOException {
        if (!io.reservesSpace()) {
            leaveFree(bytes);
        }
        Extent extent = tryReserve(bytes, compacting);
        while (extent == null) {
            Segment full;
            synchronized (making) {
                extent = tryReserve(bytes, compacting);
                if (extent != null) {
                    return extent;
                }
                full = make(compacting);
                extent = tryReserve(bytes, compacting);
            }
            if (full != null) {
                settle(full);
            }
        }
        return extent;
    }

    private synchronized @Nullable Extent tryReserve(long bytes, boolean compacting) {
        Segment to = filling;
        boolean isKept = !compacting && space.capacityBytes() - fileBytes < space.segmentBytes();
        if (to == null || isKept || to.fileBytes - to.used < bytes) {
            return null;
        }
        Extent extent = new Extent(to, to.used, bytes);
        to.used += bytes;
        to.writers++;
        return extent;
    }

    /** Makes a segment the one that is filled; returns the one that was. */
    private @Nullable Segment make(boolean compacting) throws IOException {
        long number;
        synchronized (this) {
            long most = compacting
                    ? Math.max(space.capacityBytes(), foundBytes + space.segmentBytes()) : space.capacityBytes() - space.segmentBytes();
            if (most - fileBytes < space.segmentBytes()) {
                throw new NoSpaceException("the disk tier's files have " + fileBytes + " of " + space.capacityBytes()
                        + " bytes, and one segment is kept for compaction: drop blocks");
            }
            number = lastNumber + 1;
        }
        if (io.reservesSpace()) {
            leaveFree(space.segmentBytes());
        }
        SegmentFile file = io.create(number, space.segmentBytes());
        counters.count(DiskCounter.SEGMENTS_MADE);
        synchronized (this) {
            lastNumber = number;
            fileBytes += space.segmentBytes();
            Segment made = new Segment(number, file, State.FILLING, space.segmentBytes());
            all.put(number, made);
            Segment full = filling;
            filling = made;
            if (full != null) {
                full.state = State.SEALING;
            }
            return full;
        }
    }

    private void leaveFree(long bytes) throws IOException {
        if (space.minFreeBytes() > 0 && io.usableBytes() - bytes < space.minFreeBytes()) {
            throw new NoSpaceException("another " + bytes + " bytes would leave less than " + space.minFreeBytes()
                    + " bytes free in the file system: drop blocks, or free space there");
        }
    }

    /** A write has ended, published or not; if no byte of a header can be down its place is given again. */
    void end(Extent extent, boolean giveBack) {
        Segment segment = extent.segment;
        synchronized (this) {
            segment.writers--;
            if (giveBack && segment.used == extent.offset + extent.bytes) {
                segment.used = extent.offset;
            }
        }
        settle(segment);
    }

    /** Nothing more is written into this segment: its disk has lied. */
    void retire(Segment segment) {
        synchronized (this) {
            if (segment.state == State.FILLING) {
                segment.state = State.SEALING;
                filling = null;
            }
        }
    }

    /** Keeps a segment from being removed until {@link #release}; false when it is gone already. */
    synchronized boolean use(Segment segment) {
        if (segment.state == State.REMOVED) {
            return false;
        }
        segment.users++;
        return true;
    }

    void release(Segment segment) {
        synchronized (this) {
            segment.users--;
        }
        settle(segment);
    }

    /** Does what has become due for a segment: seals it, removes it. Called after every change, without the monitor. */
    void settle(Segment segment) {
        boolean seal;
        synchronized (this) {
            seal = segment.state == State.SEALING && segment.writers == 0;
            if (seal) {
                segment.state = State.SEALED;
                segment.users++;
            }
        }
        if (seal) {
            seal(segment);
        }
        boolean remove;
        synchronized (this) {
            remove = segment.state == State.SEALED && segment.liveBlocks == 0 && segment.isIdle();
            if (remove) {
                segment.state = State.REMOVED;
                all.remove(segment.number);
            }
        }
        if (remove) {
            remove(segment);
        }
    }

    private void seal(Segment segment) {
        long cutTo = segment.fileBytes;
        try {
            segment.file.truncate(segment.used);
            cutTo = segment.used;
            if (force != ForcePolicy.NEVER) {
                force(segment);
            }
        } catch (IOException e) {
            counters.count(DiskCounter.SEGMENT_ERRORS);
            LOG.warn("segment {} could not be closed well, its blocks are served as long as they prove right: {}", segment.number, e.toString());
        } finally {
            synchronized (this) {
                cut(segment, cutTo);
                segment.users--;
            }
        }
    }

    private void remove(Segment segment) {
        try {
            segment.file.close();
            io.delete(segment.number);
            counters.count(DiskCounter.SEGMENTS_REMOVED);
            synchronized (this) {
                fileBytes -= segment.fileBytes;
            }
        } catch (IOException e) {
            // Its bytes stay counted: they are still on the disk. The next start finds only dropped or superseded blocks in it.
            counters.count(DiskCounter.SEGMENT_ERRORS);
            LOG.warn("segment {} could not be removed: {}", segment.number, e.toString());
        }
    }

    /** Makes what was written into a segment durable, and counts. */
    void force(Segment segment) throws IOException {
        try {
            whole.force(segment.file);
            counters.count(DiskCounter.FORCES);
        } catch (IOException e) {
            counters.count(DiskCounter.FORCES_FAILED);
            throw e;
        }
    }

    /** Adds a segment found at start, already looked through. */
    synchronized void add(Segment segment) {
        all.put(segment.number, segment);
        lastNumber = Math.max(lastNumber, segment.number);
        fileBytes += segment.fileBytes;
        foundBytes += segment.fileBytes;
    }

    /** The file of a segment was cut. */
    synchronized void cut(Segment segment, long bytes) {
        fileBytes -= segment.fileBytes - bytes;
        segment.fileBytes = bytes;
    }

    /** The first segment with this number or a higher one. */
    synchronized @Nullable Segment atOrAfter(long number) {
        var entry = all.ceilingEntry(number);
        return entry == null ? null : entry.getValue();
    }

    /** Where the records of a segment end now. */
    synchronized long used(Segment segment) {
        return segment.used;
    }

    /** Whether a live block of this segment is held; if not, the segment is removed as a whole without marks. */
    synchronized boolean goesAsAWhole(Segment segment) {
        return segment.state == State.SEALED && segment.liveBlocks == 0;
    }

    /** True when another segment can be made without what is kept for compaction. */
    synchronized boolean hasSpace() {
        return space.capacityBytes() - fileBytes >= 2 * space.segmentBytes();
    }

    /** The full segment with the fewest live bytes, if they are less than this share of it; looked through ones are left out. */
    synchronized @Nullable Segment sparsest(int belowPercent) {
        Segment best = null;
        for (Segment segment : all.values()) {
            boolean candidate = segment.state == State.SEALED
                    && segment.compactedTo < segment.used
                    && segment.liveBytes * 100 < segment.used * belowPercent;
            if (candidate && (best == null || segment.liveBytes < best.liveBytes)) {
                best = segment;
            }
        }
        return best;
    }

    /** Compaction has come to this offset of a segment. */
    synchronized void compacted(Segment segment, long to) {
        segment.compactedTo = to;
    }

    /** A segment that is there and cannot be opened: its number is not given again. */
    synchronized void skip(long number) {
        lastNumber = Math.max(lastNumber, number);
    }

    synchronized List<Segment> all() {
        return new ArrayList<>(all.values());
    }

    synchronized long fileBytes() {
        return fileBytes;
    }

    synchronized long liveBytes() {
        return all.values().stream().mapToLong(segment -> segment.liveBytes).sum();
    }

    /** Seals the open segment and closes all files; no call may use them afterwards. */
    void close() {
        Segment last;
        synchronized (this) {
            last = filling;
            filling = null;
            if (last != null) {
                last.state = State.SEALING;
            }
        }
        if (last != null) {
            settle(last);
        }
        for (Segment segment : all()) {
            try {
                segment.file.close();
            } catch (IOException e) {
                LOG.warn("segment {} could not be closed: {}", segment.number, e.toString());
            }
        }
    }
}
