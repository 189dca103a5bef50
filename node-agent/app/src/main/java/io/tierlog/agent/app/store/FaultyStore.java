/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.CopyGate;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * A store that goes wrong on request, around another one. Each {@link Fault} asked for hits one later call, in the order asked; a call
 * whose kind the fault does not concern leaves it to the next. The gate makes it slow. Without a request it is the other store.
 *
 * <p>Safe for use by several threads. For tests and drills.
 */
public final class FaultyStore implements SharedStore {
    /** What can be asked for. */
    public enum Fault {
        /** A write puts bytes with one bit flipped under the checksum of the right ones. */
        BIT_FLIP,
        /** A write puts half of the bytes, and zeros behind them. */
        TORN_WRITE,
        /** A read, write or delete fails with IO, as on a full disk or a bad cable. */
        IO_ERROR,
        /** The store does not answer. */
        UNREACHABLE,
        /** A write says that it has arrived, and keeps nothing. */
        LOST_WRITE,
        /** A delete says that the object is gone, and keeps it. */
        LOST_DELETE,
        /** A probe says that an object is there, whether it is or not. */
        FALSE_PRESENCE
    }

    private enum Call {
        PROBE,
        READ,
        WRITE,
        DELETE
    }

    private final SharedStore inner;
    private final CopyGate gate = new CopyGate();
    private final ArrayDeque<Fault> faults = new ArrayDeque<>();

    public FaultyStore(SharedStore inner) {
        this.inner = inner;
    }

    /** One more fault. */
    public void inject(Fault fault) {
        synchronized (faults) {
            faults.add(fault);
        }
    }

    /** Stands before every read, write and delete; a failure it is asked for is an {@link Fault#IO_ERROR}. */
    public CopyGate gate() {
        return gate;
    }

    @Override
    public Presence probe(ObjectName name) {
        if (hits(Call.PROBE, Fault.FALSE_PRESENCE)) {
            return Presence.PRESENT;
        }
        return hits(Call.PROBE, Fault.UNREACHABLE) ? Presence.UNREACHABLE : inner.probe(name);
    }

    @Override
    public Presence check(ObjectName name, int bytes) {
        return hits(Call.PROBE, Fault.UNREACHABLE) ? Presence.UNREACHABLE : inner.check(name, bytes);
    }

    @Override
    public Result read(ObjectName name, ByteBuffer into) {
        if (!gate.admit() || hits(Call.READ, Fault.IO_ERROR)) {
            return Result.failed(OperationReason.IO, "input/output error, as asked for");
        }
        return hits(Call.READ, Fault.UNREACHABLE) ? unreachable() : inner.read(name, into);
    }

    @Override
    public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
        if (!gate.admit() || hits(Call.WRITE, Fault.IO_ERROR)) {
            return Result.failed(OperationReason.IO, "input/output error, as asked for");
        }
        if (hits(Call.WRITE, Fault.UNREACHABLE)) {
            return unreachable();
        }
        if (hits(Call.WRITE, Fault.LOST_WRITE)) {
            return Result.arrived(crc32c, 1);
        }
        if (hits(Call.WRITE, Fault.BIT_FLIP)) {
            ByteBuffer wrong = copyOf(bytes, bytes.limit());
            wrong.put(wrong.limit() / 2, (byte) (wrong.get(wrong.limit() / 2) ^ 0x10));
            return inner.write(name, wrong, crc32c);
        }
        return inner.write(name, hits(Call.WRITE, Fault.TORN_WRITE) ? copyOf(bytes, bytes.limit() / 2) : bytes, crc32c);
    }

    @Override
    public Result delete(ObjectName name, long generation) {
        if (!gate.admit() || hits(Call.DELETE, Fault.IO_ERROR)) {
            return Result.failed(OperationReason.IO, "input/output error, as asked for");
        }
        if (hits(Call.DELETE, Fault.UNREACHABLE)) {
            return unreachable();
        }
        return hits(Call.DELETE, Fault.LOST_DELETE) ? Result.gone(generation) : inner.delete(name, generation);
    }

    @Override
    public long wrongObjects() {
        return inner.wrongObjects();
    }

    @Override
    public void close() {
        gate.resume();
        inner.close();
    }

    private boolean hits(Call call, Fault fault) {
        synchronized (faults) {
            boolean hit = faults.peek() == fault && concerns(fault, call);
            if (hit) {
                faults.remove();
            }
            return hit;
        }
    }

    private static boolean concerns(Fault fault, Call call) {
        return switch (fault) {
            case BIT_FLIP, TORN_WRITE, LOST_WRITE -> call == Call.WRITE;
            case LOST_DELETE -> call == Call.DELETE;
            case FALSE_PRESENCE -> call == Call.PROBE;
            case IO_ERROR -> call != Call.PROBE;
            case UNREACHABLE -> true;
        };
    }

    /** The first bytes, and zeros behind them. */
    private static ByteBuffer copyOf(ByteBuffer bytes, int length) {
        return ByteBuffer.allocateDirect(bytes.limit()).put(0, bytes, 0, length);
    }

    private static Result unreachable() {
        return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store does not answer, as asked for");
    }
}
