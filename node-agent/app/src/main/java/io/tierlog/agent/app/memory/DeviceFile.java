/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Device memory of an engine as a file that both sides map: page p begins at p * blockBytes.
 *
 * <p>Safe for use by several threads. The mapping is counted: it begins with one holder, copies under way are holders too, whatever the
 * session does meanwhile, and the last one to let go unmaps it. The price: an engine that shortens its file makes copies fail.
 */
public final class DeviceFile {
    private final Arena arena;
    private final AtomicInteger holders = new AtomicInteger(1);
    private final MemorySegment memory;
    private final int pages;
    private final int blockBytes;

    private DeviceFile(Arena arena, MemorySegment memory, int pages, int blockBytes) {
        this.arena = arena;
        this.memory = memory;
        this.pages = pages;
        this.blockBytes = blockBytes;
    }

    /**
     * Maps the file of an engine.
     *
     * @param path absolute path of a regular file of at least {@code pages * blockBytes} bytes
     * @throws DeviceFileException with what is wrong with it
     */
    public static DeviceFile open(String path, int pages, int blockBytes) throws DeviceFileException {
        long bytes = (long) pages * blockBytes;
        Arena arena = Arena.ofShared();
        boolean mapped = false;
        try {
            Path file = Path.of(path);
            if (!file.isAbsolute()) {
                throw new DeviceFileException("shared_memory_path " + path + " is not absolute");
            }
            if (!Files.isRegularFile(file)) {
                throw new DeviceFileException("shared_memory_path " + path + " is not a file that the agent can see");
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                if (channel.size() < bytes) {
                    throw new DeviceFileException("shared_memory_path " + path + " has " + channel.size() + " bytes, " + pages
                            + " pages of " + blockBytes + " bytes need " + bytes);
                }
                MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
                mapped = true;
                return new DeviceFile(arena, memory, pages, blockBytes);
            }
        } catch (IOException | InvalidPathException e) {
            throw new DeviceFileException("shared_memory_path " + path + " cannot be mapped: " + e);
        } catch (OutOfMemoryError e) {
            throw new DeviceFileException("shared_memory_path " + path + " cannot be mapped: no address space for " + bytes + " bytes");
        } finally {
            if (!mapped) {
                arena.close();
            }
        }
    }

    /** One more holder; every holder lets go once. */
    void retain() {
        holders.incrementAndGet();
    }

    /** A holder lets go; the last one unmaps the file. */
    public void release() {
        if (holders.decrementAndGet() == 0) {
            arena.close();
        }
    }

    /** Number of pages. */
    public int pages() {
        return pages;
    }

    /** The bytes of a page, 0 to pages - 1. */
    MemorySegment page(int page) {
        if (page < 0 || page >= pages) {
            throw new IndexOutOfBoundsException("device page " + page + " of " + pages);
        }
        return memory.asSlice((long) page * blockBytes, blockBytes);
    }
}
