/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One direction: a thread that works off a bounded queue of units, in order, one at a time.
 *
 * <p>{@link #queue} and {@link #stop} may be called from any thread.
 */
final class CopyLane {
    private static final Logger LOG = LoggerFactory.getLogger(CopyLane.class);

    private final DeviceStreams owner;
    private final DeviceStream stream;
    private final ArrayDeque<CopyUnit> queue = new ArrayDeque<>();
    private final Thread thread;
    /** Units and bytes taken and not ended, the one under way included. */
    private int units;
    private long bytes;
    private volatile boolean stopped;

    CopyLane(DeviceStreams owner, DeviceStream stream) {
        this.owner = owner;
        this.stream = stream;
        this.thread = Thread.ofPlatform().daemon().unstarted(this::work);
    }

    void start(String name) {
        thread.setName(name);
        thread.start();
    }

    boolean stopped() {
        return stopped;
    }

    boolean loads() {
        return stream.direction() == Direction.LOAD;
    }

    /**
     * Queues a unit, or answers it at once: with QUEUE_FULL when the queue is full, with CANCELLED when the lane has ended, with DEVICE_FAULT
     * when the device is lost.
     */
    void queue(CopyUnit unit) {
        OperationReason refusal;
        synchronized (queue) {
            DeviceStreams.Limits limits = owner.limits();
            boolean fits = units < limits.queueUnits() && (units == 0 || bytes + unit.bytes() <= limits.queueBytes());
            if (!stopped && fits) {
                if (loads()) {
                    owner.turns().loadTaken();
                }
                units++;
                bytes += unit.bytes();
                queue.add(unit);
                queue.notifyAll();
                return;
            }
            refusal = stopped ? OperationReason.CANCELLED : OperationReason.QUEUE_FULL;
        }
        unit.letGo();
        owner.post(DeviceStreams.allFailed(unit.id(), unit.copies().size(), refusal));
    }

    /** Ends the lane after the blocks that have begun; the rest is answered with CANCELLED. */
    void stop() {
        synchronized (queue) {
            stopped = true;
            queue.notifyAll();
        }
    }

    /** Waits for the end of the thread, 0 for as long as it takes; false when time was over first. */
    boolean join(long timeoutMs) {
        boolean interrupted = false;
        long deadline = System.nanoTime() + timeoutMs * 1_000_000;
        while (thread.isAlive() && (timeoutMs == 0 || deadline - System.nanoTime() > 0)) {
            try {
                thread.join(timeoutMs);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    private void work() {
        for (CopyUnit unit = next(); unit != null; unit = next()) {
            UnitRun run = new UnitRun(owner, this, stream, unit);
            CopiesEnded ended = run.run();
            if (run.idle()) {
                unit.letGo();
            }
            synchronized (queue) {
                units--;
                bytes -= unit.bytes();
            }
            owner.post(ended);
            if (loads()) {
                owner.turns().loadEnded();
            }
        }
    }

    private @Nullable CopyUnit next() {
        synchronized (queue) {
            while (queue.isEmpty() && !stopped) {
                try {
                    queue.wait();
                } catch (InterruptedException e) {
                    // No code interrupts this thread on purpose; the end comes by stop().
                    LOG.warn("{} was interrupted and goes on", thread.getName());
                }
            }
            return queue.poll();
        }
    }
}
