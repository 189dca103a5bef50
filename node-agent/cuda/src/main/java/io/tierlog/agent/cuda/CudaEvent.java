/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import java.util.concurrent.locks.LockSupport;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** An event of the driver. For the thread that has the stream. */
final class CudaEvent implements DeviceEvent {
    /** Looks for something that the device will do. */
    interface Look {
        boolean done() throws DeviceFault;
    }

    private static final long SLEEP_NS = 20_000;

    private final CudaContext context;
    private final int looks;
    private final CUevent event;
    private boolean reached;
    private boolean closed;

    private CudaEvent(CudaContext context, int looks, CUevent event) {
        this.context = context;
        this.looks = looks;
        this.event = event;
    }

    /** Makes an event at the present end of {@code stream}; called inside the context. */
    static CudaEvent record(CudaContext context, int looks, CUstream stream) throws DeviceFault {
        CUevent event = new CUevent();
        context.check(JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING), "cuEventCreate", "an event");
        int code = JCudaDriver.cuEventRecord(event, stream);
        if (code != CUresult.CUDA_SUCCESS) {
            JCudaDriver.cuEventDestroy(event);
            context.check(code, "cuEventRecord", "an event at the end of a stream");
        }
        return new CudaEvent(context, looks, event);
    }

    @Override
    public boolean poll() throws DeviceFault {
        // An event that was reached stays reached, whatever became of the context since.
        return reached || context.in(this::query);
    }

    private boolean query() throws DeviceFault {
        int code = JCudaDriver.cuEventQuery(event);
        if (code == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        context.look(code, "cuEventQuery", "checking whether copies have ended");
        reached = true;
        return true;
    }

    @Override
    public boolean await(long timeoutNanos) throws DeviceFault {
        return await(this::poll, timeoutNanos, looks);
    }

    /**
     * Looks until it is done or time is over. The driver's own waits know no time-out, and a device that hangs must not take its thread along:
     * so this looks, at first in a row, then every 20 µs.
     */
    static boolean await(Look look, long timeoutNanos, int looks) throws DeviceFault {
        long began = System.nanoTime();
        for (int turn = 0; !look.done(); turn++) {
            if (System.nanoTime() - began >= timeoutNanos) {
                return false;
            }
            if (turn < looks) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(look, SLEEP_NS);
            }
        }
        return true;
    }

    @Override
    public void close() {
        if (closed || context.unusable()) {
            return;
        }
        closed = true;
        try {
            context.in(() -> JCudaDriver.cuEventDestroy(event));
        } catch (DeviceFault e) {
            // The context has ended meanwhile and has taken the event along.
            return;
        }
    }
}
