/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import java.util.Arrays;

/**
 * Where the batches of one partition are in the log: the offset of every {@value #EVERY}th. Safe for use by several threads.
 *
 * <p>The number of a batch is the first offset of the partition plus the count of batches before it. So numbers have no holes, are the same in every
 * process as long as the log has its start, which is offset 0, and only jump forward when a part of it was deleted.
 */
final class BatchIndex {
    private static final int EVERY = 256;

    private final long first;
    private long[] offsets;
    private long count;

    /** Where to begin to read so that {@code seq} is the number of the first batch there. */
    record Mark(long seq, long offset) {}

    /** For a partition that begins at that offset. */
    BatchIndex(long firstOffset) {
        first = firstOffset;
        offsets = new long[16];
        offsets[0] = firstOffset;
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
        return first + count++;
    }

    /** Number of the first batch that the log has. */
    long first() {
        return first;
    }

    /** Number of the next batch. */
    synchronized long next() {
        return first + count;
    }

    /** The last mark at or before a batch; of one that is not there yet the last of all, of one that is gone the first. */
    synchronized Mark before(long seq) {
        long wanted = Math.clamp(seq - first, 0, Math.max(0, count - 1)) / EVERY;
        return new Mark(first + wanted * EVERY, offsets[Math.toIntExact(wanted)]);
    }
}
