/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.copy.HostImage;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DeviceFacts;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the core asks of a device, over any {@link DeviceMemory}: units of blocks become planned copies on two streams, one per direction, cut
 * into bounded pieces, checked by their checksums.
 *
 * <pre>
 *   unit --> [ queue, bounded by units and bytes ] --> piece, piece, ... at most workBytes in flight --> stream idle --> completion
 * </pre>
 *
 * <p>A unit ends only when its stream is idle for it, also when it failed. When a fault leaves that open, the stream is drained; while that
 * takes long, or when the context is over and the driver does not say so, the unit's blocks are reported UNKNOWN, and again once they are
 * known. Loads go before saves. Safe for use by several threads; completions come from the two threads here, or from the caller's when a unit
 * is refused, and their consumer must not block. Trade-off: two threads, and every byte is read once more for its checksum.
 */
public final class DeviceStreams implements DeviceCopies, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceStreams.class);

    /**
     * What bounds the streams.
     *
     * @param queueUnits units taken and not ended, per direction
     * @param queueBytes bytes of those, per direction; a single unit may have more
     * @param workBytes the unit of work: bytes in flight per direction
     * @param saveWaitMs how long each piece of a save lets loads go first, at most
     * @param drainMs how long a stream may take to become idle before its blocks are reported UNKNOWN, and at the end before the context is ended
     * @param gatherBelowBytes runs shorter than this are gathered by a kernel where the device has one; 0 never
     */
    public record Limits(int queueUnits, long queueBytes, long workBytes, long saveWaitMs, long drainMs, long gatherBelowBytes) {
        /** 1,024 units, 4 GiB, 4 MiB in flight, 20 ms, 2 s, 64 KiB. */
        public static final Limits DEFAULTS =
                new Limits(1_024, 4L << 30, 4L << 20, 20, 2_000, CopyPlanner.GATHER_BELOW_BYTES);

        public Limits {
            if (queueUnits < 1 || queueBytes < 1 || workBytes < 1 || saveWaitMs < 0 || drainMs < 1 || gatherBelowBytes < 0) {
                throw new IllegalArgumentException("stream limits: queueUnits " + queueUnits + ", queueBytes " + queueBytes + ", workBytes "
                        + workBytes + " and drainMs " + drainMs + " are 1 or more, saveWaitMs " + saveWaitMs + " and gatherBelowBytes "
                        + gatherBelowBytes + " 0 or more");
            }
        }

        /** Bytes of a piece: two are in flight, one is copied while the other is prepared or checked. */
        long pieceBytes() {
            return Math.max(1, workBytes / 2);
        }

        long drainNanos() {
            return TimeUnit.MILLISECONDS.toNanos(drainMs);
        }
    }

    private final DeviceMemory memory;
    private final HostPool host;
    private final Limits limits;
    private final CopyPlanner.Options options;
    private final Consumer<CopiesEnded> completions;
    private final List<Allocation> slabs = new ArrayList<>();
    private final LoadsFirst turns;
    private final CopyLane saves;
    private final CopyLane loads;
    /** Guards the field pool: a unit must take hold of it before another thread can release it. */
    private final Object attachment = new Object();
    /** Guards the end of the context. */
    private final Object ending = new Object();
    private @Nullable EnginePool pool;
    private volatile boolean lost;
    private boolean contextOver;

    private DeviceStreams(DeviceMemory memory, HostPool host, Limits limits, Consumer<? super CopiesEnded> completions) throws DeviceFault {
        this.memory = memory;
        this.host = host;
        this.limits = limits;
        this.completions = completions::accept;
        DeviceFacts facts = memory.facts();
        this.options = new CopyPlanner.Options(facts.mostPitchBytes(), facts.gathers() ? limits.gatherBelowBytes() : 0);
        for (MemorySegment slab : host.slabs()) {
            slabs.add(memory.register(slab));
        }
        this.turns = new LoadsFirst(limits.saveWaitMs());
        this.saves = new CopyLane(this, memory.open(Direction.SAVE));
        this.loads = new CopyLane(this, memory.open(Direction.LOAD));
    }

    /**
     * Registers the host pool and starts both streams. The device is this object's from here on: it is closed with it, or when this fails.
     *
     * @param name begins the names of the threads
     * @param completions receives the end of every unit, once; of one in doubt, twice; must not block
     * @throws DeviceFault when the host pool cannot be registered or a stream cannot be opened
     */
    public static DeviceStreams start(
            String name, DeviceMemory memory, HostPool host, Limits limits, Consumer<? super CopiesEnded> completions) throws DeviceFault {
        DeviceStreams streams;
        try {
            streams = new DeviceStreams(memory, host, limits, completions);
        } catch (DeviceFault e) {
            closeQuietly(memory);
            throw e;
        }
        streams.saves.start(name + "-save");
        streams.loads.start(name + "-load");
        return streams;
    }

    /** The pool that units queued from now on work on, whose holder this object becomes; units under way keep theirs. */
    public void attach(EnginePool opened) {
        swap(opened);
    }

    @Override
    public void detach() {
        swap(null);
    }

    private void swap(@Nullable EnginePool following) {
        EnginePool before;
        synchronized (attachment) {
            before = pool;
            pool = following;
        }
        if (before != null) {
            before.release();
        }
    }

    private @Nullable EnginePool retained() {
        synchronized (attachment) {
            if (pool != null) {
                pool.retain();
            }
            return pool;
        }
    }

    @Override
    public void save(long unit, List<PageCopy> copies) {
        saves.queue(new CopyUnit(unit, retained(), List.copyOf(copies), host.blockBytes()));
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        loads.queue(new CopyUnit(unit, retained(), List.copyOf(copies), host.blockBytes()));
    }

    /** True when the device has failed for good: every unit fails until the process is started again. */
    public boolean lost() {
        return lost;
    }

    /** Ends both streams and the device and returns when no byte moves any more. Units that have not begun end CANCELLED. */
    @Override
    public void close() {
        saves.stop();
        loads.stop();
        turns.end();
        if (!saves.join(limits.drainMs()) || !loads.join(limits.drainMs())) {
            LOG.warn("the streams are not idle {} ms after the end was asked for: the context is ended under them", limits.drainMs());
            endContext();
            saves.join(0);
            loads.join(0);
        }
        detach();
        endContext();
    }

    // --- for the lanes

    LoadsFirst turns() {
        return turns;
    }

    HostPool host() {
        return host;
    }

    Limits limits() {
        return limits;
    }

    CopyPlanner.Options options() {
        return options;
    }

    HostImage image(EnginePool engine) {
        return HostImage.pageFirst(slabs, host.pagesPerSlab(), engine.layout());
    }

    void post(CopiesEnded ended) {
        completions.accept(ended);
    }

    /** Ends the context after a fault that nothing survives; false when the driver does not say that it is over. */
    boolean lose(DeviceFault why) {
        if (!lost) {
            lost = true;
            LOG.error("the device is lost, copies fail from here on; start the agent again when it is back: {}", why.getMessage());
        }
        return endContext();
    }

    private boolean endContext() {
        synchronized (ending) {
            if (!contextOver) {
                try {
                    memory.close();
                    contextOver = true;
                } catch (DeviceFault e) {
                    LOG.error("the device does not end; pages it may still touch stay in quarantine until this process ends: {}", e.getMessage());
                }
            }
            return contextOver;
        }
    }

    private static void closeQuietly(DeviceMemory memory) {
        try {
            memory.close();
        } catch (DeviceFault e) {
            LOG.warn("a device that could not be started cannot be ended either: {}", e.getMessage());
        }
    }

    static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0);
    }

    static CopiesEnded allFailed(long unit, int blocks, OperationReason reason) {
        return new CopiesEnded(unit, Collections.nCopies(blocks, failed(reason)));
    }
}
