/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;

/** A kind of device to measure, and an engine that lends it memory. For one thread. */
interface BenchDevice extends AutoCloseable {
    /** The device, made new; closed by whoever has it. */
    DeviceMemory open() throws DeviceFault;

    /** Memory of an engine, of no defined content. */
    MemoryHandle allocate(long bytes) throws DeviceFault;

    /** The plainest copies that there are on this device. */
    Plain plain(KeptDevice device, HostBlocks host) throws DeviceFault;

    /** Copies between all host pages and as much memory of the device, both as one run of bytes. */
    interface Plain extends AutoCloseable {
        /** What it is, for the report. */
        String name();

        /** Copies so many bytes from this place on, and returns when they are there. */
        void copy(Direction direction, long offset, long bytes) throws DeviceFault;

        @Override
        void close();
    }

    @Override
    void close();
}
