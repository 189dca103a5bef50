/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFacts;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A device that remembers the host memory registered with it, so that a baseline copies between the very memory that the agent copies: memory is
 * pinned once. For one thread beside the agent's.
 */
final class HostTrackingDevice implements DeviceMemory {
    private final DeviceMemory device;
    private @Nullable Allocation host;

    HostTrackingDevice(DeviceMemory device) {
        this.device = device;
    }

    /** The host pages. */
    Allocation host() {
        if (host == null) {
            throw new IllegalStateException("no host memory has been registered");
        }
        return host;
    }

    @Override
    public DeviceFacts facts() {
        return device.facts();
    }

    @Override
    public DeviceStream open(Direction direction) throws DeviceFault {
        return device.open(direction);
    }

    @Override
    public Allocation register(MemorySegment slab) throws DeviceFault {
        host = device.register(slab);
        return host;
    }

    @Override
    public Allocation open(MemoryHandle handle, long bytes) throws DeviceFault {
        return device.open(handle, bytes);
    }

    @Override
    public void release(Allocation allocation) throws DeviceFault {
        device.release(allocation);
    }

    @Override
    public void close() throws DeviceFault {
        device.close();
    }
}
