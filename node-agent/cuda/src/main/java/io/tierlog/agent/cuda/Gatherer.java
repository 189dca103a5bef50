/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * Runs gathers on one stream: a ring of descriptors in pinned memory, which the kernel reads when its turn comes. So a piece of the ring is
 * written again only when an event behind its kernel has been reached. For the thread that has the stream; called inside the context.
 *
 * <p>Descriptor: source, destination, bytes, 8 bytes each. When the ring is full, the caller does single copies: this never waits.
 */
final class Gatherer {
    private static final int PIECE_BYTES = 3 * Long.BYTES;
    private static final long ALIGNMENT = 4_096;
    private static final int FROM = 0;
    private static final int TO = 1;
    private static final int BYTES = 2;

    /** Where the fragments of a gather are for a kernel. */
    interface HostAddresses {
        long deviceAddress(Copy.Fragment fragment) throws DeviceFault;
    }

    /** Descriptors behind those of the launch before, in use until the event is reached; without one, until the stream is idle. */
    private record Launch(int pieces, @Nullable CudaEvent event) {
        boolean over() throws DeviceFault {
            return event != null && event.poll();
        }

        void close() {
            if (event != null) {
                event.close();
            }
        }
    }

    private final CudaContext context;
    private final CUstream stream;
    private final Direction direction;
    private final CudaLimits limits;
    private final CUfunction kernel;
    private final Arena arena = Arena.ofShared();
    private final HostSlab ring;
    private final ArrayDeque<Launch> launches = new ArrayDeque<>();
    private int next;
    private int used;

    Gatherer(CudaContext context, CudaLimits limits, CUfunction kernel, CUstream stream, Direction direction) throws DeviceFault {
        this.context = context;
        this.limits = limits;
        this.kernel = kernel;
        this.stream = stream;
        this.direction = direction;
        MemorySegment memory = arena.allocate((long) limits.gatherPieces() * PIECE_BYTES, ALIGNMENT);
        try {
            this.ring = HostSlab.pin(context, memory);
        } catch (DeviceFault e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Queues as many fragments as the ring has slots for in one run, from {@code from} on.
     *
     * @return how many; 0 when it is full
     */
    int launch(List<Copy.Fragment> fragments, int from, long bytes, HostAddresses host) throws DeviceFault {
        reclaim();
        int count = Math.min(fragments.size() - from, Math.min(limits.gatherPieces() - used, limits.gatherPieces() - next));
        for (int i = 0; i < count; i++) {
            Copy.Fragment fragment = fragments.get(from + i);
            describe(next + i, fragment.device().address(), host.deviceAddress(fragment), bytes);
        }
        if (count > 0) {
            @Nullable CudaEvent event = null;
            try {
                start(next, count);
                event = CudaEvent.record(context, limits.looks(), stream);
            } finally {
                // Also when that failed: a kernel may still read them.
                launches.add(new Launch(count, event));
                next = (next + count) % limits.gatherPieces();
                used += count;
            }
        }
        return count;
    }

    private void describe(int piece, long device, long host, long bytes) {
        long at = (long) piece * PIECE_BYTES;
        boolean load = direction == Direction.LOAD;
        ring.memory().set(ValueLayout.JAVA_LONG, at + FROM * Long.BYTES, load ? host : device);
        ring.memory().set(ValueLayout.JAVA_LONG, at + TO * Long.BYTES, load ? device : host);
        ring.memory().set(ValueLayout.JAVA_LONG, at + BYTES * Long.BYTES, bytes);
    }

    private void start(int first, int count) throws DeviceFault {
        Pointer parameters = Pointer.to(
                Pointer.to(new long[] {ring.deviceAddress() + (long) first * PIECE_BYTES}),
                Pointer.to(new int[] {count}));
        int blocks = Math.min(count, limits.gatherBlocks());
        int code = JCudaDriver.cuLaunchKernel(
                kernel, blocks, 1, 1, limits.gatherThreads(), 1, 1, 0, stream, parameters, null);
        context.check(code, "cuLaunchKernel", "a gather of " + count + " fragments");
    }

    private void reclaim() throws DeviceFault {
        while (!launches.isEmpty() && launches.getFirst().over()) {
            Launch done = launches.removeFirst();
            used -= done.pieces();
            done.close();
        }
    }

    /** The stream has been seen idle: the whole ring is free, also what a failed launch has left behind. */
    void idle() {
        launches.forEach(Launch::close);
        launches.clear();
        used = 0;
    }

    /** Unpins the ring and gives its memory back. The stream is idle. */
    void close() throws DeviceFault {
        idle();
        ring.unpin(context);
        free();
    }

    /** Frees the memory. No kernel may run then. */
    void free() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
