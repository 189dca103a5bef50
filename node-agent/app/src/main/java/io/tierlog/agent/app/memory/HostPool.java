/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The host pages of an agent: one slab of native memory, allocated and touched at start, so that a node that lacks the memory fails then
 * and not under load.
 *
 * <p>Safe for use by several threads; who may touch a page when is the core's business. After {@link #close} every access throws
 * {@link IllegalStateException}. The price: the memory is taken for the whole life of the agent, used or not.
 */
public final class HostPool implements AutoCloseable {
    private static final int PAGE_ALIGNMENT_BYTES = 4096;

    private final Arena arena;
    private final MemorySegment slab;
    private final int pages;
    private final int blockBytes;

    private HostPool(Arena arena, MemorySegment slab, int pages, int blockBytes) {
        this.arena = arena;
        this.slab = slab;
        this.pages = pages;
        this.blockBytes = blockBytes;
    }

    /**
     * Allocates and touches {@code pages} pages of {@code blockBytes} bytes.
     *
     * @throws HostMemoryException when the process cannot have that much
     */
    public static HostPool allocate(int pages, int blockBytes) {
        if (pages < 1 || blockBytes < 1) {
            throw new IllegalArgumentException("a host pool of " + pages + " pages of " + blockBytes + " bytes");
        }
        long bytes = (long) pages * blockBytes;
        long machine = machineBytes();
        if (bytes > machine) {
            throw new HostMemoryException("the host pool of " + pages + " blocks of " + blockBytes + " bytes takes " + bytes
                    + " bytes, this machine has " + machine + ": give the node fewer host blocks");
        }
        Arena arena = Arena.ofShared();
        try {
            MemorySegment slab = arena.allocate(bytes, PAGE_ALIGNMENT_BYTES);
            slab.fill((byte) 0);
            return new HostPool(arena, slab, pages, blockBytes);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new HostMemoryException("the host pool of " + pages + " blocks of " + blockBytes + " bytes takes " + bytes
                    + " bytes of native memory, more than this process may have (" + e.getMessage()
                    + "): give the node fewer host blocks, or raise -XX:MaxDirectMemorySize");
        }
    }

    /** Number of pages. */
    public int pages() {
        return pages;
    }

    /** Size of a page in bytes. */
    public int blockBytes() {
        return blockBytes;
    }

    /** The bytes of a page, 0 to pages - 1. */
    public MemorySegment page(int page) {
        if (page < 0 || page >= pages) {
            throw new IndexOutOfBoundsException("host page " + page + " of " + pages);
        }
        return slab.asSlice((long) page * blockBytes, blockBytes);
    }

    /** The bytes of a page as a buffer, position 0, limit blockBytes. */
    public ByteBuffer buffer(int page) {
        return page(page).asByteBuffer();
    }

    /** CRC32C of a page. */
    public int crc32c(int page) {
        return Checksums.crc32c(buffer(page));
    }

    /** Gives the memory back. Everyone who copies must have stopped. */
    @Override
    public void close() {
        arena.close();
    }

    private static long machineBytes() {
        return java.lang.management.ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }
}
