/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Allocation.Side;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.copy.Place;
import io.tierlog.agent.core.port.DeviceFacts;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A device whose memory is files that both sides map: real bytes move between them and the host's slabs, by the same plans as on a GPU, one
 * thread per stream, with a bandwidth per stream and a gate per direction.
 *
 * <p>Safe for use by several threads. Trade-off: an engine that shortens its file makes its copies fail with MEMORY_GONE.
 */
public final class EmulatedDevice implements DeviceMemory {
    private static final int SLAB_ALIGNMENT_BYTES = 4_096;

    /**
     * What bounds a device.
     *
     * @param chunkBytes the largest piece that is copied at once; the bandwidth is kept per piece
     * @param bytesPerSecond bandwidth per stream; 0 for no limit
     * @param queuedCopies copies that wait in a stream
     */
    public record Limits(int chunkBytes, long bytesPerSecond, int queuedCopies) {
        /** Pieces of 256 KiB, no limit, 65,536 copies. */
        public static final Limits DEFAULTS = new Limits(256 << 10, 0, 65_536);

        public Limits {
            if (chunkBytes < 1 || bytesPerSecond < 0 || queuedCopies < 1) {
                throw new IllegalArgumentException("device limits: chunkBytes " + chunkBytes + " and queuedCopies " + queuedCopies
                        + " are 1 or more, bytesPerSecond " + bytesPerSecond + " is 0 or more");
            }
        }

        /** The same with another bandwidth. */
        public Limits withBytesPerSecond(long bandwidth) {
            return new Limits(chunkBytes, bandwidth, queuedCopies);
        }
    }

    /** Memory that is known here; a mapping ends with its arena, a slab is the caller's. */
    private record Known(Allocation allocation, MemorySegment memory, @Nullable Arena arena) {}

    private final String name;
    private final Limits limits;
    private final Map<Direction, CopyGate> gates = new EnumMap<>(Direction.class);
    private final Map<Long, Known> known = new LinkedHashMap<>();
    private final List<EmulatedStream> streams = new ArrayList<>();
    private long lastId;
    private boolean closed;

    /**
     * A device without streams yet.
     *
     * @param name begins the names of the threads
     */
    public EmulatedDevice(String name, Limits limits) {
        this.name = name;
        this.limits = limits;
        for (Direction direction : Direction.values()) {
            gates.put(direction, new CopyGate());
        }
    }

    /** The gate before every copy of that direction, whichever stream it is on. */
    public CopyGate gate(Direction direction) {
        CopyGate gate = gates.get(direction);
        if (gate == null) {
            throw new IllegalStateException("every direction has a gate: " + direction);
        }
        return gate;
    }

    @Override
    public DeviceFacts facts() {
        return new DeviceFacts("emulated device " + name, 0, false, true, Integer.MAX_VALUE);
    }

    @Override
    public synchronized DeviceStream open(Direction direction) throws DeviceFault {
        checkOpen();
        EmulatedStream stream = new EmulatedStream(name + "-" + direction, this, direction, limits);
        streams.add(stream);
        stream.start();
        return stream;
    }

    @Override
    public synchronized Allocation register(MemorySegment slab) throws DeviceFault {
        checkOpen();
        if (!slab.isNative() || slab.byteSize() == 0 || slab.address() % SLAB_ALIGNMENT_BYTES != 0) {
            throw new DeviceFault(Kind.INVALID_VALUE, "a slab is native memory at a multiple of " + SLAB_ALIGNMENT_BYTES
                    + ", of 1 byte or more; this one has " + slab.byteSize() + " bytes at " + slab.address());
        }
        for (Known other : known.values()) {
            if (other.arena() == null && slab.asOverlappingSlice(other.memory()).isPresent()) {
                throw new DeviceFault(Kind.INVALID_VALUE, "the slab overlaps " + other.allocation() + ", which is registered");
            }
        }
        return add(Side.HOST, slab, null);
    }

    @Override
    public Allocation open(MemoryHandle handle, long bytes) throws DeviceFault {
        String path = switch (handle) {
            case MemoryHandle.SharedFile file -> file.path();
            case MemoryHandle.CudaIpc ipc ->
                throw new DeviceFault(Kind.UNSUPPORTED, "an IPC handle names memory of a GPU, this device is emulated: give a file");
        };
        MappedFile file = MappedFile.open(path, bytes);
        synchronized (this) {
            if (closed) {
                file.arena().close();
                checkOpen();
            }
            return add(Side.DEVICE, file.memory(), file.arena());
        }
    }

    private Allocation add(Side side, MemorySegment memory, @Nullable Arena arena) {
        Allocation allocation = new Allocation(++lastId, side, memory.address(), memory.byteSize());
        known.put(allocation.id(), new Known(allocation, memory, arena));
        return allocation;
    }

    @Override
    public void release(Allocation allocation) throws DeviceFault {
        Known released;
        synchronized (this) {
            checkOpen();
            released = find(allocation);
            known.remove(allocation.id());
        }
        if (released.arena() != null) {
            released.arena().close();
        }
    }

    /** Ends the streams, dropping what they have not begun, and unmaps what engines gave. */
    @Override
    public void close() {
        List<EmulatedStream> running;
        synchronized (this) {
            closed = true;
            running = List.copyOf(streams);
            streams.clear();
        }
        running.forEach(EmulatedStream::stop);
        gates.values().forEach(CopyGate::release);
        running.forEach(EmulatedStream::join);
        synchronized (this) {
            known.values().stream().map(Known::arena).filter(arena -> arena != null).forEach(Arena::close);
            known.clear();
        }
    }

    // --- for the streams

    synchronized void gone(EmulatedStream stream) {
        streams.remove(stream);
    }

    /** Refuses a copy that a device would have to refuse. */
    synchronized void check(Copy copy) throws DeviceFault {
        checkOpen();
        for (Copy.Linear run : copy.runs()) {
            find(run.device().allocation());
            find(run.host().allocation());
        }
        if (!copy.inBounds()) {
            throw new DeviceFault(Kind.INVALID_VALUE, "a copy of " + copy.bytes() + " bytes leaves its allocations: " + copy);
        }
    }

    synchronized MemorySegment memory(Place place, long bytes) throws DeviceFault {
        return find(place.allocation()).memory().asSlice(place.offset(), bytes);
    }

    private Known find(Allocation allocation) throws DeviceFault {
        Known found = known.get(allocation.id());
        if (found == null || !found.allocation().equals(allocation)) {
            throw new DeviceFault(Kind.INVALID_VALUE, allocation + " is not open here");
        }
        return found;
    }

    private void checkOpen() throws DeviceFault {
        if (closed) {
            throw new DeviceFault(Kind.DEVICE_LOST, "the emulated device " + name + " has been closed");
        }
    }
}
