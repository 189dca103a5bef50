/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.memory.FaultyDeviceMemory.Call;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceBench;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceMemoryContract;
import io.tierlog.agent.core.port.DeviceStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a faulty device without faults, and its faults. */
class FaultyDeviceMemoryTest extends DeviceMemoryContract {
    @TempDir
    Path directory;

    private final FaultyDeviceMemory faulty = new FaultyDeviceMemory(new EmulatedDevice("inner", EmulatedDevice.Limits.DEFAULTS));

    @Override
    protected DeviceBench bench() {
        return new FileBench(directory, faulty);
    }

    private Linear copy() {
        return new Linear(regions.get(0).at(0), slabs.get(0).at(0), 1_000);
    }

    private void fails(Call call, Executable executable) throws Throwable {
        faulty.failNext(call, Kind.OUT_OF_MEMORY);
        assertEquals(Kind.OUT_OF_MEMORY, assertThrows(DeviceFault.class, executable, call::toString).kind());
        assertFalse(faulty.armed());
        if (call != Call.CLOSE_STREAM && call != Call.RELEASE) {
            executable.execute();
        }
    }

    @Test
    void everyCallFailsOnceOnRequest() throws Throwable {
        DeviceStream stream = faulty.open(Direction.SAVE);
        DeviceEvent event = stream.record();
        fails(Call.OPEN_STREAM, () -> faulty.open(Direction.LOAD));
        fails(Call.OPEN_MEMORY, () -> faulty.open(handles.get(0), BYTES));
        fails(Call.RELEASE, () -> faulty.release(regions.get(1)));
        fails(Call.ENQUEUE, () -> stream.enqueue(plan(copy())));
        fails(Call.ENQUEUE_HALF, () -> stream.enqueue(plan(copy())));
        fails(Call.RECORD, stream::record);
        fails(Call.WAIT, () -> event.await(LONG));
        fails(Call.DRAIN, () -> stream.drain(LONG));
        fails(Call.CLOSE_STREAM, stream::close);
        fails(Call.CLOSE, faulty::close);
    }

    @Test
    void halfAPlanIsQueuedOnRequest() throws DeviceFault {
        DeviceStream stream = faulty.open(Direction.SAVE);
        Linear other = new Linear(regions.get(1).at(0), slabs.get(1).at(0), 1_000);
        byte[] untouched = host(1);
        faulty.failNext(Call.ENQUEUE_HALF, Kind.OUT_OF_MEMORY);

        assertThrows(DeviceFault.class, () -> stream.enqueue(plan(copy(), other)));

        assertTrue(stream.drain(LONG));
        assertEquals(-1, host.get(0).asSlice(0, 1_000).mismatch(
                java.lang.foreign.MemorySegment.ofArray(content.get(0)).asSlice(0, 1_000)));
        org.junit.jupiter.api.Assertions.assertArrayEquals(untouched, host(1));
    }

    @Test
    void aFaultThatEndsTheContextIsReportedByEveryCall() throws DeviceFault {
        DeviceStream stream = faulty.open(Direction.SAVE);
        faulty.failNext(Call.ENQUEUE, Kind.ILLEGAL_ADDRESS);
        assertThrows(DeviceFault.class, () -> stream.enqueue(plan(copy())));

        assertEquals(Kind.ILLEGAL_ADDRESS, assertThrows(DeviceFault.class, () -> stream.drain(LONG)).kind());
        assertEquals(Kind.ILLEGAL_ADDRESS, assertThrows(DeviceFault.class, () -> faulty.open(Direction.SAVE)).kind());
        faulty.close();
    }

    @Test
    void aStuckDeviceIsNeverIdle() throws DeviceFault {
        DeviceStream stream = faulty.open(Direction.SAVE);
        stream.enqueue(plan(copy()));
        DeviceEvent event = stream.record();
        faulty.stuck(true);
        assertFalse(event.await(1_000_000));
        assertFalse(stream.drain(1_000_000));
        faulty.stuck(false);
        assertTrue(event.await(LONG));
        assertTrue(stream.drain(LONG));
    }
}
