/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract for devices that can be held: what becomes of events and streams while bytes have not moved, or when a copy fails. */
public abstract class GatedDeviceContract extends DeviceMemoryContract {
    private static final int PIECE = 4_096;

    /** The gate before every copy of a direction. */
    public interface Gate {
        /** Lets {@code copies} more copies through, then holds the stream before the next one. */
        void pauseAfter(long copies);

        /** Lets a held stream go on. */
        void resume();

        /** Makes the {@code k}-th copy from now on fail, 1 for the next. */
        void failAt(long k);

        /** Returns once a stream is held here. */
        void awaitHolding();
    }

    /** The gate of the device under test. */
    protected abstract Gate gate(Direction direction);

    /** Copy i moves piece i of region and slab 0. */
    private CopyPlan pieces(int from, int to) {
        return new CopyPlan(IntStream.range(from, to).<Copy>mapToObj(this::piece).toList());
    }

    private Linear piece(int i) {
        return new Linear(regions.get(0).at((long) i * PIECE), slabs.get(0).at((long) i * PIECE), PIECE);
    }

    private boolean landed(int i) {
        MemorySegment there = MemorySegment.ofArray(content.get(0)).asSlice((long) i * PIECE, PIECE);
        return host.get(0).asSlice((long) i * PIECE, PIECE).mismatch(there) == -1;
    }

    @Test
    void anEventIsReachedOnlyWhenItsBytesHaveMoved() throws DeviceFault {
        gate(Direction.SAVE).pauseAfter(2);
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            stream.enqueue(pieces(0, 2));
            DeviceEvent first = stream.record();
            stream.enqueue(pieces(2, 4));
            DeviceEvent second = stream.record();
            gate(Direction.SAVE).awaitHolding();

            assertTrue(first.await(LONG));
            assertFalse(second.poll());
            assertFalse(second.await(1_000_000));
            assertFalse(stream.drain(1_000_000));
            assertTrue(landed(0) && landed(1));
            assertFalse(landed(2) || landed(3));

            gate(Direction.SAVE).resume();
            assertTrue(second.await(LONG));
            assertTrue(landed(2) && landed(3));
            assertTrue(stream.drain(LONG));
        }
    }

    @Test
    void twoStreamsRunIndependently() throws DeviceFault {
        gate(Direction.SAVE).pauseAfter(0);
        byte[] loaded = host(1);
        try (DeviceStream save = memory().open(Direction.SAVE);
                DeviceStream load = memory().open(Direction.LOAD)) {
            save.enqueue(pieces(0, 1));
            DeviceEvent saved = save.record();
            gate(Direction.SAVE).awaitHolding();
            load.enqueue(CopyPlan.EMPTY);
            load.enqueue(plan(new Linear(regions.get(1).at(0), slabs.get(1).at(0), BYTES)));
            DeviceEvent later = load.record();

            assertTrue(later.await(LONG), "the later one ends first");
            assertArrayEquals(loaded, engine(1));
            assertFalse(saved.poll());

            gate(Direction.SAVE).resume();
            assertTrue(saved.await(LONG));
        }
    }

    @Test
    void aFailedCopyIsReportedByTheNextEventAndTheStreamIsIdle() throws DeviceFault {
        gate(Direction.SAVE).failAt(2);
        try (DeviceStream stream = memory().open(Direction.SAVE)) {
            stream.enqueue(pieces(0, 1));
            DeviceEvent before = stream.record();
            stream.enqueue(pieces(1, 3));
            DeviceEvent failed = stream.record();

            assertTrue(before.await(LONG));
            DeviceFault fault = assertThrows(DeviceFault.class, () -> failed.await(LONG));
            assertFalse(landed(1));
            assertEquals(fault.kind(), assertThrows(DeviceFault.class, failed::poll).kind(), "it is reported again");
            if (!fault.kind().endsContext()) {
                assertTrue(stream.drain(LONG));
                stream.enqueue(pieces(4, 5));
                assertTrue(stream.record().await(LONG), "the stream continues");
                assertTrue(landed(4));
            }
        }
    }

    @Test
    void theEndDropsWhatHasNotBegunAndThenNothingMoves() throws DeviceFault {
        gate(Direction.SAVE).pauseAfter(1);
        DeviceStream stream = memory().open(Direction.SAVE);
        stream.enqueue(pieces(0, 3));
        DeviceEvent event = stream.record();
        gate(Direction.SAVE).awaitHolding();

        memory().close();

        byte[] after = host(0);
        assertThrows(DeviceFault.class, () -> event.await(LONG));
        gate(Direction.SAVE).resume();
        assertArrayEquals(after, host(0));
        assertTrue(landed(0));
        assertFalse(landed(2));
    }
}
