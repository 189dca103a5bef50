/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;

/**
 * Reads and writes that move all or fail: continues after a short call and repeats an interrupted one, both within a bound.
 *
 * <p>A thread that was interrupted meanwhile is so again afterwards. Immutable and safe for use by several threads.
 *
 * @param alignBytes calls begin at multiples of it, so after a short call some bytes are moved twice
 * @param retries how many calls in a row may move no byte
 */
record WholeIo(int alignBytes, int retries) {
    /** One system call on what begins {@code done} bytes into the whole. */
    private interface Call {
        int move(MemorySegment rest, long at) throws IOException;
    }

    void write(SegmentFile file, MemorySegment from, long at) throws IOException {
        all(from, at, file::write);
    }

    /** @throws EOFException when the file ends before */
    void read(SegmentFile file, MemorySegment into, long at) throws IOException {
        all(into, at, file::read);
    }

    /** Makes a file durable; interrupts are repeated as for reads and writes. */
    void force(SegmentFile file) throws IOException {
        boolean interrupted = false;
        try {
            for (int i = 0; i <= retries; i++) {
                try {
                    file.force();
                    return;
                } catch (InterruptedIOException e) {
                    interrupted |= Thread.interrupted();
                }
            }
            throw new IOException("forcing was interrupted " + (retries + 1) + " times in a row");
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void all(MemorySegment bytes, long at, Call call) throws IOException {
        long done = 0;
        int stalls = 0;
        boolean interrupted = false;
        try {
            while (done < bytes.byteSize()) {
                int moved = 0;
                try {
                    moved = call.move(bytes.asSlice(done), at + done);
                } catch (InterruptedIOException e) {
                    // How much has moved is unknown; moving it again is the same.
                    interrupted |= Thread.interrupted();
                }
                if (moved < 0) {
                    throw new EOFException("the file ends at " + (at + done) + ", " + (bytes.byteSize() - done) + " bytes are missing");
                }
                long next = done + moved == bytes.byteSize() ? bytes.byteSize() : (done + moved) / alignBytes * alignBytes;
                stalls = next > done ? 0 : stalls + 1;
                if (stalls > retries) {
                    throw new IOException("no byte moved in " + stalls + " calls in a row");
                }
                done = next;
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
