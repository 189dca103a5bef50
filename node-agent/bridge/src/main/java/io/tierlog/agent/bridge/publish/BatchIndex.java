/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import java.util.Arrays;
import java.util.Optional;

/**
 * Where the batches of one partition are in the log: the offset of every {@value #EVERY}th. Safe for use by several threads.
 *
 * <p>The number of a batch is the first offset of the partition plus the count of batches before it. So numbers have no holes, are the same in every
 * process as long as the log has its start, which is offset 0, and only jump forward when a part of it was deleted. What is deleted later
 * changes no number.
 */
final class BatchIndex {
    private static final int EVERY = 256;

    private final long first;
    private long[] offsets;
    private long count;
    /** Offset of the last batch. */
    private long last;
    /** All batches before this offset are counted. */
    private long counted;
    /** The first batch that the log has, as far as is known. */
    private Mark begin;

    /** Where to begin to read so that {@code seq} is the number of the first batch there. */
    record Mark(long seq, long offset) {}

    /** For a partition that begins at that offset. */
    BatchIndex(long firstOffset) {
        first = firstOffset;
        offsets = new long[16];
        offsets[0] = firstOffset;
        last = firstOffset - 1;
        counted = firstOffset;
        begin = new Mark(firstOffset, firstOffset);
    }

    /** Takes the next batch, and returns its number. */
    synchronized long add(long offset) {
        if (count % EVERY == 0) {
            int at = Math.toIntExact(count / EVERY);
            if (at == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * at);
            }
            offsets[at] = offset;
        }
        last = offset;
        return first + count++;
    }

    /** All batches before that offset are taken. */
    synchronized void counted(long offset) {
        counted = offset;
    }

    /** Number of the next batch. */
    synchronized long next() {
        return first + count;
    }

    /** The last mark at or before a batch; of one that is not there yet the last of all, of one that is gone the first. */
    synchronized Mark before(long seq) {
        long wanted = Math.clamp(seq - first, 0, Math.max(0, count - 1)) / EVERY;
        Mark mark = new Mark(first + wanted * EVERY, offsets[Math.toIntExact(wanted)]);
        return mark.offset() < begin.offset() ? begin : mark;
    }

    /**
     * The first offset at or after the given one whose number is known: that number less the count of batches from the given offset to it is the
     * number of the first batch at the given offset.
     *
     * @return empty while batches before the given offset are not counted yet
     */
    synchronized Optional<Mark> after(long offset) {
        if (counted < offset) {
            return Optional.empty();
        }
        if (begin.offset() == offset || last < offset) {
            return Optional.of(new Mark(begin.offset() == offset ? begin.seq() : first + count, offset));
        }
        int marks = Math.toIntExact((count + EVERY - 1) / EVERY);
        int found = Arrays.binarySearch(offsets, 0, marks, offset);
        int at = found < 0 ? -found - 1 : found;
        return Optional.of(at < marks ? new Mark(first + (long) at * EVERY, offsets[at]) : new Mark(first + count, last + 1));
    }

    /** The log begins there now: what is before is gone. */
    synchronized void cut(Mark mark) {
        if (mark.offset() > begin.offset()) {
            begin = mark;
        }
    }
}
