/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static io.tierlog.agent.disk.Blocks.assertReason;
import static io.tierlog.agent.disk.Blocks.assertServed;
import static io.tierlog.agent.disk.Blocks.drop;
import static io.tierlog.agent.disk.Blocks.read;
import static io.tierlog.agent.disk.Blocks.write;
import static io.tierlog.agent.disk.Blocks.writeAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.disk.FaultySegmentIo.Fault;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * What a disk can suffer, each by name. A block is written by two writes: its bytes first, then its header.
 */
class DiskFailureTest {
    private final SegmentIo disk = Blocks.memory();
    private final FaultySegmentIo io = new FaultySegmentIo(disk);

    @SuppressWarnings("NullAway.Init")
    private BlockFile file;

    @BeforeEach
    void open() throws IOException {
        file = Blocks.open(io);
    }

    @AfterEach
    void close() {
        file.close();
    }

    // --- short write never readable

    @Test
    void aShortWriteIsCompleted() {
        io.inject(Fault.SHORT_WRITE, Fault.SHORT_WRITE);
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status());
        assertServed(file, 1);
    }

    @Test
    void aShortWriteThatCannotBeCompletedIsNeverReadable() throws IOException {
        io.inject(Fault.SHORT_WRITE, Fault.WRITE_ERROR);
        assertReason(OperationReason.IO, write(file, 1));
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        restart();
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
    }

    @Test
    void aShortWriteThatIsCalledWholeIsFoundByTheReadAndNotServedAgain() throws IOException {
        io.inject(Fault.LOST_TAIL);
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status(), "the loss is not visible yet");
        assertReason(OperationReason.CHECKSUM, read(file, 1));
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        restart();
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status());
        assertServed(file, 1);
    }

    // --- the order: bytes, header, index

    @Test
    void aHeaderIsWrittenOnlyWhenTheBytesAreDown() throws IOException {
        // The second write is the header's: when it fails, the bytes are there and the block is not.
        io.inject(Fault.NONE_WRITE, Fault.WRITE_ERROR);
        assertReason(OperationReason.IO, write(file, 1));
        MemorySegment bytes = Blocks.page();
        try (SegmentFile segment = disk.open(1)) {
            assertEquals(Blocks.BLOCK, segment.read(bytes, RecordHeader.BYTES));
        }
        assertArrayEquals(Blocks.bytes(Blocks.content(1, Blocks.BLOCK)), Blocks.bytes(bytes));
        assertFalse(file.holds(Blocks.MODEL, Blocks.key(1)));
        restart();
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertEquals(0, file.status().blocks());
    }

    @ParameterizedTest
    @EnumSource(value = Fault.class, mode = Mode.INCLUDE, names = {"TORN_WRITE", "WRITE_ERROR", "NO_SPACE"})
    void aFailedWriteOfBytesLeavesNoHeader(Fault fault) throws IOException {
        io.inject(fault);
        write(file, 1);
        writeAll(file, 2, 4);
        restart();
        assertEquals(2, file.status().blocks());
        assertServed(file, 2);
        assertServed(file, 3);
    }

    // --- the same key twice

    @Test
    void theSameKeyTwiceInOneBatchIsWrittenOnce() {
        MemorySegment other = Blocks.content(77, Blocks.BLOCK);
        BlockWrite second = new BlockWrite(Blocks.key(1), Blocks.position(1), List.of(other), Checksums.crc32c(other));
        List<DiskResult> results = file.write(Blocks.MODEL, List.of(Blocks.block(1), second, Blocks.block(2)));
        assertEquals(List.of(BlockStatus.ARRIVED, BlockStatus.ALREADY_THERE, BlockStatus.ARRIVED), statuses(results));
        assertEquals(results.get(0).generation(), results.get(1).generation());
        assertServed(file, 1);
        assertEquals(2 * Blocks.RECORD, file.status().liveBytes());
    }

    @Test
    void theSameKeyTwiceInOneBatchIsWrittenBySecondWhenTheFirstFails() {
        io.inject(Fault.WRITE_ERROR);
        List<DiskResult> results = file.write(Blocks.MODEL, List.of(Blocks.block(1), Blocks.block(1)));
        assertEquals(List.of(BlockStatus.FAILED, BlockStatus.ARRIVED), statuses(results));
        assertServed(file, 1);
    }

    @Test
    void twoBatchesThatCrossDoNotWaitForEachOther() throws Exception {
        // Each has its first block claimed when it comes to the other's: a thread that kept its claims and waited would wait for ever.
        CountDownLatch both = new CountDownLatch(2);
        io.beforeWrite(() -> {
            both.countDown();
            awaitQuietly(both);
        });
        FutureTask<List<DiskResult>> one = new FutureTask<>(() -> file.write(Blocks.MODEL, List.of(Blocks.block(1), Blocks.block(2))));
        FutureTask<List<DiskResult>> two = new FutureTask<>(() -> file.write(Blocks.MODEL, List.of(Blocks.block(2), Blocks.block(1))));
        Thread.ofPlatform().daemon().start(one);
        Thread.ofPlatform().daemon().start(two);
        List<DiskResult> all = new ArrayList<>(one.get(20, TimeUnit.SECONDS));
        all.addAll(two.get(20, TimeUnit.SECONDS));
        assertEquals(2, Collections.frequency(statuses(all), BlockStatus.ARRIVED));
        assertEquals(2, Collections.frequency(statuses(all), BlockStatus.ALREADY_THERE));
    }

    // --- a failed write, then another, then the first key again

    @Test
    void aFailedWriteThenAnotherThenTheFirstKeyAgain() throws IOException {
        io.inject(Fault.TORN_WRITE);
        assertReason(OperationReason.IO, write(file, 1));
        assertEquals(BlockStatus.ARRIVED, write(file, 2).status());
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status());
        assertServed(file, 1);
        assertServed(file, 2);
        restart();
        assertServed(file, 1);
        assertServed(file, 2);
    }

    // --- overwritten or reclaimed while it is read

    @Test
    void aSegmentThatIsReclaimedWhileItIsReadStaysUntilTheReadHasEnded() throws Exception {
        writeAll(file, 0, 5); // segment 1 is full, block 4 is in segment 2
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        holdFirstReader(inside, goOn);
        MemorySegment page = Blocks.page();
        FutureTask<DiskResult> reading = new FutureTask<>(() -> read(file, 0, page));
        Thread.ofPlatform().daemon().start(reading);
        awaitQuietly(inside);
        for (int seed = 0; seed < 4; seed++) {
            assertEquals(BlockStatus.GONE, drop(file, seed).status());
        }
        assertEquals(List.of(1L, 2L), disk.list(), "a reader is in segment 1");
        writeAll(file, 10, 20);
        goOn.countDown();
        // Its header has the mark of a drop now: the read may end with the right bytes or find that the block is gone, nothing else.
        DiskResult result = reading.get(20, TimeUnit.SECONDS);
        if (result.isDone()) {
            assertArrayEquals(Blocks.bytes(Blocks.content(0, Blocks.BLOCK)), Blocks.bytes(page));
        } else {
            assertReason(OperationReason.NOT_FOUND, result);
        }
        assertEquals(List.of(2L, 3L, 4L), disk.list(), "now it is gone");
        assertEquals(0, file.status().count(DiskCounter.CONDEMNED), "nothing was wrong with the block");
    }

    @Test
    void aBlockThatIsMovedWhileItIsReadIsReadWhereItIsNow() throws Exception {
        writeAll(file, 0, 5);
        drop(file, 1);
        drop(file, 2);
        drop(file, 3);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        holdFirstReader(inside, goOn);
        MemorySegment page = Blocks.page();
        FutureTask<DiskResult> reading = new FutureTask<>(() -> read(file, 0, page));
        Thread.ofPlatform().daemon().start(reading);
        awaitQuietly(inside);
        assertEquals(1, file.compact().blocks());
        assertEquals(List.of(1L, 2L), disk.list(), "a reader is in segment 1");
        goOn.countDown();
        assertEquals(BlockStatus.ARRIVED, reading.get(20, TimeUnit.SECONDS).status());
        assertArrayEquals(Blocks.bytes(Blocks.content(0, Blocks.BLOCK)), Blocks.bytes(page));
        assertEquals(List.of(2L), disk.list(), "now it is gone");
    }

    @Test
    void aWriteThatGoesElsewhereHarmsTheBlockThereAndIsNotServedItself() throws IOException {
        // Block 2's bytes go one block's length too early: over the end of block 1 and over its own header's place.
        writeAll(file, 1, 2);
        io.inject(Fault.MISDIRECTED);
        write(file, 2);
        assertReason(OperationReason.CHECKSUM, read(file, 1));
        assertReason(OperationReason.CHECKSUM, read(file, 2));
        writeAll(file, 3, 4);
        assertServed(file, 3);
        restart();
        assertServed(file, 3);
        assertEquals(1, file.status().blocks());
    }

    @Test
    void aHeaderAtAnotherPlaceIsNotAHeader() throws IOException {
        writeAll(file, 1, 2);
        io.inject(Fault.NONE_WRITE, Fault.MISDIRECTED); // block 2's header lands on the last page of block 1
        write(file, 2);
        assertReason(OperationReason.CHECKSUM, read(file, 2));
        assertReason(OperationReason.CHECKSUM, read(file, 1));
        restart();
        assertEquals(0, file.status().blocks());
    }

    // --- one flipped byte

    @Test
    void oneFlippedBitInTheBytesIsFound() throws IOException {
        io.inject(Fault.BIT_FLIP);
        write(file, 1);
        writeAll(file, 2, 3);
        assertReason(OperationReason.CHECKSUM, read(file, 1));
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertServed(file, 2);
        restart();
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertServed(file, 2);
    }

    @Test
    void everyFlippedByteOfABlockOnTheDiskIsFound() throws IOException {
        writeAll(file, 1, 2);
        file.close();
        for (int at = 0; at < Blocks.RECORD; at += 61) {
            flip(at);
            file = Blocks.open(io);
            assertFalse(read(file, 1).isDone(), "byte " + at);
            // What was condemned was marked, and a header that is not whole may have cost the segment: the next round starts over.
            file.close();
            rewriteRecord();
        }
        file = Blocks.open(io);
        assertServed(file, 1);
    }

    @Test
    void aReadThatComesBackWrongIsNotServed() {
        writeAll(file, 1, 2);
        io.inject(Fault.READ_BIT_FLIP);
        assertReason(OperationReason.CHECKSUM, read(file, 1));
        assertEquals(1, file.status().count(DiskCounter.CONDEMNED));
    }

    // --- interrupted and short reads and writes, within a bound

    @Test
    void interruptedReadsAndWritesAreRepeated() {
        io.inject(Fault.INTERRUPTED_WRITE, Fault.INTERRUPTED_WRITE, Fault.NONE_WRITE, Fault.INTERRUPTED_WRITE);
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status());
        io.inject(Fault.INTERRUPTED_READ, Fault.SHORT_READ, Fault.INTERRUPTED_READ, Fault.INTERRUPTED_READ);
        assertServed(file, 1);
    }

    @Test
    void interruptsWithoutEndAreAnError() {
        io.inject(Collections.nCopies(4, Fault.INTERRUPTED_WRITE).toArray(Fault[]::new)); // three retries are allowed
        assertReason(OperationReason.IO, write(file, 1));
        assertEquals(BlockStatus.ARRIVED, write(file, 1).status());
        io.inject(Collections.nCopies(4, Fault.INTERRUPTED_READ).toArray(Fault[]::new));
        assertReason(OperationReason.IO, read(file, 1));
        assertServed(file, 1);
    }

    // --- errors and a full disk

    @Test
    void aReadErrorIsTypedAndTheBlockStays() {
        writeAll(file, 1, 2);
        io.inject(Fault.READ_ERROR);
        assertReason(OperationReason.IO, read(file, 1));
        assertServed(file, 1);
    }

    @Test
    void aFullDiskIsTypedAndUsesUpNoPlaces() throws IOException {
        writeAll(file, 1, 2);
        for (int i = 0; i < 50; i++) {
            io.inject(Fault.NO_SPACE);
            assertReason(OperationReason.NO_ROOM, write(file, 2));
        }
        assertEquals(List.of(1L), disk.list(), "a refused block takes no place in a segment");
        assertEquals(50, file.status().count(DiskCounter.REFUSED_NO_ROOM));
        writeAll(file, 2, 5);
        for (int seed = 1; seed < 5; seed++) {
            assertServed(file, seed);
        }
        assertEquals(List.of(1L), disk.list());
    }

    @Test
    void aBlockWhoseForceFailsIsNotServedAndItsSegmentIsNotWrittenToAgain() throws IOException {
        file.close();
        file = Blocks.open(io, Blocks.limits().with(ForcePolicy.PER_BATCH));
        writeAll(file, 1, 2);
        io.inject(Fault.FORCE_FAILS);
        List<DiskResult> results = file.write(Blocks.MODEL, List.of(Blocks.block(2), Blocks.block(3)));
        results.forEach(result -> assertReason(OperationReason.IO, result));
        assertReason(OperationReason.NOT_FOUND, read(file, 2));
        assertServed(file, 1);
        writeAll(file, 2, 3);
        assertEquals(2, disk.list().size(), "a new segment, although the first had a place left");
        writeAll(file, 3, 4);
        restart();
        for (int seed = 1; seed < 4; seed++) {
            assertServed(file, seed);
        }
    }

    // --- gather list

    @Test
    void aBlockOf1025PiecesIsWrittenAndReadAsOne() throws IOException {
        file.close();
        file = Blocks.open(io, Blocks.limits().with(new DiskLimits.Blocks(10, 1_025 * 24, 200, 1)));
        List<MemorySegment> from = pieces();
        List<MemorySegment> into = pieces();
        for (int i = 0; i < from.size(); i++) {
            from.get(i).copyFrom(Blocks.content(i, 24));
        }
        assertEquals(BlockStatus.ARRIVED, file.write(Blocks.MODEL, List.of(Blocks.block(1, from))).getFirst().status());
        DiskResult result = file.read(Blocks.MODEL, List.of(new BlockRead(Blocks.key(1), 0, into))).getFirst();
        assertEquals(BlockStatus.ARRIVED, result.status(), result.detail());
        for (int i = 0; i < from.size(); i++) {
            assertArrayEquals(Blocks.bytes(Blocks.content(i, 24)), Blocks.bytes(into.get(i)), "piece " + i);
        }
    }

    // --- restart

    @Test
    void aRestartFindsWhatWasHeldAndNamesItWhole() throws IOException {
        writeAll(file, 0, 9);
        long generation = read(file, 3).generation();
        drop(file, 5);
        restart();
        assertEquals(8, file.recovered().blocks());
        assertReason(OperationReason.NOT_FOUND, read(file, 5));
        List<HeldBlock> held = new ArrayList<>();
        BlockFile.Cursor at = BlockFile.Cursor.START;
        while (at != null) {
            BlockFile.HeldPage page = file.held(at, 2);
            assertTrue(page.blocks().size() <= 2);
            held.addAll(page.blocks());
            at = page.next().orElse(null);
        }
        assertEquals(8, held.size());
        HeldBlock third = held.get(3);
        assertEquals(new HeldBlock("model", Blocks.key(3), generation, Blocks.BLOCK, Blocks.block(3).crc32c(), Blocks.position(3)), third);
        DiskResult next = write(file, 5);
        assertTrue(next.generation() > generation + 100, "a generation is never given twice, not even to a block that left no trace");
    }

    @Test
    void aSourceThatHasChangedIsNotWritten() {
        MemorySegment page = Blocks.content(1, Blocks.BLOCK);
        BlockWrite block = new BlockWrite(Blocks.key(1), Blocks.position(1), List.of(page), Checksums.crc32c(page) + 1);
        assertReason(OperationReason.CHECKSUM, file.write(Blocks.MODEL, List.of(block)).getFirst());
        assertReason(OperationReason.NOT_FOUND, read(file, 1));
        assertNotNull(file.description());
    }

    private void restart() throws IOException {
        file.close();
        file = Blocks.open(io);
    }

    private void holdFirstReader(CountDownLatch inside, CountDownLatch goOn) {
        AtomicBoolean first = new AtomicBoolean(true);
        io.beforeRead(() -> {
            if (first.getAndSet(false)) {
                inside.countDown();
                awaitQuietly(goOn);
            }
        });
    }

    private void flip(long at) throws IOException {
        try (SegmentFile segment = disk.open(1)) {
            MemorySegment page = Arena.ofAuto().allocate(Blocks.RECORD, Blocks.ALIGN);
            segment.read(page, 0);
            page.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at, (byte) ~page.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at));
            segment.write(page, 0);
        }
    }

    /** Puts block 1 as the only block of segment 1 again, whatever has become of it. */
    private void rewriteRecord() throws IOException {
        for (long number : disk.list()) {
            disk.delete(number);
        }
        file = Blocks.open(io);
        writeAll(file, 1, 2);
        file.close();
    }

    private static List<MemorySegment> pieces() {
        List<MemorySegment> pieces = new ArrayList<>();
        for (int i = 0; i < 1_025; i++) {
            pieces.add(Arena.ofAuto().allocate(24, 8));
        }
        return pieces;
    }

    private static List<BlockStatus> statuses(List<DiskResult> results) {
        return results.stream().map(DiskResult::status).toList();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
