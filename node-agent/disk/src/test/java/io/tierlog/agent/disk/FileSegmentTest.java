/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract on real files, and what only they can do. */
class FileSegmentTest extends SegmentContractTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    private @Nullable FileSegmentIo io;

    @Override
    SegmentIo io() throws IOException {
        if (io == null) {
            io = FileSegmentIo.open(directory, PAGE);
        }
        return io;
    }

    @AfterEach
    void close() {
        if (io != null) {
            io.close();
        }
    }

    @Test
    void itReportsHowTheFilesAreReached() throws IOException {
        String description = io().description();
        assertTrue(description.contains("O_DIRECT"), description);
        assertTrue(description.contains("aligned to 4096"), description);
        if (description.contains("page cache")) {
            assertTrue(description.matches(".*refuses O_DIRECT \\(.+\\).*"), description);
        } else {
            // Only then does an unaligned write fail, and it must.
            try (SegmentFile file = io().create(1, PAGE)) {
                assertThrows(IOException.class, () -> file.write(Blocks.content(1, 1_000), 0));
            }
        }
    }

    @Test
    void anAlignmentThatTheFileSystemCannotDoDirectlyUsesThePageCacheAndIsReported() throws IOException {
        long blockSize = Files.getFileStore(directory).getBlockSize();
        Assumptions.assumeTrue(blockSize > 512, "this file system can do 512 directly");
        DiskLimits limits = Blocks.limits().with(new DiskLimits.Space(10L * Blocks.SEGMENT, 0, Blocks.SEGMENT, 512));
        try (FileSegmentIo other = FileSegmentIo.open(directory.resolve("other"), 512);
                BlockFile file = Blocks.open(other, limits)) {
            String reason = ".*through the page cache: the file system refuses O_DIRECT \\(.*block size.*\\).*";
            assertTrue(other.description().matches(reason), other.description());
            Blocks.writeAll(file, 0, 9);
            for (int seed = 0; seed < 9; seed++) {
                Blocks.assertServed(file, seed);
            }
        }
    }

    @Test
    void aFileSystemThatCanNeitherWriteDirectlyNorReserveIsUsedAndReported() throws IOException {
        try (FileSystem inMemory = Jimfs.newFileSystem(Configuration.unix());
                FileSegmentIo other = FileSegmentIo.open(inMemory.getPath("/tier"), PAGE);
                BlockFile file = Blocks.open(other)) {
            assertTrue(other.description().contains("through the page cache: a file system of this process"), other.description());
            assertTrue(other.description().contains("space not reserved"), other.description());
            Blocks.writeAll(file, 0, 9);
            for (int seed = 0; seed < 9; seed++) {
                Blocks.assertServed(file, seed);
            }
        }
    }

    @Test
    void oneProcessAtATimeHasTheTier() throws IOException {
        io();
        DiskTierException second = assertThrows(DiskTierException.class, () -> FileSegmentIo.open(directory, PAGE));
        assertTrue(String.valueOf(second.getMessage()).contains(directory.toString()), second.getMessage());
        io().close();
        io = FileSegmentIo.open(directory, PAGE);
    }

    @Test
    void aSegmentThatWasNotFinishedIsRemovedAtStart() throws IOException {
        Files.write(directory.resolve("5.new"), new byte[PAGE]);
        assertEquals(java.util.List.of(), io().list());
        assertTrue(Files.notExists(directory.resolve("5.new")));
    }

    @Test
    void aFileIsReopenedAfterAnInterruptHasClosedItUnderItsUsers() throws IOException {
        try (SegmentFile file = io().create(1, PAGE)) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedIOException.class, () -> file.write(Blocks.content(1, PAGE), 0));
            assertTrue(Thread.interrupted(), "the interrupt is still to be seen");
            write(file, 2, 0);
            assertArrayEquals(Blocks.bytes(Blocks.content(2, PAGE)), read(file, 0));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptedWriterStillWritesAndStaysInterrupted(ForcePolicy policy) throws IOException {
        try (BlockFile file = Blocks.open(io(), Blocks.limits().with(policy))) {
            io = null; // closed with the block file
            Blocks.writeAll(file, 0, 1);
            Thread.currentThread().interrupt();
            DiskResult result = Blocks.write(file, 1);
            assertTrue(Thread.interrupted());
            assertTrue(result.isDone(), result.detail());
            Blocks.assertServed(file, 1);
        }
    }

    @Test
    void theSpaceOfANewSegmentIsReserved() throws IOException {
        if (io().reservesSpace()) {
            long before = io().usableBytes();
            io().create(1, 64L << 20).close();
            // Others write to this disk, too: half of it is proof enough that the file is not sparse.
            assertTrue(before - io().usableBytes() > 32L << 20, "usable before " + before + ", after " + io().usableBytes());
        }
    }
}
