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
        /** A write puts half of the bytes. */
        TORN_WRITE,
        /** A read or write fails with IO, as on a full disk or a bad cable. */
        IO_ERROR,
        /** A read, write or probe finds nobody. */
        UNREACHABLE
    }

    private enum Call {
        PROBE,
        READ,
        WRITE
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

    /** Stands before every read and write; a failure it is asked for is an {@link Fault#IO_ERROR}. */
    public CopyGate gate() {
        return gate;
    }

    @Override
    public Presence probe(ObjectName name) {
        return hits(Call.PROBE, Fault.UNREACHABLE) ? Presence.UNREACHABLE : inner.probe(name);
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
        if (hits(Call.WRITE, Fault.BIT_FLIP)) {
            ByteBuffer wrong = copyOf(bytes, bytes.limit());
            wrong.put(wrong.limit() / 2, (byte) (wrong.get(wrong.limit() / 2) ^ 0x10));
            return inner.write(name, wrong, crc32c);
        }
        return inner.write(name, hits(Call.WRITE, Fault.TORN_WRITE) ? copyOf(bytes, bytes.limit() / 2) : bytes, crc32c);
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
            case BIT_FLIP, TORN_WRITE -> call == Call.WRITE;
            case IO_ERROR -> call != Call.PROBE;
            case UNREACHABLE -> true;
        };
    }

    private static ByteBuffer copyOf(ByteBuffer bytes, int length) {
        return ByteBuffer.allocateDirect(length).put(0, bytes, 0, length);
    }

    private static Result unreachable() {
        return Result.failed(OperationReason.STORE_UNAVAILABLE, "the store does not answer, as asked for");
    }
}
