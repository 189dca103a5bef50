/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.AgentInput.CopiesEnded;
import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A device whose memory is a file in shared memory: real bytes move between it and the host pool, by two streams, one per direction, each
 * with a thread, a bounded queue and a bandwidth.
 *
 * <p>Safe for use by several threads. A unit works on the file that was attached when it was queued. Completions come from the streams'
 * threads, or from the caller's when a queue is full; the consumer must not block. The price: a page is read once more than a copy engine
 * would, for its checksum.
 */
public final class EmulatedDevice implements DeviceCopies, AutoCloseable {
    /**
     * What bounds a device.
     *
     * @param queueUnits units that wait per direction
     * @param chunkBytes the largest piece that is copied at once; the bandwidth is kept per piece
     * @param bytesPerSecond bandwidth per direction; 0 for no limit
     */
    public record Limits(int queueUnits, int chunkBytes, long bytesPerSecond) {
        /** 1,024 units, pieces of 256 KiB, no limit. */
        public static final Limits DEFAULTS = new Limits(1_024, 256 << 10, 0);

        public Limits {
            if (queueUnits < 1 || chunkBytes < 1 || bytesPerSecond < 0) {
                throw new IllegalArgumentException("device limits: queueUnits " + queueUnits + " and chunkBytes " + chunkBytes
                        + " are 1 or more, bytesPerSecond " + bytesPerSecond + " is 0 or more");
            }
        }

        /** The same with another bandwidth. */
        public Limits withBytesPerSecond(long bandwidth) {
            return new Limits(queueUnits, chunkBytes, bandwidth);
        }
    }

    private final HostPool host;
    private final Limits limits;
    private final CopyStream saves;
    private final CopyStream loads;
    /** Guards the field device: a unit must take hold of the file before anyone can let go of it. */
    private final Object attachment = new Object();
    private @Nullable DeviceFile device;

    private EmulatedDevice(String name, HostPool host, Limits limits, Consumer<? super CopiesEnded> completions) {
        this.host = host;
        this.limits = limits;
        this.saves = new CopyStream(name + "-save", limits.queueUnits(), completions::accept, this::saver);
        this.loads = new CopyStream(name + "-load", limits.queueUnits(), completions::accept, this::loader);
    }

    /**
     * Starts the two streams.
     *
     * @param name begins the names of the threads
     * @param completions hears of every unit, once; must not block
     */
    public static EmulatedDevice start(String name, HostPool host, Limits limits, Consumer<? super CopiesEnded> completions) {
        EmulatedDevice started = new EmulatedDevice(name, host, limits, completions);
        started.saves.start();
        started.loads.start();
        return started;
    }

    /** The file that units queued from now on work on, whose holder this device becomes; units under way keep theirs. */
    public void attach(DeviceFile file) {
        swap(file);
    }

    /** Units queued from now on fail with ENGINE_GONE. */
    public void detach() {
        swap(null);
    }

    private void swap(@Nullable DeviceFile next) {
        DeviceFile before;
        synchronized (attachment) {
            before = device;
            device = next;
        }
        if (before != null) {
            before.release();
        }
    }

    private @Nullable DeviceFile retained() {
        synchronized (attachment) {
            if (device != null) {
                device.retain();
            }
            return device;
        }
    }

    @Override
    public void save(long unit, List<PageCopy> copies) {
        saves.queue(unit, retained(), copies);
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        loads.queue(unit, retained(), copies);
    }

    /** The gate in the save stream. */
    public CopyGate saveGate() {
        return saves.gate();
    }

    /** The gate in the load stream. */
    public CopyGate loadGate() {
        return loads.gate();
    }

    /** Ends both streams and returns when no byte moves any more. Units that have not begun end CANCELLED. */
    @Override
    public void close() {
        saves.close();
        loads.close();
        detach();
    }

    private CopyStream.BlockCopier saver() {
        Pacer pacer = new Pacer(limits.bytesPerSecond(), () -> saves.closed());
        return (file, copy) -> {
            MemorySegment to = host.page(copy.hostPage());
            move(file.page(copy.devicePage()), to, pacer);
            return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, host.crc32c(copy.hostPage()));
        };
    }

    private CopyStream.BlockCopier loader() {
        Pacer pacer = new Pacer(limits.bytesPerSecond(), () -> loads.closed());
        return (file, copy) -> {
            int found = host.crc32c(copy.hostPage());
            if (found != copy.crc32c()) {
                return new UnitResult(BlockStatus.FAILED, OperationReason.CHECKSUM, found);
            }
            move(host.page(copy.hostPage()), file.page(copy.devicePage()), pacer);
            return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, found);
        };
    }

    private void move(MemorySegment from, MemorySegment to, Pacer pacer) {
        long bytes = from.byteSize();
        for (long at = 0; at < bytes; at += limits.chunkBytes()) {
            long piece = Math.min(limits.chunkBytes(), bytes - at);
            pacer.begin();
            MemorySegment.copy(from, at, to, at, piece);
            pacer.end(piece);
        }
    }
}
