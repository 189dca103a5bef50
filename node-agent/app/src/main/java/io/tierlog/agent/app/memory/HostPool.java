/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The host pages of an agent: native memory, mapped, placed and touched at start, so that a node that lacks the memory fails then and not under
 * load. It is one run of addresses, cut into slabs of whole pages for the device that registers it.
 *
 * <p>Safe for use by several threads; who may touch a page when is the core's business. After {@link #close} every access throws
 * {@link IllegalStateException}. Trade-off: the memory is taken as long as the agent runs, used or not.
 */
public final class HostPool implements AutoCloseable {
    private static final int PAGE_ALIGNMENT_BYTES = 4_096;
    private static final long HUGE_PAGE_BYTES = 2L << 20;

    /**
     * How the memory is allocated.
     *
     * @param hugePages whether transparent huge pages are asked for
     * @param numaNode the NUMA node to bind it to, 0 to 63; empty leaves it to the system
     * @param slabBytes largest slab, 1 or more; a slab has at least as many pages as make whole pages of the system
     */
    public record Options(boolean hugePages, OptionalInt numaNode, long slabBytes) {
        /** Huge pages, any node, slabs of 1 GiB. */
        public static final Options DEFAULTS = new Options(true, OptionalInt.empty(), 1L << 30);

        public Options {
            if (slabBytes < 1 || numaNode.orElse(0) < 0 || numaNode.orElse(0) > 63) {
                throw new IllegalArgumentException(
                        "host pool: slabBytes " + slabBytes + " is 1 or more, the NUMA node " + numaNode + " 0 to 63");
            }
        }
    }

    /**
     * What came of it, in words: what the system refused is a fact and no error.
     *
     * @param mapping how the memory was had
     * @param hugePages what became of the wish for huge pages
     * @param numa what became of the wish for a node
     */
    public record Facts(String mapping, String hugePages, String numa) {}

    private final Arena arena;
    private final MemorySegment memory;
    private final int pages;
    private final int blockBytes;
    private final int pagesPerSlab;
    private final Facts facts;

    private HostPool(Arena arena, Placed placed, int pages, int blockBytes, int pagesPerSlab) {
        this.arena = arena;
        this.memory = placed.memory();
        this.pages = pages;
        this.blockBytes = blockBytes;
        this.pagesPerSlab = pagesPerSlab;
        this.facts = placed.facts();
    }

    private record Placed(MemorySegment memory, Facts facts) {}

    /** {@link #allocate(int, int, Options)} with the defaults. */
    public static HostPool allocate(int pages, int blockBytes) {
        return allocate(pages, blockBytes, Options.DEFAULTS);
    }

    /**
     * Maps and touches {@code pages} pages of {@code blockBytes} bytes.
     *
     * @throws HostMemoryException when the process cannot have that much
     */
    public static HostPool allocate(int pages, int blockBytes, Options options) {
        if (pages < 1 || blockBytes < 1) {
            throw new IllegalArgumentException("a host pool of " + pages + " pages of " + blockBytes + " bytes");
        }
        long bytes = (long) pages * blockBytes;
        long machine = machineBytes();
        if (bytes > machine) {
            throw new HostMemoryException(takes(pages, blockBytes) + ", this machine has " + machine + ": give the node fewer host blocks");
        }
        Arena arena = Arena.ofShared();
        boolean taken = false;
        try {
            Optional<SystemMemory> system = SystemMemory.ofThisSystem();
            Placed placed = system.isPresent()
                    ? map(system.get(), arena, bytes, options)
                    : new Placed(arena.allocate(bytes, PAGE_ALIGNMENT_BYTES), new Facts("allocated", "not on this system", "not on this system"));
            placed.memory().fill((byte) 0);
            taken = true;
            return new HostPool(arena, placed, pages, blockBytes, pagesPerSlab(pages, blockBytes, options.slabBytes()));
        } catch (OutOfMemoryError e) {
            throw new HostMemoryException(takes(pages, blockBytes) + " of native memory, more than this process may have (" + e.getMessage()
                    + "): give the node fewer host blocks");
        } finally {
            if (!taken) {
                arena.close();
            }
        }
    }

    private static String takes(int pages, int blockBytes) {
        return "the host pool of " + pages + " blocks of " + blockBytes + " bytes takes " + (long) pages * blockBytes + " bytes";
    }

    private static Placed map(SystemMemory system, Arena arena, long bytes, Options options) {
        // More than needed, so that it can begin at a huge page.
        long mapped = Math.addExact(bytes, HUGE_PAGE_BYTES);
        SystemMemory.Answer answer = system.map(mapped);
        if (!answer.done()) {
            throw new OutOfMemoryError("mmap of " + mapped + " bytes is refused with errno " + answer.errno());
        }
        MemorySegment whole = system.segment(answer.value(), mapped, arena);
        MemorySegment memory = whole.asSlice(Math.floorMod(-answer.value(), HUGE_PAGE_BYTES), bytes);
        String huge = options.hugePages() ? outcome(system.adviseHugePages(memory.address(), bytes), "advised") : "not asked for";
        String numa = options.numaNode().isPresent()
                ? outcome(system.bind(memory.address(), roundedUp(bytes), options.numaNode().getAsInt()),
                        "bound to node " + options.numaNode().getAsInt())
                : "not asked for";
        return new Placed(memory, new Facts("mapped", huge, numa));
    }

    private static String outcome(SystemMemory.Answer answer, String done) {
        return answer.done() ? done : "refused by the system with errno " + answer.errno();
    }

    private static long roundedUp(long bytes) {
        return Math.ceilDiv(bytes, (long) PAGE_ALIGNMENT_BYTES) * PAGE_ALIGNMENT_BYTES;
    }

    /** As many pages as a slab may have, and so many that the next slab begins at a page of the system. */
    private static int pagesPerSlab(int pages, int blockBytes, long slabBytes) {
        int step = PAGE_ALIGNMENT_BYTES / Math.min(PAGE_ALIGNMENT_BYTES, Integer.lowestOneBit(blockBytes));
        long fitting = Math.max(1, slabBytes / blockBytes / step) * step;
        return (int) Math.min(Math.ceilDiv(pages, step) * (long) step, fitting);
    }

    /** Number of pages. */
    public int pages() {
        return pages;
    }

    /** Size of a page in bytes. */
    public int blockBytes() {
        return blockBytes;
    }

    /** What the system made of the wishes. */
    public Facts facts() {
        return facts;
    }

    /** Pages of each slab but the last, which may have fewer. */
    public int pagesPerSlab() {
        return pagesPerSlab;
    }

    /** The slabs, in the order of their pages; each begins at a multiple of 4,096. */
    public List<MemorySegment> slabs() {
        List<MemorySegment> slabs = new ArrayList<>();
        long slabBytes = (long) pagesPerSlab * blockBytes;
        for (long at = 0; at < memory.byteSize(); at += slabBytes) {
            slabs.add(memory.asSlice(at, Math.min(slabBytes, memory.byteSize() - at)));
        }
        return slabs;
    }

    /** The bytes of a page, 0 to pages - 1. */
    public MemorySegment page(int page) {
        if (page < 0 || page >= pages) {
            throw new IndexOutOfBoundsException("host page " + page + " of " + pages);
        }
        return memory.asSlice((long) page * blockBytes, blockBytes);
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
