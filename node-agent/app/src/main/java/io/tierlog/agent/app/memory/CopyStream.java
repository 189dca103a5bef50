/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.AgentInput.CopiesEnded;
import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One direction of a device: a thread that works off a bounded queue of units, in order, one at a time. A unit's completion is posted
 * after its last byte has moved and never before; that holds for failures and for the end of the stream too.
 *
 * <p>{@link #queue} and {@link #close} may be called from any thread.
 */
final class CopyStream implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CopyStream.class);

    /** Copies one block; returns what became of it. */
    interface BlockCopier {
        UnitResult copy(DeviceFile device, PageCopy copy);
    }

    /** A unit is a holder of its file until it has ended. */
    private record Unit(long id, @Nullable DeviceFile device, List<PageCopy> copies) {
        CopiesEnded end(List<UnitResult> results) {
            if (device != null) {
                device.release();
            }
            return new CopiesEnded(id, results);
        }
    }

    private final ArrayDeque<Unit> queue = new ArrayDeque<>();
    private final int queueUnits;
    private final CopyGate gate = new CopyGate();
    private final BlockCopier copier;
    private final Consumer<CopiesEnded> completions;
    private final Thread thread;
    private volatile boolean closed;

    CopyStream(String name, int queueUnits, Consumer<CopiesEnded> completions, Supplier<BlockCopier> copier) {
        this.queueUnits = queueUnits;
        this.completions = completions;
        this.copier = copier.get();
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::work);
    }

    void start() {
        thread.start();
    }

    CopyGate gate() {
        return gate;
    }

    boolean closed() {
        return closed;
    }

    /**
     * Queues a unit, which takes over the caller's hold of the file, or answers it at once: with QUEUE_FULL when there is no room, with
     * CANCELLED when the stream has ended.
     */
    void queue(long id, @Nullable DeviceFile device, List<PageCopy> copies) {
        Unit unit = new Unit(id, device, List.copyOf(copies));
        OperationReason refusal;
        synchronized (queue) {
            if (!closed && queue.size() < queueUnits) {
                queue.add(unit);
                queue.notifyAll();
                return;
            }
            refusal = closed ? OperationReason.CANCELLED : OperationReason.QUEUE_FULL;
        }
        completions.accept(unit.end(Collections.nCopies(copies.size(), failed(refusal))));
    }

    /** Ends the stream: the block under way is finished, the rest is answered with CANCELLED. Returns when no byte moves any more. */
    @Override
    public void close() {
        synchronized (queue) {
            closed = true;
            queue.notifyAll();
        }
        gate.release();
        LockSupport.unpark(thread);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        for (Unit unit = next(); unit != null; unit = next()) {
            completions.accept(unit.end(run(unit)));
        }
    }

    private @Nullable Unit next() {
        synchronized (queue) {
            while (queue.isEmpty() && !closed) {
                try {
                    queue.wait();
                } catch (InterruptedException e) {
                    // Nobody interrupts this thread on purpose; the end comes by close().
                    LOG.warn("{} was interrupted and goes on", thread.getName());
                }
            }
            return queue.poll();
        }
    }

    private List<UnitResult> run(Unit unit) {
        List<UnitResult> results = new ArrayList<>(unit.copies().size());
        DeviceFile device = unit.device();
        for (PageCopy copy : unit.copies()) {
            if (closed) {
                results.add(failed(OperationReason.CANCELLED));
            } else if (device == null) {
                results.add(failed(OperationReason.ENGINE_GONE));
            } else {
                results.add(one(device, copy));
            }
        }
        return results;
    }

    private UnitResult one(DeviceFile device, PageCopy copy) {
        try {
            return gate.pass() ? copier.copy(device, copy) : failed(OperationReason.DEVICE_FAULT);
        } catch (IndexOutOfBoundsException e) {
            LOG.warn("{}: {}", thread.getName(), e.getMessage());
            return failed(OperationReason.DEVICE_FAULT);
        } catch (InternalError e) {
            // What the JVM makes of a page fault: the engine has shortened its file.
            LOG.warn("{}: device page {} is not there any more: {}", thread.getName(), copy.devicePage(), e.getMessage());
            return failed(OperationReason.DEVICE_FAULT);
        } catch (InterruptedException e) {
            return failed(OperationReason.CANCELLED);
        }
    }

    static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0);
    }

    static CopiesEnded allFailed(long unit, int blocks, OperationReason reason) {
        return new CopiesEnded(unit, Collections.nCopies(blocks, failed(reason)));
    }
}
