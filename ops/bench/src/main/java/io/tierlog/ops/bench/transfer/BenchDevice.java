/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;

/** A kind of device to measure, and an engine that shares its memory with it. For one thread. */
interface BenchDevice extends AutoCloseable {
    /** A new device; the caller closes it. */
    DeviceMemory open() throws DeviceFault;

    /** Memory of an engine, of undefined content. */
    MemoryHandle allocate(long bytes) throws DeviceFault;

    /** The simplest copies on this device. */
    Plain plain(HostTrackingDevice device, HostBlocks host) throws DeviceFault;

    /** Copies between all host pages and as much memory of the device, both as one run of bytes. */
    interface Plain extends AutoCloseable {
        /** Its name in the report. */
        String name();

        /** Copies {@code bytes} from {@code offset} on, and returns when they have arrived. */
        void copy(Direction direction, long offset, long bytes) throws DeviceFault;

        @Override
        void close();
    }

    @Override
    void close();
}
