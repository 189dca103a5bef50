/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static io.tierlog.agent.app.store.StoreContractTest.name;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.store.FaultyStore.Fault;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Deletes of a unit: what each ends with, and whether those behind it are tried. Objects 1 to 5 are there, as generation 1; one writer, space for 6
 * objects.
 */
class StoreWorkersDeleteTest {
    private static final int BLOCK = 1_000;
    private static final UnitResult GONE = new UnitResult(BlockStatus.GONE, OperationReason.COMPLETED, 0, 1);

    private final List<AgentInput> ended = new CopyOnWriteArrayList<>();
    private final HostPool host = HostPool.allocate(1, BLOCK);
    private final MemoryObjects objects = new MemoryObjects();
    private final SharedStore right = objects.store();
    private final FaultyStore store = new FaultyStore(right);
    private final StoreWorkers workers = new StoreWorkers("test", store, host, new StoreWorkers.Limits(1, 1, 1, 6, BLOCK, 1), ended::add);

    @BeforeEach
    void fill() {
        for (int i = 1; i <= 5; i++) {
            assertEquals(1, StoreBasicsTest.write(right, i).generation());
        }
    }

    @AfterEach
    void close() {
        store.gate().resume();
        workers.close();
        host.close();
    }

    @Test
    void whatIsDeletedIsGoneInTheGenerationThatWasNamed() {
        workers.delete(1, "model", first(3));
        assertEquals(List.of(GONE, GONE, GONE), results(1));
        assertEquals(List.of(false, false, false, true, true), present());
    }

    /** Object 2 has generation 2 since, 6 never was, and 3 is deleted for another namespace. */
    @Test
    void aNewerGenerationAndAnObjectThatIsNotThereDoNotEndTheUnit() {
        right.delete(name(2), 1);
        StoreBasicsTest.write(right, 2);
        workers.delete(1, "model", List.of(object(2, 1), object(6, 1), object(1, 1)));
        assertEquals(List.of(failed(OperationReason.STALE_GENERATION), failed(OperationReason.NOT_FOUND), GONE), results(1));
        assertEquals(List.of(false, true, true, true, true), present());
        workers.delete(2, "other", List.of(object(3, 1)));
        assertEquals(List.of(failed(OperationReason.NOT_FOUND)), results(2));
        assertEquals(List.of(false, true, true, true, true), present());
    }

    /** The objects before the one that stays are gone; those behind it may extend it and stay for the same reason, without a call of the store. */
    @ParameterizedTest
    @EnumSource(names = {"IO_ERROR", "UNREACHABLE"})
    void whatStaysEndsTheUnit(Fault fault) {
        store.gate().pauseAfter(1);
        workers.delete(1, "model", first(4));
        Eventually.await("the second delete stands", () -> store.gate().holds());
        store.inject(fault);
        store.gate().resume();
        UnitResult stays = failed(fault == Fault.IO_ERROR ? OperationReason.IO : OperationReason.STORE_UNAVAILABLE);
        assertEquals(List.of(GONE, stays, stays, stays), results(1));
        assertEquals(List.of(false, true, true, true, true), present());
    }

    /** Nothing says which generation object 1 is; object 2, which is right, stays behind it. */
    @Test
    void aDamagedObjectStaysAndEndsTheUnit() {
        objects.corrupt(image -> {
            image[0] ^= 1;
            return image;
        });
        long generation = StoreBasicsTest.write(right, 2).generation();
        workers.delete(1, "model", List.of(object(1, 1), object(2, generation)));
        assertEquals(List.of(failed(OperationReason.CHECKSUM), failed(OperationReason.CHECKSUM)), results(1));
        assertEquals(Presence.PRESENT, right.check(name(2), BLOCK));
    }

    /** A key of one byte names no object: the call throws. */
    @Test
    void aCallThatThrowsFailsTheObjectAndTheWorkerLives() {
        workers.delete(1, "model", List.of(new StoredObject(Bytes.ofHex("00"), 1), object(1, 1)));
        assertEquals(List.of(failed(OperationReason.IO), failed(OperationReason.IO)), results(1));
        workers.delete(2, "model", first(1));
        assertEquals(List.of(GONE), results(2));
    }

    /** The unit under way ends as a whole, the one behind it is not begun, and one that comes later is refused. */
    @Test
    void anEndCancelsWhatHasNotBegun() throws InterruptedException {
        store.gate().pauseAfter(1);
        workers.delete(1, "model", first(2));
        Eventually.await("the second delete stands", () -> store.gate().holds());
        workers.delete(2, "model", List.of(object(3, 1), object(4, 1)));
        Thread closer = Thread.ofPlatform().start(workers::close);
        assertEquals(List.of(failed(OperationReason.CANCELLED), failed(OperationReason.CANCELLED)), results(2));
        store.gate().resume();
        closer.join();
        assertEquals(List.of(GONE, GONE), results(1));
        workers.delete(3, "model", List.of(object(5, 1)));
        assertEquals(List.of(failed(OperationReason.QUEUE_FULL)), results(3));
        assertEquals(List.of(false, false, true, true, true), present());
        assertEquals(3, ended.size());
    }

    @Test
    void aFullQueueRefusesTheWholeUnit() {
        store.gate().pauseAfter(0);
        workers.delete(1, "model", first(5));
        Eventually.await("the first delete stands", () -> store.gate().holds());
        workers.delete(2, "model", first(2));
        assertEquals(List.of(failed(OperationReason.QUEUE_FULL), failed(OperationReason.QUEUE_FULL)), results(2));
        assertTrue(ended.stream().noneMatch(input -> ((StoreUnitEnded) input).unit() == 1), "unit 1 has not ended");
        store.gate().resume();
        assertEquals(List.of(GONE, GONE, GONE, GONE, GONE), results(1));
    }

    /** Objects 1 to {@code count}, as generation 1. */
    private static List<StoredObject> first(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> object(i, 1)).toList();
    }

    private static StoredObject object(int i, long generation) {
        return new StoredObject(name(i).key(), generation);
    }

    private static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0, 0);
    }

    private List<Boolean> present() {
        return IntStream.rangeClosed(1, 5).mapToObj(i -> right.probe(name(i)) == Presence.PRESENT).toList();
    }

    private List<UnitResult> results(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(input -> ((StoreUnitEnded) input).unit() == unit));
        return ended.stream().map(StoreUnitEnded.class::cast).filter(end -> end.unit() == unit).findFirst().orElseThrow().results();
    }
}
