/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DiskTransfers.DiskObject;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.disk.DiskLimits.Work;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Units between 24 host pages and a tier: 2 readers, 1 writer, capacity for 12 blocks or 10 of their bytes, pieces of 4 blocks when forced. */
class DiskWorkersTest {
    private static final int PAGES = 24;

    private final MemorySegment slab = Arena.ofAuto().allocate((long) PAGES * Blocks.BLOCK, Blocks.ALIGN);
    private final LinkedBlockingQueue<AgentInput> ended = new LinkedBlockingQueue<>();
    private final List<DiskUnitEnded> received = new ArrayList<>();
    private final FaultySegmentIo io = new FaultySegmentIo(Blocks.memory());

    @SuppressWarnings("NullAway.Init")
    private BlockFile file;

    @SuppressWarnings("NullAway.Init")
    private DiskWorkers workers;

    @BeforeEach
    void open() throws IOException {
        file = Blocks.open(io, Blocks.limits().with(new Work(2, 1, 12, 10L * Blocks.BLOCK, 4, 3)));
        workers = new DiskWorkers("test", file, this::page, ended::add);
        for (int i = 0; i < PAGES; i++) {
            page(i).copyFrom(Blocks.content(i, Blocks.BLOCK));
        }
    }

    @AfterEach
    void close() {
        workers.close();
        file.close();
    }

    @Test
    void whatIsWrittenIsReadBackInTheOrderOfTheUnit() throws Exception {
        workers.write(1, "model", writes(0, 10));
        DiskUnitEnded written = await(1);
        assertEquals(10, written.results().size());
        List<PageRead> reads = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            UnitResult result = written.results().get(i);
            assertEquals(BlockStatus.ARRIVED, result.status());
            assertEquals(Blocks.block(i).crc32c(), result.crc32c());
            reads.add(new PageRead(Blocks.key(i), result.generation(), 10 + i));
        }
        workers.read(2, "model", reads);
        assertEquals(written.results(), await(2).results(), "the same checksums and generations");
        for (int i = 0; i < 10; i++) {
            assertArrayEquals(Blocks.bytes(Blocks.content(i, Blocks.BLOCK)), Blocks.bytes(page(10 + i)));
        }
        workers.read(3, "other", reads.subList(0, 1));
        assertEquals(OperationReason.NOT_FOUND, await(3).results().getFirst().reason(), "in another namespace it is another block");
        workers.read(4, "model", List.of(new PageRead(Blocks.key(0), 999, 0)));
        assertEquals(OperationReason.STALE_GENERATION, await(4).results().getFirst().reason());
        workers.drop(5, "model", List.of(new DiskObject(Blocks.key(0), 999), new DiskObject(Blocks.key(1), 0)));
        assertEquals(List.of(OperationReason.STALE_GENERATION, OperationReason.COMPLETED), reasons(5));
        workers.read(6, "model", reads.subList(0, 2));
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.NOT_FOUND), reasons(6));
    }

    @Test
    void aPageThatChangedIsNotWritten() throws Exception {
        page(1).fill((byte) 7);
        workers.write(1, "model", writes(0, 3));
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.CHECKSUM, OperationReason.COMPLETED), reasons(1));
    }

    @Test
    void aUnitOfNothingEndsAtOnce() throws Exception {
        workers.write(1, "model", List.of());
        workers.read(2, "model", List.of());
        workers.drop(3, "model", List.of());
        for (int unit = 1; unit <= 3; unit++) {
            assertEquals(List.of(), await(unit).results());
        }
    }

    @Test
    void aQueueFullOfBytesOrOfBlocksIsATypedAnswerForTheWholeUnit() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        holdWriter(inside, goOn);
        workers.write(1, "model", writes(0, 9));
        awaitLatch(inside);
        workers.write(2, "model", writes(9, 11)); // 9 + 2 of 10 blocks' bytes
        assertEquals(List.of(OperationReason.QUEUE_FULL, OperationReason.QUEUE_FULL), reasons(2));
        workers.drop(3, "model", drops(0, 4)); // 9 + 4 of 12 blocks
        assertEquals(4, await(3).results().stream().filter(result -> result.reason() == OperationReason.QUEUE_FULL).count());
        workers.drop(4, "model", drops(20, 23)); // 9 + 3 of 12 blocks
        workers.read(5, "model", List.of(new PageRead(Blocks.key(20), 0, 0)));
        assertEquals(List.of(OperationReason.NOT_FOUND), reasons(5), "reads have a queue of their own");
        assertEquals(6, file.status().count(DiskCounter.REFUSED_QUEUE_FULL));
        assertTrue(received.stream().noneMatch(end -> end.unit() == 1 || end.unit() == 4), "they still wait");
        goOn.countDown();
        assertEquals(9, await(1).results().stream().filter(result -> result.status() == BlockStatus.ARRIVED).count());
        await(4);
        workers.write(6, "model", writes(9, 19));
        assertEquals(10, await(6).results().stream().filter(result -> result.status() == BlockStatus.ARRIVED).count(), "there is capacity again");
    }

    @Test
    void anEndAnswersEveryUnitOnce() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        holdWriter(inside, goOn);
        workers.write(1, "model", writes(0, 3));
        workers.write(2, "model", writes(3, 5));
        awaitLatch(inside);
        Thread closer = Thread.ofPlatform().start(workers::close);
        assertEquals(List.of(OperationReason.CANCELLED, OperationReason.CANCELLED), reasons(2));
        goOn.countDown();
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.CANCELLED, OperationReason.CANCELLED), reasons(1),
                "the piece under way ends");
        closer.join();
        workers.write(3, "model", writes(5, 6));
        assertEquals(List.of(OperationReason.QUEUE_FULL), reasons(3), "after the end nothing is taken");
        assertEquals(3, received.size());
        assertEquals(0, ended.size());
    }

    @Test
    void compactionComesByItselfWhenSpaceIsToBeHad() throws Exception {
        workers.write(1, "model", writes(0, 5));
        await(1);
        workers.drop(2, "model", drops(0, 3));
        await(2);
        // The next units stand behind the step of compaction: one writer.
        for (int unit = 3; file.status().count(DiskCounter.BLOCKS_COMPACTED) == 0; unit++) {
            workers.drop(unit, "model", drops(20, 21));
            await(unit);
            assertTrue(unit < 100, "no step of compaction");
        }
        // The step counts before its segment goes; behind it, all of it has been done.
        workers.drop(100, "model", drops(20, 21));
        await(100);
        assertEquals(1, file.status().count(DiskCounter.BLOCKS_COMPACTED));
        assertEquals(1, file.status().segments());
        Blocks.assertServed(file, 3);
        Blocks.assertServed(file, 4);
    }

    @Test
    void aBatchIsForcedOncePerPiece() throws Exception {
        workers.close();
        file.close();
        file = Blocks.open(io, Blocks.limits().with(new Work(2, 1, 12, 100L * Blocks.BLOCK, 4, 3)).with(ForcePolicy.PER_BATCH));
        workers = new DiskWorkers("test", file, this::page, ended::add);
        workers.write(1, "model", writes(0, 8)); // two pieces of four, each a segment of its own
        assertEquals(8, await(1).results().stream().filter(result -> result.status() == BlockStatus.ARRIVED).count());
        // Each piece is one force, and the first segment is forced when it is full, too.
        assertEquals(3, file.status().count(DiskCounter.FORCES));
    }

    private MemorySegment page(int page) {
        return slab.asSlice((long) page * Blocks.BLOCK, Blocks.BLOCK);
    }

    /** Block i from page i. */
    private static List<PageWrite> writes(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> new PageWrite(
                        Blocks.key(i), i, Blocks.position(i).parent(), Blocks.ROOT, i, Blocks.block(i).crc32c()))
                .toList();
    }

    private static List<DiskObject> drops(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> new DiskObject(Blocks.key(i), 0)).toList();
    }

    private void holdWriter(CountDownLatch inside, CountDownLatch goOn) {
        io.beforeWrite(() -> {
            inside.countDown();
            awaitLatch(goOn);
        });
    }

    private List<OperationReason> reasons(long unit) throws InterruptedException {
        return await(unit).results().stream().map(UnitResult::reason).toList();
    }

    private DiskUnitEnded await(long unit) throws InterruptedException {
        for (int i = 0; i < received.size(); i++) {
            if (received.get(i).unit() == unit) {
                return received.get(i);
            }
        }
        while (true) {
            AgentInput input = ended.poll(20, TimeUnit.SECONDS);
            if (!(input instanceof DiskUnitEnded end)) {
                throw new AssertionError("unit " + unit + " has not ended, but " + input);
            }
            received.add(end);
            if (end.unit() == unit) {
                return end;
            }
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
