/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.store.FaultyStore.Fault;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.threads.LoggedLines;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Units between 20 host pages of 500 bytes and a store: pieces of 3 objects, 2 probers, 2 readers, 1 writer, space for 26 objects or 25 of their
 * bytes.
 */
class StoreWorkersTest {
    private static final int PAGES = 20;
    private static final int BLOCK = 500;

    private final List<AgentInput> ended = new CopyOnWriteArrayList<>();
    private final HostPool host = HostPool.allocate(PAGES, BLOCK);
    private final FaultyStore store = new FaultyStore(new MemoryObjects().store());
    /** What a probe waits for, as at a store that hangs on probes alone. */
    private final Semaphore probes = new Semaphore(1_000_000);
    private final AtomicInteger waiting = new AtomicInteger();
    private final SharedStore slow = new SharedStore() {
        @Override
        public Presence probe(ObjectName name) {
            waiting.incrementAndGet();
            probes.acquireUninterruptibly();
            waiting.decrementAndGet();
            return store.probe(name);
        }

        @Override
        public Presence check(ObjectName name, int bytes) {
            return store.check(name, bytes);
        }

        @Override
        public Result read(ObjectName name, ByteBuffer into) {
            return store.read(name, into);
        }

        @Override
        public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
            return store.write(name, bytes, crc32c);
        }

        @Override
        public Result delete(ObjectName name, long generation) {
            return store.delete(name, generation);
        }

        @Override
        public long wrongObjects() {
            return store.wrongObjects();
        }

        @Override
        public void close() {
            store.close();
        }
    };
    private final StoreWorkers workers = new StoreWorkers("test", slow, host, new StoreWorkers.Limits(2, 2, 1, 26, 25 * BLOCK, 3), ended::add);

    @AfterEach
    void close() {
        probes.release(1_000_000);
        store.gate().resume();
        workers.close();
        host.close();
    }

    @Test
    void whatIsWrittenIsProbedAndReadBackInTheOrderOfTheUnit() {
        fill(10);
        int[] before = checksums(10);
        workers.write(1, "model", objects(0, 10, before));
        assertEquals(IntStream.of(before).mapToObj(StoreWorkersTest::arrived).toList(), unit(1).results());
        workers.probe(2, "model", keys(12));
        assertEquals(new StoreProbed(2, 10, true), await(2));
        workers.probe(3, "other", keys(12));
        assertEquals(new StoreProbed(3, 0, true), await(3));
        // Object i comes back into page 10 + i.
        workers.read(4, "model", IntStream.range(0, 10).mapToObj(i -> new PageObject(key(i), 10 + i, 0)).toList());
        assertEquals(IntStream.of(before).mapToObj(StoreWorkersTest::arrived).toList(), unit(4).results());
        for (int i = 0; i < 10; i++) {
            assertEquals(before[i], host.crc32c(10 + i));
        }
    }

    @Test
    void aPageThatChangedIsNotWritten() {
        fill(2);
        int[] crc = checksums(2);
        host.buffer(1).put(0, (byte) ~host.buffer(1).get(0));
        workers.write(1, "model", objects(0, 2, crc));
        assertEquals(List.of(BlockStatus.ARRIVED, BlockStatus.FAILED), unit(1).results().stream().map(UnitResult::status).toList());
        assertEquals(OperationReason.CHECKSUM, unit(1).results().get(1).reason());
        workers.probe(2, "model", keys(2));
        assertEquals(new StoreProbed(2, 1, true), await(2));
    }

    @Test
    void aFullQueueIsATypedAnswerForTheWholeUnit() {
        fill(PAGES);
        store.gate().pauseAfter(0);
        // The one writer takes the first piece and stands: 3 objects, then 20 more are taken, and 3 more are too many bytes (26 of 25).
        workers.write(1, "model", objects(0, 3, checksums(PAGES)));
        Eventually.await("the writer stands", () -> store.gate().holds());
        workers.write(2, "model", objects(0, 20, checksums(PAGES)));
        workers.write(3, "model", objects(0, 3, checksums(PAGES)));
        assertEquals(3, unit(3).results().size());
        assertTrue(unit(3).results().stream().allMatch(result -> result.reason() == OperationReason.QUEUE_FULL));
        assertEquals(1, ended.size(), "nothing else has ended");
        store.gate().resume();
        assertEquals(20, unit(2).results().size());
    }

    @Test
    void anEndAnswersEveryUnitOnce() throws InterruptedException {
        fill(PAGES);
        store.gate().pauseAfter(1);
        workers.write(1, "model", objects(0, 7, checksums(PAGES)));
        workers.write(2, "model", objects(7, 12, checksums(PAGES)));
        Eventually.await("the writer stands", () -> store.gate().holds());
        Thread closer = Thread.ofPlatform().start(workers::close);
        // The piece under way ends as a whole: 3 objects; the other 4 and 5 are cancelled.
        Eventually.await("unit 2 is cancelled", () -> ended.size() == 1);
        store.gate().resume();
        closer.join();
        assertEquals(List.of(3L, 4L), List.of(count(1, BlockStatus.ARRIVED), count(1, BlockStatus.FAILED)));
        assertEquals(5L, count(2, BlockStatus.FAILED));
        assertEquals(2, ended.size());
        workers.probe(3, "model", keys(1));
        assertEquals(new StoreProbed(3, 0, false), await(3), "after the end nothing can be asked");
    }

    @Test
    void aStoreThatDoesNotAnswerHasItsOwnReason() {
        store.inject(Fault.UNREACHABLE);
        workers.probe(1, "model", keys(3));
        assertEquals(new StoreProbed(1, 0, false), await(1));
        fill(1);
        try (LoggedLines lines = new LoggedLines(StoreWorkers.class)) {
            store.inject(Fault.UNREACHABLE);
            workers.write(2, "model", objects(0, 1, checksums(1)));
            assertEquals(OperationReason.STORE_UNAVAILABLE, unit(2).results().getFirst().reason());
            assertEquals(1, lines.with("store: "), lines::toString);
        }
        workers.read(3, "model", objects(0, 1, new int[1]));
        assertEquals(OperationReason.NOT_FOUND, unit(3).results().getFirst().reason());
    }

    @Test
    void probesThatHangHoldUpNoRead() {
        fill(10);
        workers.write(1, "model", objects(0, 10, checksums(10)));
        assertEquals(10, unit(1).results().size());
        probes.drainPermits();
        workers.probe(2, "model", keys(10));
        workers.probe(3, "model", keys(10));
        Eventually.await("both threads of probes hang", () -> waiting.get() == 2);
        workers.read(4, "model", IntStream.range(0, 10).mapToObj(i -> new PageObject(key(i), 10 + i, 0)).toList());
        assertEquals(10, count(4, BlockStatus.ARRIVED));
        assertEquals(2, ended.size(), "the probes still hang");
        probes.release(1_000);
        assertEquals(new StoreProbed(2, 10, true), await(2));
        assertEquals(new StoreProbed(3, 10, true), await(3));
    }

    @Test
    void aProbeIsMadeInPiecesSideBySide() {
        fill(6);
        workers.write(1, "model", objects(0, 6, checksums(6)));
        assertEquals(6, unit(1).results().size());
        probes.drainPermits();
        workers.probe(2, "model", keys(6));
        Eventually.await("two pieces of one probe are under way", () -> waiting.get() == 2);
        probes.release(1_000);
        assertEquals(new StoreProbed(2, 6, true), await(2));
    }

    @Test
    void aProbeThatIsCancelledAsksNoFurther() {
        fill(9);
        workers.write(1, "model", objects(0, 9, checksums(9)));
        assertEquals(9, unit(1).results().size());
        probes.drainPermits();
        workers.probe(2, "model", keys(9));
        Eventually.await("it is under way", () -> waiting.get() == 2);
        workers.cancelProbe(2);
        probes.release(2);
        assertEquals(new StoreProbed(2, 0, false), await(2), "it ends with the two calls that were under way");
        assertEquals(0, probes.availablePermits());
        workers.cancelProbe(2);
        workers.cancelProbe(77);
    }

    /** A store of whose objects some are gone: a gap in the first piece, in a later one, and at a border. */
    @Test
    void theFirstGapIsTheAnswerWhereverItIs() {
        fill(12);
        int[] crc = checksums(12);
        List<PageObject> all = objects(0, 12, crc);
        for (int gap = 0; gap < 12; gap++) {
            String namespace = "model-" + gap;
            int missing = gap;
            workers.write(100 + gap, namespace, all.stream().filter(object -> object.hostPage() != missing).toList());
            assertEquals(11, unit(100 + gap).results().size());
            workers.probe(200 + gap, namespace, keys(12));
            assertEquals(new StoreProbed(200 + gap, gap, true), await(200 + gap));
        }
    }

    private long count(long unit, BlockStatus status) {
        return unit(unit).results().stream().filter(result -> result.status() == status).count();
    }

    private void fill(int pages) {
        for (int page = 0; page < pages; page++) {
            byte[] bytes = new byte[BLOCK];
            new Random(page).nextBytes(bytes);
            host.buffer(page).put(bytes);
        }
    }

    private int[] checksums(int pages) {
        return IntStream.range(0, pages).map(host::crc32c).toArray();
    }

    /** Objects {@code from .. to - 1}, object i in page i. */
    private static List<PageObject> objects(int from, int to, int[] crc) {
        return IntStream.range(from, to).mapToObj(i -> new PageObject(key(i), i, crc[i])).toList();
    }

    private static List<Bytes> keys(int count) {
        return IntStream.range(0, count).mapToObj(StoreWorkersTest::key).toList();
    }

    private static Bytes key(int i) {
        return Bytes.ofHex("%016x".formatted(i));
    }

    private static UnitResult arrived(int crc) {
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc, 1);
    }

    private StoreUnitEnded unit(long unit) {
        return (StoreUnitEnded) await(unit);
    }

    private AgentInput await(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(input -> unitOf(input) == unit));
        return ended.stream().filter(input -> unitOf(input) == unit).findFirst().orElseThrow();
    }

    private static long unitOf(AgentInput input) {
        return switch (input) {
            case StoreProbed probed -> probed.unit();
            case StoreUnitEnded end -> end.unit();
            default -> throw new AssertionError("not from the store: " + input);
        };
    }
}
