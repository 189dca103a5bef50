/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The files of a disk tier: numbered segments, and one label. One process at a time has them.
 *
 * <p>Safe for use by several threads. Every failure is an {@link IOException}; a full disk is a {@link NoSpaceException}.
 */
public interface SegmentIo extends AutoCloseable {
    /** How the files are reached, and if not directly, why not; for people. */
    String description();

    /** What addresses, offsets and lengths of reads and writes must be a multiple of, in bytes. */
    int alignBytes();

    /** True when a new segment has its space reserved, so that no write into it finds the disk full. */
    boolean reservesSpace();

    /** Numbers of the segments that are there, ascending. */
    List<Long> list() throws IOException;

    /**
     * Makes a segment of {@code bytes} bytes that read as zeros, and gives it its name durably.
     *
     * @param number one that is not there, 1 or more
     */
    SegmentFile create(long number, long bytes) throws IOException;

    /** Opens a segment that is there. */
    SegmentFile open(long number) throws IOException;

    /** Removes a segment; no effect when it does not exist. */
    void delete(long number) throws IOException;

    /** Free bytes of the file system. */
    long usableBytes() throws IOException;

    /** The label of the tier, if it has one. */
    Optional<byte[]> label() throws IOException;

    /** Replaces the label as a whole; durable when it returns. */
    void writeLabel(byte[] label) throws IOException;

    @Override
    void close();
}
