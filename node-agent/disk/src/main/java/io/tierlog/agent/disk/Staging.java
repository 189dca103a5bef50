/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/**
 * A fixed number of aligned buffers, each for a header and the longest block: headers always go through one, blocks only when their memory is
 * not aligned or in pieces. A caller that finds none waits. Safe for use by several threads. Trade-off: the memory is kept until the end.
 */
final class Staging implements AutoCloseable {
    private static final int ALIGN_BYTES = 4_096;

    private final Arena arena = Arena.ofShared();
    private final long bytes;
    private final int count;
    private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();
    private int made;

    Staging(int count, long bytes) {
        this.count = count;
        this.bytes = bytes;
    }

    /** A buffer; given back when closed. */
    final class Buffer implements AutoCloseable {
        private final MemorySegment memory;

        private Buffer(MemorySegment memory) {
            this.memory = memory;
        }

        /** Space for a header. */
        MemorySegment header() {
            return memory.asSlice(0, RecordHeader.BYTES);
        }

        /** Space for {@code length} bytes of a block, right behind the header. */
        MemorySegment block(long length) {
            return memory.asSlice(RecordHeader.BYTES, length);
        }

        /** Header and block together. */
        MemorySegment record(long length) {
            return memory.asSlice(0, RecordHeader.BYTES + length);
        }

        @Override
        public void close() {
            synchronized (free) {
                free.add(memory);
                free.notify();
            }
        }
    }

    /** Takes a buffer; an interrupt while it waits is kept for later. */
    Buffer take() {
        boolean interrupted = false;
        try {
            synchronized (free) {
                while (free.isEmpty() && made == count) {
                    try {
                        free.wait();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
                MemorySegment memory = free.poll();
                if (memory == null) {
                    memory = arena.allocate(bytes, ALIGN_BYTES);
                    made++;
                }
                return new Buffer(memory);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
