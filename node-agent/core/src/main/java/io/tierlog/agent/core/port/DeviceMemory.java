/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Direction;
import java.lang.foreign.MemorySegment;

/**
 * A device: its streams, the memory of engines on it, and the host memory it may reach. One context of a CUDA driver, or an emulation.
 *
 * <p>Safe for use by several threads, except that a {@link DeviceStream} and its events belong to one thread at a time. An implementation makes
 * its context current on whichever thread calls. No call waits for bytes but {@link DeviceEvent#await}, {@link DeviceStream#drain} and
 * {@link #close}.
 *
 * <p>Failures are {@link DeviceFault}s. After a fault whose kind {@linkplain DeviceFault.Kind#endsContext ends the context}, every call but
 * close fails with that kind again; bytes queued before may still move until close has returned.
 */
public interface DeviceMemory extends AutoCloseable {
    /** What the device is and can do. Never fails; the answer does not change. */
    DeviceFacts facts();

    /**
     * A new stream. What is queued on one stream runs in that order; two streams run independently.
     *
     * @throws DeviceFault OUT_OF_MEMORY, NOT_INITIALIZED, or a kind that ends the context
     */
    DeviceStream open(Direction direction) throws DeviceFault;

    /**
     * Registers host memory, so that streams may copy from and to it: pinned, where the device has pinning. The memory must outlive the
     * registration and may not be registered twice at a time. A pool is registered in slabs, each a call.
     *
     * @param slab native memory, its address aligned to 4,096 bytes, its size 1 or more
     * @return the allocation of side HOST, whose address is the slab's
     * @throws DeviceFault INVALID_VALUE when it is not native or overlaps what is registered, OUT_OF_MEMORY when it cannot be pinned
     */
    Allocation register(MemorySegment slab) throws DeviceFault;

    /**
     * Opens memory of an engine.
     *
     * @param bytes the length that the engine claims, 1 or more
     * @return the allocation of side DEVICE, {@code bytes} long
     * @throws DeviceFault UNSUPPORTED for a handle of another kind of device, INVALID_HANDLE when it names no memory or less than
     *     {@code bytes}, OUT_OF_MEMORY when it cannot be mapped
     */
    Allocation open(MemoryHandle handle, long bytes) throws DeviceFault;

    /**
     * Ends what {@link #register} or {@link #open(MemoryHandle, long)} began. No stream may work on it then.
     * Copies that name it later are refused with INVALID_VALUE.
     *
     * @throws DeviceFault INVALID_VALUE when it is not open here
     */
    void release(Allocation allocation) throws DeviceFault;

    /**
     * Ends the context: streams, allocations and registrations with it. When it has returned without a fault, no byte moves, whatever
     * went wrong before. A second call has no effect.
     *
     * @throws DeviceFault when the driver does not report the end: then bytes may move until the process ends
     */
    @Override
    void close() throws DeviceFault;
}
