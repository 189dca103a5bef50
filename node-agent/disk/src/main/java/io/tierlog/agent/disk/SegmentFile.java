/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * One open segment. Safe for use by several threads.
 *
 * <p>Reads and writes may move fewer bytes than requested, as a system call may, and may be interrupted: then they throw
 * {@link java.io.InterruptedIOException}, bytes may or may not have moved, and the same call may be made again.
 */
public interface SegmentFile extends AutoCloseable {
    /** Size in bytes. */
    long size() throws IOException;

    /**
     * Writes native memory at an offset.
     *
     * @return bytes written, 0 to {@code from.byteSize()}
     */
    int write(MemorySegment from, long at) throws IOException;

    /**
     * Reads into native memory from an offset.
     *
     * @return bytes read, or -1 at or behind the end
     */
    int read(MemorySegment into, long at) throws IOException;

    /** Returns when all that was written survives a loss of power. */
    void force() throws IOException;

    /** Cuts the file to {@code bytes}, at most its size. */
    void truncate(long bytes) throws IOException;

    @Override
    void close() throws IOException;
}
