/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jcuda.driver.CUcontext;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * A context of the driver and what became of it. Every call of the driver goes through {@link #in}, which makes the context current on the
 * calling thread, and every code it answers through {@link #check}, which remembers the fault that ended the context.
 *
 * <pre>
 *   USABLE --(a fault whose kind ends the context)--> BROKEN
 *      \-------------------- end() ---------------------|------> OVER (no byte moves)
 *                                                       \------> LOST (end() failed: bytes may move until the process ends)
 * </pre>
 *
 * <p>Safe for use by several threads: calls share a lock that {@link #end} takes alone, so no call meets a context that is being destroyed.
 */
final class CudaContext {
    /** What is done in the context. */
    interface Body<T> {
        T run() throws DeviceFault;
    }

    private final CUcontext context;
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private volatile @Nullable DeviceFault broken;
    private volatile boolean ended;

    private CudaContext(CUcontext context) {
        this.context = context;
    }

    /** Makes a context on a device. Threads that wait for the GPU yield the processor. */
    static CudaContext create(CUdevice device, int ordinal) throws DeviceFault {
        CUcontext context = new CUcontext();
        int code = JCudaDriver.cuCtxCreate(context, CUctx_flags.CU_CTX_SCHED_YIELD, device);
        if (code != CUresult.CUDA_SUCCESS) {
            throw CudaResults.fault(code, "cuCtxCreate", "a context on GPU " + ordinal);
        }
        return new CudaContext(context);
    }

    /** Runs {@code body} with the context current. Fails at once with the kind that ended the context, or DEVICE_LOST after its end. */
    <T> T in(Body<T> body) throws DeviceFault {
        lock.readLock().lock();
        try {
            DeviceFault before = broken;
            if (before != null) {
                throw again(before);
            }
            if (ended) {
                throw new DeviceFault(Kind.DEVICE_LOST, "the device has been closed");
            }
            look(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent", "before a call");
            return body.run();
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Throws what a call answered, unless it succeeded. */
    void check(int code, String call, String what) throws DeviceFault {
        if (code != CUresult.CUDA_SUCCESS) {
            throw remembered(CudaResults.fault(code, call, what));
        }
    }

    /** {@link #check} for calls that report how earlier work ended: any fault ends the context. */
    void look(int code, String call, String what) throws DeviceFault {
        if (code != CUresult.CUDA_SUCCESS) {
            throw remembered(CudaResults.lookFault(code, call, what));
        }
    }

    /** True when the context is ended: every call fails. */
    boolean unusable() {
        return broken != null || ended;
    }

    /**
     * Waits for everything in the context and destroys it, with all that belongs to it, once no call is in it.
     *
     * <p>The wait comes first even after a fault that ended the context: the fault of one call need not apply to copies that another stream
     * still has under way, and destroying would take memory from under them. Whether the wait succeeds is not looked at; the answer to the
     * destruction is what counts.
     *
     * @throws DeviceFault when the driver does not confirm the end
     */
    void end() throws DeviceFault {
        lock.writeLock().lock();
        try {
            if (ended) {
                return;
            }
            if (JCudaDriver.cuCtxSetCurrent(context) == CUresult.CUDA_SUCCESS) {
                JCudaDriver.cuCtxSynchronize();
            }
            int code = JCudaDriver.cuCtxDestroy(context);
            if (code != CUresult.CUDA_SUCCESS) {
                throw remembered(CudaResults.lookFault(code, "cuCtxDestroy", "closing the device: bytes may move until this process ends"));
            }
            ended = true;
        } finally {
            lock.writeLock().unlock();
        }
    }

    private DeviceFault remembered(DeviceFault fault) {
        if (fault.kind().endsContext() && broken == null) {
            broken = fault;
        }
        return fault;
    }

    private static DeviceFault again(DeviceFault before) {
        DeviceFault fault = new DeviceFault(before.kind(), before.code(), "the device is over since: " + before.getMessage());
        fault.initCause(before);
        return fault;
    }
}
