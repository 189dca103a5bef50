/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

/**
 * Every bound of a disk tier, checked once.
 *
 * <p>Memory: {@link #BYTES_PER_BLOCK} of heap for each block held, and one staging buffer of {@link #stagingBytes} for each thread that reads or
 * writes.
 *
 * @param space bytes on the disk
 * @param blocks how many blocks, and how large
 * @param work threads, queues and retries
 * @param compaction how space in half-dead segments comes back
 * @param force what survives a loss of power
 */
public record DiskLimits(Space space, Blocks blocks, Work work, Compaction compaction, ForcePolicy force) {
    /** Upper bound of the heap that one block held takes in the index, in bytes; a test measures it. */
    public static final int BYTES_PER_BLOCK = 256;

    /** Longest key, parent key and root key, in bytes. */
    public static final int MOST_KEY_BYTES = 32;

    /** Shortest key of a block, in bytes. */
    public static final int LEAST_KEY_BYTES = 8;

    private static final int MOST_BLOCK_BYTES = 1 << 30;
    private static final int ALIGN_BYTES = 4_096;
    private static final long MOST_SEGMENT_BYTES = 256L << 20;
    private static final int SEGMENTS = 16;
    /** One that is kept for compaction, one that is being filled, and one half dead. */
    private static final int FURTHER_SEGMENTS = 3;
    private static final long MOST_FREE_BYTES = 1L << 30;

    /**
     * Bytes on the disk.
     *
     * @param capacityBytes most that the files of the tier take together; at least two segments, one of which is kept for compaction
     * @param minFreeBytes what stays free in the file system; 0 for no reserve, then a write finds the full disk
     * @param segmentBytes size of a segment file, a multiple of 4,096
     * @param alignBytes what addresses, offsets and lengths are padded to, 512 or 4,096; fixed when the tier is made
     */
    public record Space(long capacityBytes, long minFreeBytes, long segmentBytes, int alignBytes) {
        public Space {
            require(alignBytes == 512 || alignBytes == 4_096, "alignBytes is 512 or 4096, was " + alignBytes);
            require(segmentBytes >= 4_096 && segmentBytes % 4_096 == 0, "segmentBytes is a multiple of 4096, was " + segmentBytes);
            require(capacityBytes >= 2 * segmentBytes, "capacityBytes is 2 segments of " + segmentBytes + " or more, was " + capacityBytes);
            require(minFreeBytes >= 0, "minFreeBytes is 0 or more, was " + minFreeBytes);
        }
    }

    /**
     * Blocks.
     *
     * @param most held at once, those being written included
     * @param blockBytes length of the longest block
     * @param namespaceBytes length of the longest namespace in UTF-8, at most {@value RecordHeader#MOST_NAMESPACE_BYTES}
     * @param namespaces different namespaces held at once
     */
    public record Blocks(int most, int blockBytes, int namespaceBytes, int namespaces) {
        public Blocks {
            require(most >= 1, "most blocks is 1 or more, was " + most);
            require(blockBytes >= 1 && blockBytes <= MOST_BLOCK_BYTES, "blockBytes is 1 to " + MOST_BLOCK_BYTES + ", was " + blockBytes);
            require(namespaceBytes >= 1 && namespaceBytes <= RecordHeader.MOST_NAMESPACE_BYTES,
                    "namespaceBytes is 1 to " + RecordHeader.MOST_NAMESPACE_BYTES + ", was " + namespaceBytes);
            require(namespaces >= 1, "namespaces is 1 or more, was " + namespaces);
        }
    }

    /**
     * Threads, queues and retries.
     *
     * @param readers threads that read: the queue depth of reads
     * @param writers threads that write, drop and compact: the queue depth of writes
     * @param queueBlocks blocks of units accepted and not ended, per direction
     * @param queueBytes bytes of units accepted and not ended, per direction
     * @param pieceBlocks blocks that one thread writes before one force, or drops
     * @param retries how often one read or write may be repeated without progress (interrupted, no byte moved)
     */
    public record Work(int readers, int writers, int queueBlocks, long queueBytes, int pieceBlocks, int retries) {
        public Work {
            require(readers >= 1 && writers >= 1, "readers and writers are 1 or more, were " + readers + " and " + writers);
            require(queueBlocks >= 1 && queueBytes >= 1, "the queue is 1 or more, was " + queueBlocks + " blocks, " + queueBytes + " bytes");
            require(pieceBlocks >= 1, "pieceBlocks is 1 or more, was " + pieceBlocks);
            require(retries >= 0, "retries is 0 or more, was " + retries);
        }
    }

    /**
     * How space in half-dead segments comes back.
     *
     * @param belowPercent a full segment is emptied when its live bytes are less than this share of it, 1 to 100; when there is no space for
     *     another segment any with dead bytes is
     * @param bytesPerStep most bytes that one step copies, the block that crosses it included only when it is the first
     */
    public record Compaction(int belowPercent, long bytesPerStep) {
        public Compaction {
            require(belowPercent >= 1 && belowPercent <= 100, "belowPercent is 1 to 100, was " + belowPercent);
            require(bytesPerStep >= 1, "bytesPerStep is 1 or more, was " + bytesPerStep);
        }
    }

    public DiskLimits {
        long record = RecordHeader.BYTES + padded(blocks.blockBytes(), space.alignBytes());
        require(record <= space.segmentBytes(),
                "a block of " + blocks.blockBytes() + " bytes takes " + record + " bytes on disk, a segment has " + space.segmentBytes());
    }

    /** Limits for {@code capacityBytes} of disk and blocks of up to {@code blockBytes}: 256 MiB a segment or less, 8 threads each way. */
    public static DiskLimits of(long capacityBytes, int blockBytes) {
        long record = RecordHeader.BYTES + padded(blockBytes, ALIGN_BYTES);
        long segment = Math.max(record, Math.min(MOST_SEGMENT_BYTES, capacityBytes / SEGMENTS)) / ALIGN_BYTES * ALIGN_BYTES;
        int most = Math.clamp(capacityBytes / record, 1, Integer.MAX_VALUE);
        return new DiskLimits(
                new Space(capacityBytes, MOST_FREE_BYTES, segment, ALIGN_BYTES),
                new Blocks(most, blockBytes, 1_024, 1_000),
                new Work(8, 8, 4_096, Math.max(record, 1L << 30), 8, 16),
                new Compaction(50, 64L << 20),
                ForcePolicy.NEVER);
    }

    /**
     * Limits for {@code blocks} held at once, of up to {@code blockBytes}: the files have space for dead blocks that are not yet compacted, about an
     * eighth more and three segments, and as much as they take, 1 GiB at most, stays free in the file system.
     */
    public static DiskLimits holding(int blocks, int blockBytes) {
        long record = RecordHeader.BYTES + padded(blockBytes, ALIGN_BYTES);
        long perSegment = Math.clamp(Math.ceilDiv(blocks, SEGMENTS), 1L, Math.max(1, MOST_SEGMENT_BYTES / record));
        long segments = Math.ceilDiv(blocks, perSegment);
        long capacity = (segments + Math.ceilDiv(segments, 8) + FURTHER_SEGMENTS) * perSegment * record;
        return of(capacity, blockBytes).with(new Space(capacity, Math.min(MOST_FREE_BYTES, capacity), perSegment * record, ALIGN_BYTES));
    }

    /** A copy with another force policy. */
    public DiskLimits with(ForcePolicy other) {
        return new DiskLimits(space, blocks, work, compaction, other);
    }

    /** A copy with other space. */
    public DiskLimits with(Space other) {
        return new DiskLimits(other, blocks, work, compaction, force);
    }

    /** A copy with other work. */
    public DiskLimits with(Work other) {
        return new DiskLimits(space, blocks, other, compaction, force);
    }

    /** A copy with other blocks. */
    public DiskLimits with(Blocks other) {
        return new DiskLimits(space, other, work, compaction, force);
    }

    /** A copy with another compaction. */
    public DiskLimits with(Compaction other) {
        return new DiskLimits(space, blocks, work, other, force);
    }

    /** {@code bytes} rounded up to a multiple of {@code alignBytes}, a power of two. */
    public static long padded(long bytes, int alignBytes) {
        return (bytes + alignBytes - 1) & -alignBytes;
    }

    /** Bytes of one staging buffer: a header and the longest block. */
    public long stagingBytes() {
        return recordBytes(blocks.blockBytes());
    }

    /** Bytes that a block of {@code length} takes on the disk. */
    long recordBytes(int length) {
        return RecordHeader.BYTES + padded(length, space.alignBytes());
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
