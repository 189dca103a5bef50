/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

/**
 * One segment and who needs it. Guarded by the monitor of {@link Segments}, all but the final fields.
 *
 * <pre>
 *   FILLING --(full)--> SEALING --(its last writer has ended)--> SEALED --(no live block, no user)--> REMOVED
 * </pre>
 */
final class Segment {
    /** Where a segment stands. */
    enum State {
        FILLING,
        SEALING,
        SEALED,
        REMOVED
    }

    final long number;
    final SegmentFile file;
    State state;
    /** Bytes of the file. */
    long fileBytes;
    /** Where the next record begins. */
    long used;
    long liveBytes;
    int liveBlocks;
    /** Writes under way into it. */
    int writers;
    /** Reads and marks under way in it; it is not removed meanwhile. */
    int users;
    /** Where compaction continues. */
    long compactedTo;

    Segment(long number, SegmentFile file, State state, long fileBytes) {
        this.number = number;
        this.file = file;
        this.state = state;
        this.fileBytes = fileBytes;
    }

    boolean isIdle() {
        return writers == 0 && users == 0;
    }
}
