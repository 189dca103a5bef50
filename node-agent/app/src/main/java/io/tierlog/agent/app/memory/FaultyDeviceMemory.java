/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFacts;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A device that goes wrong on request, around any other one: any call fails with any kind, half a plan is queued, a stream never becomes idle.
 * Without a request it is the other device.
 *
 * <p>After a kind that ends the context every call fails with it, as on a real device, while what was queued before goes on behind the
 * curtain until close. Safe for use by several threads. For tests and drills.
 */
public final class FaultyDeviceMemory implements DeviceMemory {
    /** The calls that can fail. */
    public enum Call {
        OPEN_STREAM,
        REGISTER,
        OPEN_MEMORY,
        RELEASE,
        ENQUEUE,
        /** An enqueue that queues the first half of its copies and then fails. */
        ENQUEUE_HALF,
        RECORD,
        WAIT,
        DRAIN,
        CLOSE_STREAM,
        CLOSE
    }

    /** A fault that will come after some more calls have gone well. */
    private record Fault(Kind kind, int skip) {}

    private final DeviceMemory inner;
    private final Map<Call, Fault> next = new EnumMap<>(Call.class);
    private @Nullable DeviceFault over;
    private boolean stuck;

    /** The other device, with faults still to be asked for. */
    public FaultyDeviceMemory(DeviceMemory inner) {
        this.inner = inner;
    }

    /** The next call of that sort fails, once. */
    public synchronized void failNext(Call call, Kind kind) {
        failAfter(call, 0, kind);
    }

    /** The call of that sort after {@code skip} more of them fails, once. */
    public synchronized void failAfter(Call call, int skip, Kind kind) {
        next.put(call, new Fault(kind, skip));
    }

    /** True while a fault that was asked for has not come. */
    public synchronized boolean armed() {
        return !next.isEmpty();
    }

    /** While set, no event is reached and no stream is idle: the outcome of everything stays unknown. */
    public synchronized void stuck(boolean now) {
        stuck = now;
        notifyAll();
    }

    private synchronized void check(Call call) throws DeviceFault {
        if (over != null && call != Call.CLOSE && call != Call.CLOSE_STREAM) {
            throw over;
        }
        Fault coming = next.remove(call);
        if (coming != null && coming.skip() > 0) {
            next.put(call, new Fault(coming.kind(), coming.skip() - 1));
        } else if (coming != null) {
            Kind kind = coming.kind();
            DeviceFault fault = new DeviceFault(kind, "asked for at " + call);
            over = kind.endsContext() && call != Call.CLOSE ? fault : over;
            throw fault;
        }
    }

    /** Waits out a stuck device; returns the time left, below 0 when it is over and the device still stuck. */
    private synchronized long unstuck(long timeoutNanos) {
        long deadline = System.nanoTime() + timeoutNanos;
        while (stuck && over == null) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return -1;
            }
            try {
                wait(left / 1_000_000 + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return -1;
            }
        }
        return Math.max(0, deadline - System.nanoTime());
    }

    @Override
    public DeviceFacts facts() {
        return inner.facts();
    }

    @Override
    public DeviceStream open(Direction direction) throws DeviceFault {
        check(Call.OPEN_STREAM);
        return new Stream(inner.open(direction));
    }

    @Override
    public Allocation register(MemorySegment slab) throws DeviceFault {
        check(Call.REGISTER);
        return inner.register(slab);
    }

    @Override
    public Allocation open(MemoryHandle handle, long bytes) throws DeviceFault {
        check(Call.OPEN_MEMORY);
        return inner.open(handle, bytes);
    }

    @Override
    public void release(Allocation allocation) throws DeviceFault {
        check(Call.RELEASE);
        inner.release(allocation);
    }

    @Override
    public void close() throws DeviceFault {
        check(Call.CLOSE);
        inner.close();
        synchronized (this) {
            over = over == null ? new DeviceFault(Kind.DEVICE_LOST, "the device has been closed") : over;
            notifyAll();
        }
    }

    private final class Stream implements DeviceStream {
        private final DeviceStream stream;

        Stream(DeviceStream stream) {
            this.stream = stream;
        }

        @Override
        public Direction direction() {
            return stream.direction();
        }

        @Override
        public void enqueue(CopyPlan plan) throws DeviceFault {
            check(Call.ENQUEUE);
            try {
                check(Call.ENQUEUE_HALF);
            } catch (DeviceFault fault) {
                List<Copy> half = plan.copies().subList(0, (plan.copies().size() + 1) / 2);
                stream.enqueue(new CopyPlan(half));
                throw fault;
            }
            stream.enqueue(plan);
        }

        @Override
        public DeviceEvent record() throws DeviceFault {
            check(Call.RECORD);
            return new Event(stream.record());
        }

        @Override
        public boolean drain(long timeoutNanos) throws DeviceFault {
            check(Call.DRAIN);
            long left = unstuck(timeoutNanos);
            check(Call.DRAIN);
            return left >= 0 && stream.drain(left);
        }

        @Override
        public void close() throws DeviceFault {
            check(Call.CLOSE_STREAM);
            stream.close();
        }
    }

    private final class Event implements DeviceEvent {
        private final DeviceEvent event;

        Event(DeviceEvent event) {
            this.event = event;
        }

        @Override
        public boolean poll() throws DeviceFault {
            return await(0);
        }

        @Override
        public boolean await(long timeoutNanos) throws DeviceFault {
            check(Call.WAIT);
            long left = unstuck(timeoutNanos);
            return left >= 0 && event.await(left);
        }

        @Override
        public void close() {
            event.close();
        }
    }
}
