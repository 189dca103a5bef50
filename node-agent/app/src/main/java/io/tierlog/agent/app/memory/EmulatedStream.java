/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One stream of an emulated device: a thread that takes copies and marks from a bounded queue, in order. A copy that fails makes the next mark
 * fail, and what stands before that mark is left out; after it the stream goes on.
 */
final class EmulatedStream implements DeviceStream {
    private static final Logger LOG = LoggerFactory.getLogger(EmulatedStream.class);

    private sealed interface Task {}

    private record Moving(Copy copy) implements Task {}

    private record Mark(Event event) implements Task {}

    private final EmulatedDevice device;
    private final Direction direction;
    private final EmulatedDevice.Limits limits;
    private final Pacer pacer;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Task> queue = new ArrayDeque<>();
    private boolean busy;
    private boolean closing;
    private volatile boolean stopped;
    /** Of the thread: what has failed since the last mark. */
    private @Nullable DeviceFault failed;

    EmulatedStream(String name, EmulatedDevice device, Direction direction, EmulatedDevice.Limits limits) {
        this.device = device;
        this.direction = direction;
        this.limits = limits;
        this.pacer = new Pacer(limits.bytesPerSecond(), () -> stopped);
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::work);
    }

    void start() {
        thread.start();
    }

    @Override
    public Direction direction() {
        return direction;
    }

    @Override
    public void enqueue(CopyPlan plan) throws DeviceFault {
        for (Copy copy : plan.copies()) {
            device.check(copy);
        }
        lock.lock();
        try {
            checkRunning();
            if (queue.size() + plan.copies().size() > limits.queuedCopies()) {
                throw new DeviceFault(Kind.OUT_OF_MEMORY, queue.size() + " copies wait already, " + plan.copies().size()
                        + " more are over the " + limits.queuedCopies() + " of a stream");
            }
            plan.copies().forEach(copy -> queue.add(new Moving(copy)));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public DeviceEvent record() throws DeviceFault {
        lock.lock();
        try {
            checkRunning();
            Event event = new Event();
            queue.add(new Mark(event));
            changed.signalAll();
            return event;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean drain(long timeoutNanos) throws DeviceFault {
        lock.lock();
        try {
            boolean idle = await(() -> (queue.isEmpty() && !busy) || stopped, timeoutNanos);
            checkRunning();
            return idle;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread once it has finished what is queued. */
    @Override
    public void close() {
        device.gone(this);
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread after the piece at hand; what is queued is dropped. */
    void stop() {
        lock.lock();
        try {
            stopped = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        LockSupport.unpark(thread);
    }

    /** Waits for the end of the thread. */
    void join() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void checkRunning() throws DeviceFault {
        if (stopped) {
            throw new DeviceFault(Kind.DEVICE_LOST, "the device of stream " + thread.getName() + " has been closed");
        }
    }

    /** Waits, with the lock held, until it is so or time is over; an interrupt is kept for later. */
    private boolean await(BooleanSupplier so, long nanos) {
        boolean interrupted = false;
        long left = nanos;
        long deadline = System.nanoTime() + nanos;
        while (!so.getAsBoolean() && left > 0) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException e) {
                interrupted = true;
                left = deadline - System.nanoTime();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return so.getAsBoolean();
    }

    // --- the thread

    private void work() {
        for (Task task = next(); task != null; task = next()) {
            switch (task) {
                case Moving moving -> move(moving.copy());
                case Mark mark -> {
                    mark.event().reach(failed);
                    failed = null;
                }
            }
        }
        lose();
    }

    private @Nullable Task next() {
        lock.lock();
        try {
            busy = false;
            changed.signalAll();
            while (queue.isEmpty() && !stopped && !closing) {
                changed.awaitUninterruptibly();
            }
            Task task = stopped ? null : queue.poll();
            busy = task != null;
            return task;
        } finally {
            lock.unlock();
        }
    }

    /** Marks that are never reached say so. */
    private void lose() {
        lock.lock();
        try {
            for (Task task = queue.poll(); task != null; task = queue.poll()) {
                if (task instanceof Mark mark) {
                    mark.event().reach(new DeviceFault(Kind.DEVICE_LOST, "the device was closed before stream " + thread.getName() + " got there"));
                }
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void move(Copy copy) {
        if (failed != null) {
            return;
        }
        try {
            if (!device.gate(direction).pass()) {
                failed = new DeviceFault(Kind.COPY_FAILED, "the gate of " + thread.getName() + " fails this copy");
                return;
            }
            for (Copy.Linear run : copy.runs()) {
                move(run);
            }
        } catch (DeviceFault e) {
            failed = e;
        } catch (InterruptedException e) {
            failed = new DeviceFault(Kind.COPY_FAILED, "the thread " + thread.getName() + " was interrupted");
        } catch (IllegalStateException e) {
            failed = new DeviceFault(Kind.MEMORY_GONE, "memory was released under a copy: " + e.getMessage());
        } catch (InternalError e) {
            // What the JVM makes of a page fault: the engine has shortened its file.
            failed = new DeviceFault(Kind.MEMORY_GONE, "memory of the engine is not there any more: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("stream {} cannot copy {}", thread.getName(), copy, e);
            failed = new DeviceFault(Kind.COPY_FAILED, "the copy threw " + e);
        }
    }

    private void move(Copy.Linear run) throws DeviceFault {
        MemorySegment onDevice = device.memory(run.device(), run.bytes());
        MemorySegment onHost = device.memory(run.host(), run.bytes());
        MemorySegment from = direction == Direction.LOAD ? onHost : onDevice;
        MemorySegment to = direction == Direction.LOAD ? onDevice : onHost;
        for (long at = 0; at < run.bytes() && !stopped; at += limits.chunkBytes()) {
            long piece = Math.min(limits.chunkBytes(), run.bytes() - at);
            pacer.begin();
            MemorySegment.copy(from, at, to, at, piece);
            pacer.end(piece);
        }
    }

    /** A mark; the lock of the stream guards it and hands over what was copied before it. */
    private final class Event implements DeviceEvent {
        private boolean reached;
        private @Nullable DeviceFault fault;

        void reach(@Nullable DeviceFault why) {
            lock.lock();
            try {
                reached = true;
                fault = why;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public boolean poll() throws DeviceFault {
            return await(0);
        }

        @Override
        public boolean await(long timeoutNanos) throws DeviceFault {
            lock.lock();
            try {
                boolean there = EmulatedStream.this.await(() -> reached, timeoutNanos);
                if (fault != null) {
                    throw fault;
                }
                return there;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
