/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;

/**
 * A disk that goes wrong on request, around another one. Each injected {@link Fault} hits one later call of its kind, in the order of injection
 * within the kind. Without a request it is the other disk.
 *
 * <p>Safe for use by several threads. For tests and drills.
 */
public final class FaultySegmentIo implements SegmentIo {
    /** The kinds of calls. */
    private enum Call {
        WRITE,
        READ,
        FORCE
    }

    /** The faults. */
    public enum Fault {
        /** A call that goes well: to let faults hit a later one. */
        NONE_WRITE(Call.WRITE),
        /** All but the last 512 bytes are written, and the result reports it. */
        SHORT_WRITE(Call.WRITE),
        /** All but the last 512 bytes are written, and the result reports all. */
        LOST_TAIL(Call.WRITE),
        /** Half is written, then an error. */
        TORN_WRITE(Call.WRITE),
        /** One bit in the middle is wrong. */
        BIT_FLIP(Call.WRITE),
        /** Half is written, then the call is interrupted. */
        INTERRUPTED_WRITE(Call.WRITE),
        /** Nothing is written: the disk is full. */
        NO_SPACE(Call.WRITE),
        /** Nothing is written: input/output error. */
        WRITE_ERROR(Call.WRITE),
        /** All is written, one write's length too early. */
        MISDIRECTED(Call.WRITE),
        /** A read that goes well. */
        NONE_READ(Call.READ),
        /** Half is read, and the result reports it. */
        SHORT_READ(Call.READ),
        /** The read is interrupted. */
        INTERRUPTED_READ(Call.READ),
        /** Input/output error. */
        READ_ERROR(Call.READ),
        /** One bit in the middle is read wrong. */
        READ_BIT_FLIP(Call.READ),
        /** What was written is not made durable, and the call fails. */
        FORCE_FAILS(Call.FORCE);

        private final Call call;

        Fault(Call call) {
            this.call = call;
        }
    }

    private static final int SECTOR_BYTES = 512;

    private final SegmentIo inner;
    private final ArrayDeque<Fault> writes = new ArrayDeque<>();
    private final ArrayDeque<Fault> reads = new ArrayDeque<>();
    private final ArrayDeque<Fault> forces = new ArrayDeque<>();
    private volatile Runnable beforeRead = () -> {};
    private volatile Runnable beforeWrite = () -> {};

    public FaultySegmentIo(SegmentIo inner) {
        this.inner = inner;
    }

    /** One more fault for each of these. */
    public void inject(Fault... faults) {
        for (Fault fault : faults) {
            ArrayDeque<Fault> queue = queue(fault.call);
            synchronized (queue) {
                queue.add(fault);
            }
        }
    }

    /** Takes back all faults that have not hit yet. */
    public void calm() {
        for (Call call : Call.values()) {
            ArrayDeque<Fault> queue = queue(call);
            synchronized (queue) {
                queue.clear();
            }
        }
    }

    /** Called by the reading thread before every read. */
    public void beforeRead(Runnable hook) {
        beforeRead = hook;
    }

    /** Called by the writing thread before every write. */
    public void beforeWrite(Runnable hook) {
        beforeWrite = hook;
    }

    @Override
    public String description() {
        return inner.description() + ", with faults";
    }

    @Override
    public int alignBytes() {
        return inner.alignBytes();
    }

    @Override
    public boolean reservesSpace() {
        return inner.reservesSpace();
    }

    @Override
    public List<Long> list() throws IOException {
        return inner.list();
    }

    @Override
    public SegmentFile create(long number, long bytes) throws IOException {
        return new Faulty(inner.create(number, bytes));
    }

    @Override
    public SegmentFile open(long number) throws IOException {
        return new Faulty(inner.open(number));
    }

    @Override
    public void delete(long number) throws IOException {
        inner.delete(number);
    }

    @Override
    public long usableBytes() throws IOException {
        return inner.usableBytes();
    }

    @Override
    public Optional<byte[]> label() throws IOException {
        return inner.label();
    }

    @Override
    public void writeLabel(byte[] label) throws IOException {
        inner.writeLabel(label);
    }

    @Override
    public void close() {
        inner.close();
    }

    private ArrayDeque<Fault> queue(Call call) {
        return switch (call) {
            case WRITE -> writes;
            case READ -> reads;
            case FORCE -> forces;
        };
    }

    private Fault next(Call call, Fault none) {
        ArrayDeque<Fault> queue = queue(call);
        synchronized (queue) {
            Fault fault = queue.poll();
            return fault == null ? none : fault;
        }
    }

    private static void flip(MemorySegment bytes) {
        long middle = bytes.byteSize() / 2;
        bytes.set(ValueLayout.JAVA_BYTE, middle, (byte) (bytes.get(ValueLayout.JAVA_BYTE, middle) ^ 0x10));
    }

    /** An open segment. */
    private final class Faulty implements SegmentFile {
        private final SegmentFile file;

        Faulty(SegmentFile file) {
            this.file = file;
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public int write(MemorySegment from, long at) throws IOException {
            beforeWrite.run();
            long bytes = from.byteSize();
            Fault fault = next(Call.WRITE, Fault.NONE_WRITE);
            return switch (fault) {
                case SHORT_WRITE -> part(from, bytes - SECTOR_BYTES, at);
                case LOST_TAIL -> {
                    part(from, bytes - SECTOR_BYTES, at);
                    yield (int) bytes;
                }
                case TORN_WRITE -> {
                    part(from, bytes / 2, at);
                    throw new IOException("input/output error after half of it, injected");
                }
                case BIT_FLIP -> flipped(from, at);
                case INTERRUPTED_WRITE -> {
                    part(from, bytes / 2, at);
                    throw new InterruptedIOException("interrupted, injected");
                }
                case NO_SPACE -> throw new NoSpaceException("no space left on device, injected");
                case WRITE_ERROR -> throw new IOException("input/output error, injected");
                case MISDIRECTED -> file.write(from, Math.max(0, at - bytes));
                default -> file.write(from, at);
            };
        }

        @Override
        public int read(MemorySegment into, long at) throws IOException {
            beforeRead.run();
            return switch (next(Call.READ, Fault.NONE_READ)) {
                case SHORT_READ -> half(into, at);
                case INTERRUPTED_READ -> throw new InterruptedIOException("interrupted, injected");
                case READ_ERROR -> throw new IOException("input/output error, injected");
                case READ_BIT_FLIP -> {
                    int read = file.read(into, at);
                    flip(into);
                    yield read;
                }
                default -> file.read(into, at);
            };
        }

        @Override
        public void force() throws IOException {
            if (next(Call.FORCE, Fault.NONE_WRITE) == Fault.FORCE_FAILS) {
                throw new IOException("input/output error while forcing, injected");
            }
            file.force();
        }

        @Override
        public void truncate(long bytes) throws IOException {
            file.truncate(bytes);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }

        /** Writes the first bytes past the alignment of the disk: what a device does is not bound to what a caller may ask. */
        private int part(MemorySegment from, long length, long at) throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                // The tail keeps what was on the disk, so that the write itself stays aligned.
                MemorySegment mixed = arena.allocate(from.byteSize(), alignBytes());
                for (long done = 0, n = 0; done < mixed.byteSize() && n >= 0; done += Math.max(0, n)) {
                    n = file.read(mixed.asSlice(done), at + done);
                }
                MemorySegment.copy(from, 0, mixed, 0, length);
                file.write(mixed, at);
                return (int) length;
            }
        }

        private int flipped(MemorySegment from, long at) throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment wrong = arena.allocate(from.byteSize(), alignBytes()).copyFrom(from);
                flip(wrong);
                return file.write(wrong, at);
            }
        }

        private int half(MemorySegment into, long at) throws IOException {
            long half = into.byteSize() / 2 / alignBytes() * alignBytes();
            return half == 0 ? file.read(into, at) : file.read(into.asSlice(0, half), at);
        }
    }
}
