/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

/** What a disk tier counts since it was opened. */
public enum DiskCounter {
    BLOCKS_WRITTEN,
    BYTES_WRITTEN,
    BLOCKS_READ,
    BYTES_READ,
    BLOCKS_DROPPED,
    /** Writes of a block that was there already. */
    ALREADY_THERE,
    /** Blocks found wrong by a read or by compaction, and never served again. */
    CONDEMNED,
    /** Source memory that did not have the checksum it should have. */
    SOURCE_CHANGED,
    /** Blocks whose write failed. */
    WRITES_FAILED,
    /** Blocks whose read failed with an error of the disk. */
    READS_FAILED,
    /** Blocks refused because the tier was full. */
    REFUSED_NO_ROOM,
    /** Blocks refused because the queue was full. */
    REFUSED_QUEUE_FULL,
    FORCES,
    FORCES_FAILED,
    SEGMENTS_MADE,
    SEGMENTS_REMOVED,
    /** Segments that could not be cut or removed. */
    SEGMENT_ERRORS,
    /** Live blocks copied out of half-dead segments. */
    BLOCKS_COMPACTED,
    BYTES_COMPACTED,
    /** Dropped blocks whose header could not be marked: a restart may find them again. */
    MARKS_FAILED
}
