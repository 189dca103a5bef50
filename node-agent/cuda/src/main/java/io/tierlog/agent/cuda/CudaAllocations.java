/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Allocation.Side;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.Place;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The allocations that are open, and the check of copies against them. Safe for use by several threads. */
final class CudaAllocations {
    /** An open allocation; {@code slab} for those of side HOST. */
    record Open(Allocation allocation, @Nullable HostSlab slab) {}

    private final Map<Long, Open> open = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final int most;
    private final long mostPitch;

    CudaAllocations(int most, long mostPitch) {
        this.most = most;
        this.mostPitch = mostPitch;
    }

    /** Refuses when there are too many to open one more. */
    void checkLimit() throws DeviceFault {
        if (open.size() >= most) {
            throw new DeviceFault(Kind.OUT_OF_MEMORY, most + " allocations are open, the most that CudaLimits.allocations allows");
        }
    }

    Allocation add(Side side, long address, long bytes, @Nullable HostSlab slab) {
        Allocation made = new Allocation(ids.incrementAndGet(), side, address, bytes);
        open.put(made.id(), new Open(made, slab));
        return made;
    }

    /** Refuses a slab that shares a byte with one that is registered: the driver's answer to that depends on its version. */
    void disjoint(MemorySegment slab) throws DeviceFault {
        for (Open one : open.values()) {
            Allocation other = one.allocation();
            if (other.side() == Side.HOST
                    && slab.address() < other.address() + other.bytes()
                    && other.address() < slab.address() + slab.byteSize()) {
                throw new DeviceFault(Kind.INVALID_VALUE, "a slab of " + slab.byteSize() + " bytes overlaps " + other);
            }
        }
    }

    Open get(Allocation allocation) throws DeviceFault {
        Open found = open.get(allocation.id());
        if (found == null || !found.allocation().equals(allocation)) {
            throw new DeviceFault(Kind.INVALID_VALUE, allocation + " is not open on this device");
        }
        return found;
    }

    void remove(Allocation allocation) {
        open.remove(allocation.id());
    }

    void clear() {
        open.clear();
    }

    /** The address of a host place for kernels. */
    long kernelAddress(Place host) throws DeviceFault {
        HostSlab slab = get(host.allocation()).slab();
        if (slab == null) {
            throw new DeviceFault(Kind.INVALID_VALUE, host.allocation() + " is not host memory");
        }
        return slab.deviceAddress() + host.offset();
    }

    /** Refuses a copy that is out of bounds, on the wrong side, or of an allocation that is not open. */
    void check(Copy copy) throws DeviceFault {
        switch (copy) {
            case Copy.Linear linear -> {
                inside(linear.device(), Side.DEVICE, linear.bytes());
                inside(linear.host(), Side.HOST, linear.bytes());
            }
            case Copy.Strided strided -> {
                inside(strided.device(), Side.DEVICE, span(strided.pitch().device(), strided));
                inside(strided.host(), Side.HOST, span(strided.pitch().host(), strided));
            }
            case Copy.Gather gather -> {
                for (Copy.Fragment one : gather.fragments()) {
                    inside(one.device(), Side.DEVICE, gather.fragmentBytes());
                    inside(one.host(), Side.HOST, gather.fragmentBytes());
                }
            }
        }
    }

    private void inside(Place place, Side side, long bytes) throws DeviceFault {
        Allocation allocation = get(place.allocation()).allocation();
        if (allocation.side() != side || !allocation.holds(place.offset(), bytes)) {
            throw new DeviceFault(Kind.INVALID_VALUE, bytes + " bytes from offset " + place.offset() + " do not lie in " + allocation
                    + " or it is not of side " + side);
        }
    }

    private long span(long pitch, Copy.Strided copy) throws DeviceFault {
        if (pitch > mostPitch) {
            throw new DeviceFault(Kind.INVALID_VALUE, "a pitch of " + pitch + " bytes; this device takes up to " + mostPitch);
        }
        // A pitch is an int's worth here, so neither product nor sum leaves a long.
        return (copy.rows() - 1L) * pitch + copy.rowBytes();
    }
}
