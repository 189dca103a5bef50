/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * The few calls of the C library that the host pool needs and Java has not: mmap, munmap, madvise, mbind. Linux on x86-64 and aarch64; without state,
 * safe for use by several threads. A call that the system refuses is an answer and not an exception.
 *
 * <p>Mapped here, the pool is no direct buffer: -XX:MaxDirectMemorySize does not count it.
 */
final class SystemMemory {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MPOL_BIND = 2;
    private static final long NODES_IN_MASK = 64;
    private static final String ERRNO = "errno";
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_OF = STATE.varHandle(MemoryLayout.PathElement.groupElement(ERRNO));

    /** The result of a call: a value, or the system's number of its refusal. */
    record Answer(long value, int errno) {
        /** True when it was done. */
        boolean done() {
            return errno == 0;
        }
    }

    private final MethodHandle mmap;
    private final MethodHandle munmap;
    private final MethodHandle madvise;
    private final MethodHandle syscall;
    private final long mbind;

    @SuppressWarnings("restricted")
    private SystemMemory(Linker linker, SymbolLookup libc, long mbind) {
        Linker.Option errno = Linker.Option.captureCallState(ERRNO);
        ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
        ValueLayout.OfInt number = ValueLayout.JAVA_INT;
        this.mmap = linker.downcallHandle(
                libc.findOrThrow("mmap"), FunctionDescriptor.of(word, word, word, number, number, number, word), errno);
        this.munmap = linker.downcallHandle(libc.findOrThrow("munmap"), FunctionDescriptor.of(number, word, word), errno);
        this.madvise = linker.downcallHandle(libc.findOrThrow("madvise"), FunctionDescriptor.of(number, word, word, number), errno);
        this.syscall = linker.downcallHandle(
                libc.findOrThrow("syscall"),
                FunctionDescriptor.of(word, word, word, word, word, ValueLayout.ADDRESS, word, word),
                errno,
                Linker.Option.firstVariadicArg(1));
        this.mbind = mbind;
    }

    /** The calls of this system; empty where they are not known. */
    static Optional<SystemMemory> ofThisSystem() {
        long mbind = switch (System.getProperty("os.arch", "")) {
            case "amd64" -> 237;
            case "aarch64" -> 235;
            default -> 0;
        };
        if (mbind == 0 || !System.getProperty("os.name", "").equals("Linux")) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        return Optional.of(new SystemMemory(linker, linker.defaultLookup(), mbind));
    }

    /** Maps fresh memory of zeroes; nothing of it is there before it is touched. The value is the address. */
    Answer map(long bytes) {
        return call(state -> (long) mmap.invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L));
    }

    /** Mapped memory as a segment that is given back when its arena is closed. */
    @SuppressWarnings("restricted")
    MemorySegment segment(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, gone -> {
            Answer answer = unmap(gone.address(), bytes);
            if (!answer.done()) {
                throw new IllegalStateException("munmap of " + bytes + " bytes is refused with errno " + answer.errno());
            }
        });
    }

    /** Gives mapped memory back. */
    private Answer unmap(long address, long bytes) {
        return call(state -> (int) munmap.invokeExact(state, address, bytes));
    }

    /** Asks for transparent huge pages. */
    Answer adviseHugePages(long address, long bytes) {
        return call(state -> (int) madvise.invokeExact(state, address, bytes, MADV_HUGEPAGE));
    }

    /** Binds memory that is not touched yet to a NUMA node, 0 to 63. */
    Answer bind(long address, long bytes, int node) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L << node);
            return call(state -> (long) syscall.invokeExact(state, mbind, address, bytes, (long) MPOL_BIND, mask, NODES_IN_MASK + 1, 0L));
        }
    }

    private interface Call {
        long run(MemorySegment state) throws Throwable;
    }

    private static Answer call(Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long value = call.run(state);
            return new Answer(value, value == -1 ? (int) ERRNO_OF.get(state, 0L) : 0);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a call of the C library throws nothing", e);
        }
    }
}
