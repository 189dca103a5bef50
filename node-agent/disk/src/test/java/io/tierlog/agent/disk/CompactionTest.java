/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static io.tierlog.agent.disk.Blocks.assertReason;
import static io.tierlog.agent.disk.Blocks.assertServed;
import static io.tierlog.agent.disk.Blocks.drop;
import static io.tierlog.agent.disk.Blocks.read;
import static io.tierlog.agent.disk.Blocks.write;
import static io.tierlog.agent.disk.Blocks.writeAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.disk.BlockFile.CompactionStep;
import io.tierlog.agent.disk.DiskLimits.Compaction;
import io.tierlog.agent.disk.DiskLimits.Space;
import io.tierlog.agent.disk.FaultySegmentIo.Fault;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How space comes back: segments of four blocks, ten of them, one kept for compaction. */
class CompactionTest {
    private final MemorySegmentIo disk = new MemorySegmentIo(Blocks.ALIGN, 1L << 30);
    private final FaultySegmentIo io = new FaultySegmentIo(disk);
    private BlockFile file = open(Blocks.limits());

    @AfterEach
    void close() {
        file.close();
    }

    @Test
    void aSegmentGoesWithItsLastBlockAndItsNeighboursStay() {
        writeAll(file, 0, 12);
        for (int seed = 4; seed < 8; seed++) {
            assertEquals(List.of(1L, 2L, 3L), disk.list());
            drop(file, seed);
        }
        assertEquals(List.of(1L, 3L), disk.list());
        for (int seed : new int[] {0, 1, 2, 3, 8, 9, 10, 11}) {
            assertServed(file, seed);
        }
    }

    @Test
    void theTierIsFullWhenOnlyTheSegmentForCompactionIsLeftAndTakesBlocksAgainWhenSomeWereDropped() {
        writeAll(file, 0, 36);
        DiskResult full = write(file, 36);
        assertReason(OperationReason.NO_ROOM, full);
        assertTrue(full.detail().contains("drop blocks"), full.detail());
        // One of each of four segments: 4 * 1 places dead, in no segment enough for it to go.
        for (int seed = 0; seed < 16; seed += 4) {
            drop(file, seed);
        }
        assertReason(OperationReason.NO_ROOM, write(file, 36));
        compactAll();
        writeAll(file, 36, 40);
        for (int seed = 0; seed < 40; seed++) {
            if (seed >= 16 || seed % 4 != 0) {
                assertServed(file, seed);
            }
        }
        assertTrue(file.status().fileBytes() <= 10L * Blocks.SEGMENT);
    }

    /** Nine segments are full, and four of them have one dropped block each: the tenth is what compaction has. A step copies one block. */
    @Test
    void writersLeaveCompactionItsSegment() {
        file.close();
        file = open(Blocks.limits().with(new Compaction(60, 1)));
        writeAll(file, 0, 36);
        for (int seed = 0; seed < 16; seed += 4) {
            drop(file, seed);
        }
        assertEquals(1, file.compact().blocks());
        assertReason(OperationReason.NO_ROOM, write(file, 100));
        compactAll();
        // Four blocks were dropped: a segment.
        writeAll(file, 36, 40);
        for (int seed = 0; seed < 40; seed++) {
            if (seed >= 16 || seed % 4 != 0) {
                assertServed(file, seed);
            }
        }
    }

    /** A restart with half of the size: nine segments with one block each, where five may be. */
    @Test
    void aTierThatIsTooLargeNowIsCompacted() {
        writeAll(file, 0, 36);
        for (int seed = 0; seed < 36; seed++) {
            if (seed % 4 != 0) {
                drop(file, seed);
            }
        }
        file.close();
        file = open(Blocks.limits().with(new Space(5L * Blocks.SEGMENT, 0, Blocks.SEGMENT, Blocks.ALIGN)));
        assertReason(OperationReason.NO_ROOM, write(file, 100));
        compactAll();
        assertTrue(file.status().fileBytes() <= 4L * Blocks.SEGMENT, () -> file.status().toString());
        write(file, 36);
        for (int seed = 0; seed <= 36; seed += 4) {
            assertServed(file, seed);
        }
    }

    @Test
    void aStepCopiesNoMoreThanItMay() {
        writeAll(file, 0, 5);
        drop(file, 0);
        drop(file, 1);
        drop(file, 2);
        assertTrue(file.wantsCompaction());
        assertEquals(new CompactionStep(1, Blocks.RECORD, false), file.compact());
        assertEquals(List.of(2L), disk.list());
        file.close();
        // Three quarters live count as sparse now, and a step copies one block.
        file = open(Blocks.limits().with(new Compaction(80, 1)));
        writeAll(file, 10, 15);
        drop(file, 10);
        assertEquals(new CompactionStep(1, Blocks.RECORD, true), file.compact());
        assertEquals(new CompactionStep(1, Blocks.RECORD, true), file.compact());
        assertServed(file, 12);
        compactAll();
        for (int seed : new int[] {3, 4, 11, 12, 13, 14}) {
            assertServed(file, seed);
        }
    }

    @Test
    void aCopyKeepsItsGenerationAndARestartFindsItOnce() throws IOException {
        writeAll(file, 0, 5);
        long generation = read(file, 3).generation();
        drop(file, 0);
        drop(file, 1);
        drop(file, 2);
        compactAll();
        assertEquals(generation, read(file, 3).generation());
        file.close();
        file = open(Blocks.limits());
        assertEquals(2, file.recovered().blocks());
        assertEquals(0, file.recovered().superseded());
        assertEquals(generation, read(file, 3).generation());
        assertServed(file, 3);
    }

    @Test
    void ofTwoCopiesAfterACrashOneCountsAndTheOtherNeverComesBack() throws IOException {
        file.close();
        file = open(Blocks.limits().with(new Compaction(60, 1))); // a step copies one block
        writeAll(file, 0, 5);
        drop(file, 1);
        drop(file, 2);
        // Block 0 is copied, the mark on the original fails, block 3 keeps the segment, and then the process is gone.
        io.inject(Fault.NONE_WRITE, Fault.NONE_WRITE, Fault.WRITE_ERROR);
        assertEquals(1, file.compact().blocks());
        assertEquals(1, file.status().count(DiskCounter.MARKS_FAILED));
        assertEquals(List.of(1L, 2L), disk.list());
        try (BlockFile next = Blocks.open(disk)) {
            assertEquals(3, next.recovered().blocks());
            assertEquals(1, next.recovered().superseded());
            assertServed(next, 0);
            drop(next, 0);
        }
        try (BlockFile afterThat = Blocks.open(disk)) {
            assertReason(OperationReason.NOT_FOUND, read(afterThat, 0));
            assertServed(afterThat, 3);
            assertServed(afterThat, 4);
        }
    }

    @Test
    void aBlockThatIsWrongIsNotCopied() {
        io.inject(Fault.BIT_FLIP);
        write(file, 0);
        writeAll(file, 1, 5);
        drop(file, 1);
        drop(file, 2);
        drop(file, 3);
        assertEquals(0, file.compact().blocks());
        assertEquals(1, file.status().count(DiskCounter.CONDEMNED));
        assertReason(OperationReason.NOT_FOUND, read(file, 0));
        assertEquals(List.of(2L), disk.list());
    }

    @Test
    void whenACopyFailsTheOriginalsStay() {
        writeAll(file, 0, 5);
        drop(file, 0);
        drop(file, 1);
        file.close();
        file = open(Blocks.limits().with(new Compaction(60, 1L << 20)));
        io.inject(Fault.NONE_WRITE, Fault.NONE_WRITE, Fault.WRITE_ERROR);
        file.compact();
        for (int seed = 2; seed < 5; seed++) {
            assertServed(file, seed);
        }
        compactAll();
        for (int seed = 2; seed < 5; seed++) {
            assertServed(file, seed);
        }
    }

    @Test
    void whatWasForcedIsForcedAgainBeforeItsSegmentGoes() throws IOException {
        file.close();
        file = open(Blocks.limits().with(ForcePolicy.PER_SEGMENT));
        writeAll(file, 0, 5); // segment 1 is full and forced; block 4 is not
        drop(file, 0);
        drop(file, 1);
        drop(file, 2);
        compactAll();
        assertFalse(disk.list().contains(1L));
        disk.crash(new Random(3));
        BlockFile after = Blocks.open(disk);
        assertServed(after, 3);
        after.close();
    }

    @Test
    void freeBytesOfTheFileSystemAreLeftAlone() throws IOException {
        MemorySegmentIo small = new MemorySegmentIo(Blocks.ALIGN, 3L * Blocks.SEGMENT);
        Space space = new Space(10L * Blocks.SEGMENT, Blocks.SEGMENT, Blocks.SEGMENT, Blocks.ALIGN);
        try (BlockFile tier = Blocks.open(small, Blocks.limits().with(space))) {
            writeAll(tier, 0, 8);
            assertReason(OperationReason.NO_ROOM, write(tier, 8));
            assertEquals(Blocks.SEGMENT, small.usableBytes());
            for (int seed = 0; seed < 8; seed++) {
                assertServed(tier, seed);
            }
        }
    }

    private void compactAll() {
        int steps = 0;
        while (file.compact().more()) {
            steps++;
            assertTrue(steps < 1_000, "compaction comes to an end");
        }
    }

    private BlockFile open(DiskLimits limits) {
        try {
            return Blocks.open(io, limits);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
