/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Units over an emulated device that works: bytes, checksums, order, bounds, precedence. */
class DeviceStreamsTest {
    private static final int BLOCK = StreamsWorld.BLOCK;

    @TempDir
    Path directory;

    private final List<StreamsWorld> worlds = new ArrayList<>();

    private StreamsWorld world(DeviceStreams.Limits limits) throws Exception {
        StreamsWorld made = new StreamsWorld(directory, limits);
        worlds.add(made);
        return made;
    }

    @AfterEach
    void end() throws Exception {
        for (StreamsWorld world : worlds) {
            world.close();
        }
    }

    @Test
    void whatIsSavedLandsWithItsChecksum() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        world.streams.save(1, List.of(new PageCopy(2, 0, 0), new PageCopy(0, 3, 0)));
        assertEquals(List.of(StreamsWorld.arrived(world.block(2)), StreamsWorld.arrived(world.block(0))), world.await(1).results());
        assertArrayEquals(world.block(2), world.hostPage(0));
        assertArrayEquals(world.block(0), world.hostPage(3));
        assertArrayEquals(new byte[BLOCK], world.hostPage(1));
    }

    @Test
    void whatIsLoadedIsOnTheDevice() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        int crc = world.fill(2, world.block(1));
        world.streams.load(1, List.of(new PageCopy(3, 2, crc)));
        assertEquals(List.of(StreamsWorld.arrived(world.block(1))), world.await(1).results());
        assertArrayEquals(world.block(1), world.devicePage(3));
        assertArrayEquals(world.block(4), world.devicePage(4));
    }

    @Test
    void aHostPageThatChangedIsNotLoaded() throws Exception {
        StreamsWorld world = world(DeviceStreams.Limits.DEFAULTS);
        int crc = world.fill(2, world.block(1));
        int right = world.fill(1, world.block(0));
        byte[] changed = world.block(1);
        changed[17] ^= 1;
        world.fill(2, changed);
        world.streams.load(1, List.of(new PageCopy(3, 2, crc), new PageCopy(4, 1, right)));
        List<UnitResult> results = world.await(1).results();
        assertEquals(new UnitResult(BlockStatus.FAILED, OperationReason.CHECKSUM, Checksums.crc32c(changed, 0, BLOCK)), results.get(0));
        assertEquals(StreamsWorld.arrived(world.block(0)), results.get(1));
        assertArrayEquals(world.block(3), world.devicePage(3), "the page of the refused block is as it was");
        assertArrayEquals(world.block(0), world.devicePage(4));
    }

    @Test
    void unitsOfOneDirectionEndInOrder() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        for (int unit = 0; unit < 50; unit++) {
            world.streams.save(unit, List.of(new PageCopy(unit % StreamsWorld.PAGES, (unit + 1) % StreamsWorld.PAGES, 0)));
        }
        Eventually.await("50 units", () -> world.ended.size() == 50);
        assertEquals(LongStream.range(0, 50).boxed().toList(), world.ended.stream().map(CopiesEnded::unit).toList());
    }

    @Test
    void aPageThatDoesNotExistFailsItsBlockOnly() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        world.streams.save(1, List.of(new PageCopy(8, 0, 0), new PageCopy(1, 1, 0), new PageCopy(2, 8, 0), new PageCopy(-1, 2, 0)));
        OperationReason fault = OperationReason.DEVICE_FAULT;
        assertEquals(List.of(fault, OperationReason.COMPLETED, fault, fault), world.reasons(1));
        assertArrayEquals(world.block(1), world.hostPage(1));
    }

    @Test
    void aHeldUnitHasNoCompletionAndMovesNoByte() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        CopyGate gate = world.emulated.gate(Direction.SAVE);
        gate.pauseAfter(1);
        world.streams.save(1, StreamsWorld.saves(0, 1));
        Eventually.await("the stream stands at the gate", gate::holds);
        assertEquals(List.of(), world.ended);
        assertTrue(world.landed(0));
        assertFalse(world.landed(1));
        int crc = world.host.crc32c(7);
        world.streams.load(2, List.of(new PageCopy(3, 7, crc)));
        assertEquals(List.of(OperationReason.COMPLETED), world.reasons(2), "the other direction goes on");
        gate.resume();
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.COMPLETED), world.reasons(1));
        assertTrue(world.landed(1));
    }

    @Test
    void aPieceFailsWhereTheGateSaysSo() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        world.emulated.gate(Direction.SAVE).failAt(2);
        world.streams.save(1, StreamsWorld.saves(0, 1, 2));
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.DEVICE_FAULT, OperationReason.COMPLETED), world.reasons(1));
        assertTrue(world.landed(0) && world.landed(2));
        assertArrayEquals(new byte[BLOCK], world.hostPage(6), "nothing of the failed block landed");
    }

    /** Two units in all: one under way, one waits, the third finds the queue full; then by bytes: 3,000 of 4,000, and a unit of 2,000. */
    @Test
    void aFullQueueIsATypedAnswer() throws Exception {
        StreamsWorld units = world(new DeviceStreams.Limits(2, 1 << 20, 2_000, 0, 20_000, 0));
        full(units, 1, 3);
        StreamsWorld bytes = world(new DeviceStreams.Limits(64, 4_000, 2_000, 0, 20_000, 0));
        full(bytes, 3, 2);
        // A unit larger than the bound goes through an empty queue.
        bytes.streams.save(9, StreamsWorld.saves(0, 1, 2, 3, 4));
        assertEquals(Collections.nCopies(5, OperationReason.COMPLETED), bytes.reasons(9));
    }

    private static void full(StreamsWorld world, int blocksOfFirst, int refused) {
        CopyGate gate = world.emulated.gate(Direction.SAVE);
        gate.pauseAfter(0);
        world.streams.save(1, blocksOfFirst == 1 ? StreamsWorld.saves(0) : StreamsWorld.saves(0, 1, 2));
        Eventually.await("the first unit is under way", gate::holds);
        for (int unit = 2; unit < refused; unit++) {
            world.streams.save(unit, StreamsWorld.saves(0));
        }
        world.streams.save(refused, StreamsWorld.saves(0, 1));
        assertEquals(List.of(OperationReason.QUEUE_FULL, OperationReason.QUEUE_FULL), world.reasons(refused));
        assertEquals(1, world.ended.size());
        int crc = world.host.crc32c(0);
        world.streams.load(7, List.of(new PageCopy(7, 0, crc)));
        assertEquals(List.of(OperationReason.COMPLETED), world.reasons(7), "the other direction has its own queue");
        gate.resume();
        Eventually.await("all have ended", () -> world.ended.size() == refused + 1);
    }

    @Test
    void withoutAnEngineUnitsFail() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        world.streams.detach();
        world.streams.save(1, StreamsWorld.saves(0));
        assertEquals(List.of(OperationReason.ENGINE_GONE), world.reasons(1));
        world.attach();
        world.streams.save(2, StreamsWorld.saves(0));
        assertEquals(List.of(OperationReason.COMPLETED), world.reasons(2));
    }

    @Test
    void aUnitUnderWayKeepsItsPoolWhenTheEngineLeaves() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        CopyGate gate = world.emulated.gate(Direction.SAVE);
        gate.pauseAfter(0);
        world.streams.save(1, StreamsWorld.saves(1, 2, 3));
        Eventually.await("the unit is under way", gate::holds);
        world.streams.detach();
        gate.resume();
        assertEquals(Collections.nCopies(3, OperationReason.COMPLETED), world.reasons(1));
        assertTrue(world.landed(3));
    }

    /** One or two pieces of the save are moving when the load comes; the next waits until the load has ended. */
    @Test
    void aLoadWaitsForNoMoreThanIsMovingAlready() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        CopyGate save = world.emulated.gate(Direction.SAVE);
        CopyGate load = world.emulated.gate(Direction.LOAD);
        int crc = world.fill(0, world.block(5));
        save.pauseAfter(0);
        load.pauseAfter(0);
        world.streams.save(1, StreamsWorld.saves(0, 1, 2, 3, 4, 5, 6));
        Eventually.await("the save is under way", save::holds);
        world.streams.load(2, List.of(new PageCopy(7, 0, crc)));
        Eventually.await("the load is under way", load::holds);

        save.resume();
        Eventually.await("the save gives way", () -> world.streams.turns().saveWaits());
        assertTrue(save.passed() <= 2, "no third piece was queued beside the load");
        assertFalse(world.landed(2));
        load.resume();

        assertEquals(List.of(OperationReason.COMPLETED), world.reasons(2));
        assertEquals(Collections.nCopies(7, OperationReason.COMPLETED), world.reasons(1));
        assertEquals(List.of(2L, 1L), world.ended.stream().map(CopiesEnded::unit).toList());
    }

    @Test
    void aLoadThatDoesNotMoveDoesNotStopSaves() throws Exception {
        StreamsWorld world = world(new DeviceStreams.Limits(64, 1 << 20, 2_000, 1, 20_000, 0));
        CopyGate load = world.emulated.gate(Direction.LOAD);
        load.pauseAfter(0);
        world.streams.load(1, List.of(new PageCopy(7, 0, world.fill(0, world.block(5)))));
        Eventually.await("the load is under way", load::holds);
        world.streams.save(2, StreamsWorld.saves(0, 1, 2, 3));
        assertEquals(Collections.nCopies(4, OperationReason.COMPLETED), world.reasons(2));
        load.resume();
        assertEquals(List.of(OperationReason.COMPLETED), world.reasons(1));
    }

    @Test
    void theEndCancelsWhatHasNotBegunAndEndsEveryUnit() throws Exception {
        StreamsWorld world = world(new DeviceStreams.Limits(64, 1 << 20, 2_000, 60_000, 50, 0));
        CopyGate gate = world.emulated.gate(Direction.SAVE);
        gate.pauseAfter(1);
        world.streams.save(1, StreamsWorld.saves(0, 1, 2, 3));
        Eventually.await("the first unit is under way", gate::holds);
        world.streams.save(2, StreamsWorld.saves(4));

        world.streams.close();

        assertEquals(List.of(1L, 2L), world.ended.stream().map(CopiesEnded::unit).toList(), "every unit has ended when close returns");
        assertEquals(OperationReason.COMPLETED, world.reasons(1).get(0));
        assertEquals(OperationReason.DEVICE_FAULT, world.reasons(1).get(1), "its copy never ended before the device did");
        assertEquals(List.of(OperationReason.CANCELLED), world.reasons(2));
        assertFalse(world.landed(1) || world.landed(4));
        world.streams.save(3, StreamsWorld.saves(5));
        assertEquals(List.of(OperationReason.CANCELLED), world.reasons(3));
    }

    @Test
    void anEndWithoutTroubleFinishesTheBlocksThatHaveBegun() throws Exception {
        StreamsWorld world = world(StreamsWorld.LIMITS);
        world.streams.save(1, StreamsWorld.saves(0, 1, 2, 3, 4, 5, 6, 7));
        world.streams.close();
        List<OperationReason> reasons = world.reasons(1);
        for (int page = 0; page < reasons.size(); page++) {
            assertEquals(reasons.get(page) == OperationReason.COMPLETED, world.landed(page), "page " + page + " " + reasons);
        }
    }

    @Test
    void limitsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(0, 1, 1, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(1, 0, 1, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(1, 1, 0, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(1, 1, 1, -1, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(1, 1, 1, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new DeviceStreams.Limits(1, 1, 1, 0, 1, -1));
    }
}
