/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.memory.FaultyDeviceMemory.Call;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.threads.LoggedLines;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A device that goes wrong, at every call and in every way: units end once, when nothing moves, and say so. */
class DeviceStreamsFaultsTest {
    private static final DeviceStreams.Limits QUICK = new DeviceStreams.Limits(64, 1 << 20, 2 * StreamsWorld.BLOCK, 60_000, 20, 0);

    @TempDir
    Path directory;

    static Stream<Arguments> everyCallAndKind() {
        return Stream.of(Call.ENQUEUE, Call.ENQUEUE_HALF, Call.RECORD, Call.WAIT, Call.DRAIN)
                .flatMap(call -> Arrays.stream(Kind.values()).map(kind -> Arguments.of(call, kind)));
    }

    /** The second of three pieces goes wrong; with DRAIN, an enqueue does, and the drain after it too. */
    @ParameterizedTest
    @MethodSource("everyCallAndKind")
    void aFaultEndsItsUnitOnce(Call call, Kind kind) throws Exception {
        try (LoggedLines lines = new LoggedLines(DeviceStreams.class);
                StreamsWorld world = new StreamsWorld(directory, StreamsWorld.LIMITS)) {
            world.faulty.failAfter(call, call == Call.DRAIN ? 0 : 1, kind);
            if (call == Call.DRAIN) {
                world.faulty.failAfter(Call.ENQUEUE, 1, Kind.COPY_FAILED);
            }
            world.streams.save(1, StreamsWorld.saves(0, 1, 2));

            List<UnitResult> results = world.await(1).results();

            assertFalse(world.faulty.armed(), "it was asked for and came");
            boolean over = kind.endsContext() || call == Call.DRAIN;
            assertEquals(new UnitResult(BlockStatus.FAILED, OperationReason.DEVICE_FAULT, 0), results.get(1));
            assertEquals(over, world.streams.lost());
            assertEquals(over ? 1 : 0, lines.with("the device is lost, copies fail from here on"), lines::toString);
            assertEquals(over ? BlockStatus.FAILED : BlockStatus.ARRIVED, results.get(2).status());
            for (int page = 0; page < 3; page++) {
                assertTrue(results.get(page).status() == BlockStatus.FAILED || world.landed(page), "page " + page + " " + results);
            }
            world.streams.save(2, StreamsWorld.saves(4));
            assertEquals(List.of(over ? OperationReason.DEVICE_FAULT : OperationReason.COMPLETED), world.reasons(2));
            assertEquals(List.of(1L, 2L), world.ended.stream().map(CopiesEnded::unit).toList());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Call.class, names = {"OPEN_STREAM", "REGISTER"})
    void aDeviceThatDoesNotStartIsClosed(Call call) {
        EmulatedDevice inner = new EmulatedDevice("inner", EmulatedDevice.Limits.DEFAULTS);
        FaultyDeviceMemory faulty = new FaultyDeviceMemory(inner);
        faulty.failNext(call, Kind.OUT_OF_MEMORY);
        try (HostPool host = HostPool.allocate(1, 1_000)) {
            DeviceFault fault = assertThrows(DeviceFault.class,
                    () -> DeviceStreams.start("x", faulty, host, DeviceStreams.Limits.DEFAULTS, ended -> {}));
            assertEquals(Kind.OUT_OF_MEMORY, fault.kind());
            assertEquals(Kind.DEVICE_LOST, assertThrows(DeviceFault.class, () -> inner.open(Direction.LOAD)).kind());
        }
    }

    @Test
    void anEngineOfWhichOneRegionCannotBeOpenedLeavesNothingOpen() throws Exception {
        try (StreamsWorld world = new StreamsWorld(directory, StreamsWorld.LIMITS)) {
            world.faulty.failNext(Call.OPEN_MEMORY, Kind.INVALID_HANDLE);
            assertEquals(Kind.INVALID_HANDLE, assertThrows(DeviceFault.class, world::attach).kind());
            world.streams.save(1, StreamsWorld.saves(0));
            assertEquals(List.of(OperationReason.COMPLETED), world.reasons(1), "the pool before is still attached");
            world.faulty.failNext(Call.RELEASE, Kind.INVALID_VALUE);
            world.attach();
            world.streams.save(2, StreamsWorld.saves(1));
            assertEquals(List.of(OperationReason.COMPLETED), world.reasons(2), "one that cannot be released harms no other");
        }
    }

    /** The first piece stands at the gate when the second cannot be queued: nothing may be reported before the first has moved. */
    @Test
    void aUnitThatFailedEndsOnlyWhenItsStreamIsIdle() throws Exception {
        try (StreamsWorld world = new StreamsWorld(directory, StreamsWorld.LIMITS)) {
            CopyGate gate = world.emulated.gate(Direction.SAVE);
            gate.pauseAfter(0);
            world.faulty.failAfter(Call.ENQUEUE, 1, Kind.OUT_OF_MEMORY);
            world.streams.save(1, StreamsWorld.saves(0, 1));
            Eventually.await("the fault has come", () -> !world.faulty.armed() && gate.holds());
            assertEquals(List.of(), world.ended);
            assertFalse(world.landed(0));

            gate.resume();

            assertEquals(List.of(OperationReason.COMPLETED, OperationReason.DEVICE_FAULT), world.reasons(1));
            assertTrue(world.landed(0));
        }
    }

    /** Half of a piece is queued, and the stream does not become idle: the core receives the doubt, and later the outcome. */
    @ParameterizedTest
    @EnumSource(Direction.class)
    void anUnknownOutcomeIsReportedTwice(Direction direction) throws Exception {
        try (StreamsWorld world = new StreamsWorld(directory, QUICK)) {
            CopyGate gate = world.emulated.gate(direction);
            gate.pauseAfter(1);
            world.faulty.failAfter(Call.ENQUEUE_HALF, 1, Kind.COPY_FAILED);
            if (direction == Direction.SAVE) {
                world.streams.save(1, StreamsWorld.saves(0, 1));
            } else {
                int crc = world.host.crc32c(0);
                world.streams.load(1, List.of(
                        new io.tierlog.agent.core.port.DeviceCopies.PageCopy(3, 0, crc),
                        new io.tierlog.agent.core.port.DeviceCopies.PageCopy(5, 0, crc)));
            }
            Eventually.await("the doubt is reported", () -> world.ended.size() == 1);
            assertEquals(BlockStatus.UNKNOWN, world.ended.getFirst().results().get(1).status());
            assertFalse(direction == Direction.SAVE && world.landed(1), "bytes may still move, and have not");

            gate.resume();

            Eventually.await("the end is reported", () -> world.ended.size() == 2);
            assertEquals(1, world.ended.getLast().unit());
            assertEquals(List.of(OperationReason.COMPLETED, OperationReason.DEVICE_FAULT),
                    world.ended.getLast().results().stream().map(UnitResult::reason).toList());
        }
    }

    @Test
    void aContextThatDoesNotEndLeavesTheOutcomeUnknown() throws Exception {
        try (StreamsWorld world = new StreamsWorld(directory, StreamsWorld.LIMITS)) {
            world.faulty.failAfter(Call.RECORD, 1, Kind.ILLEGAL_ADDRESS);
            world.faulty.failNext(Call.CLOSE, Kind.UNKNOWN);

            world.streams.save(1, StreamsWorld.saves(0, 1, 2));

            List<UnitResult> results = world.await(1).results();
            assertEquals(BlockStatus.UNKNOWN, results.get(1).status(), "its copy may move for ever");
            assertEquals(OperationReason.DEVICE_FAULT, results.get(2).reason(), "its copy never began");
            assertTrue(world.streams.lost());
        }
    }

    /** One direction loses the device while a copy of the other is under way. */
    @Test
    void bothDirectionsEndWithTheContext() throws Exception {
        try (StreamsWorld world = new StreamsWorld(directory, StreamsWorld.LIMITS)) {
            CopyGate gate = world.emulated.gate(Direction.SAVE);
            gate.pauseAfter(0);
            world.streams.save(1, StreamsWorld.saves(0));
            Eventually.await("the save is under way", gate::holds);
            world.faulty.failNext(Call.ENQUEUE, Kind.DEVICE_LOST);
            int crc = world.host.crc32c(0);
            world.streams.load(2, List.of(new io.tierlog.agent.core.port.DeviceCopies.PageCopy(3, 0, crc)));

            assertEquals(List.of(OperationReason.DEVICE_FAULT), world.reasons(2));
            assertEquals(List.of(OperationReason.DEVICE_FAULT), world.reasons(1));
            assertFalse(world.landed(0));
        }
    }
}
