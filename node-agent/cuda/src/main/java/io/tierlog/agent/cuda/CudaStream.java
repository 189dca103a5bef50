/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import jcuda.driver.CUDA_MEMCPY2D;
import jcuda.driver.CUmemorytype;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A stream of the driver, in one direction. For one thread at a time. */
final class CudaStream implements DeviceStream {
    private final CudaContext context;
    private final CudaAllocations allocations;
    private final CudaLimits limits;
    private final Direction direction;
    private final CUstream stream;
    private final Optional<Gatherer> gatherer;
    private final Runnable onClose;
    private boolean closed;

    private CudaStream(CudaMemory.Parts parts, Direction direction, CUstream stream, Optional<Gatherer> gatherer, Runnable onClose) {
        this.context = parts.context();
        this.allocations = parts.allocations();
        this.limits = parts.limits();
        this.direction = direction;
        this.stream = stream;
        this.gatherer = gatherer;
        this.onClose = onClose;
    }

    /** Makes a stream that does not wait for the default one; called inside the context. */
    static CudaStream create(CudaMemory.Parts parts, Direction direction, Consumer<CudaStream> onClose) throws DeviceFault {
        CUstream stream = new CUstream();
        parts.context().check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING), "cuStreamCreate", "a stream");
        try {
            Optional<Gatherer> gatherer = parts.kernel().isPresent()
                    ? Optional.of(new Gatherer(parts.context(), parts.limits(), parts.kernel().get(), stream, direction))
                    : Optional.empty();
            CudaStream[] self = new CudaStream[1];
            self[0] = new CudaStream(parts, direction, stream, gatherer, () -> onClose.accept(self[0]));
            return self[0];
        } catch (DeviceFault e) {
            JCudaDriver.cuStreamDestroy(stream);
            throw e;
        }
    }

    @Override
    public Direction direction() {
        return direction;
    }

    @Override
    public void enqueue(CopyPlan plan) throws DeviceFault {
        context.in(() -> {
            for (Copy copy : plan.copies()) {
                allocations.check(copy);
            }
            for (Copy copy : plan.copies()) {
                queue(copy);
            }
            return true;
        });
    }

    private void queue(Copy copy) throws DeviceFault {
        switch (copy) {
            case Copy.Linear linear -> linear(linear.device().address(), linear.host().address(), linear.bytes());
            case Copy.Strided strided -> strided(strided);
            case Copy.Gather gather -> gather(gather);
        }
    }

    private void linear(long device, long host, long bytes) throws DeviceFault {
        if (direction == Direction.LOAD) {
            int code = JCudaDriver.cuMemcpyHtoDAsync(Addresses.device(device), Addresses.host(host), bytes, stream);
            context.check(code, "cuMemcpyHtoDAsync", "a load of " + bytes + " bytes");
        } else {
            int code = JCudaDriver.cuMemcpyDtoHAsync(Addresses.host(host), Addresses.device(device), bytes, stream);
            context.check(code, "cuMemcpyDtoHAsync", "a save of " + bytes + " bytes");
        }
    }

    private void strided(Copy.Strided copy) throws DeviceFault {
        CUDA_MEMCPY2D it = new CUDA_MEMCPY2D();
        it.WidthInBytes = copy.rowBytes();
        it.Height = copy.rows();
        if (direction == Direction.LOAD) {
            it.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST;
            it.srcHost = Addresses.host(copy.host().address());
            it.srcPitch = copy.pitch().host();
            it.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_DEVICE;
            it.dstDevice = Addresses.device(copy.device().address());
            it.dstPitch = copy.pitch().device();
        } else {
            it.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_DEVICE;
            it.srcDevice = Addresses.device(copy.device().address());
            it.srcPitch = copy.pitch().device();
            it.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST;
            it.dstHost = Addresses.host(copy.host().address());
            it.dstPitch = copy.pitch().host();
        }
        context.check(JCudaDriver.cuMemcpy2DAsync(it, stream), "cuMemcpy2DAsync", copy.rows() + " rows of " + copy.rowBytes() + " bytes");
    }

    private void gather(Copy.Gather copy) throws DeviceFault {
        List<Copy.Fragment> fragments = copy.fragments();
        int done = 0;
        while (gatherer.isPresent() && done < fragments.size()) {
            int launched = gatherer.get().launch(fragments, done, copy.fragmentBytes(), one -> allocations.kernelAddress(one.host()));
            if (launched == 0) {
                break;
            }
            done += launched;
        }
        for (Copy.Fragment one : fragments.subList(done, fragments.size())) {
            linear(one.device().address(), one.host().address(), copy.fragmentBytes());
        }
    }

    @Override
    public DeviceEvent record() throws DeviceFault {
        return context.in(() -> CudaEvent.record(context, limits.looks(), stream));
    }

    @Override
    public boolean drain(long timeoutNanos) throws DeviceFault {
        boolean idle = CudaEvent.await(() -> context.in(this::query), timeoutNanos, limits.looks());
        if (idle) {
            gatherer.ifPresent(Gatherer::idle);
        }
        return idle;
    }

    private boolean query() throws DeviceFault {
        int code = JCudaDriver.cuStreamQuery(stream);
        if (code == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        context.look(code, "cuStreamQuery", "looking whether a stream is idle");
        return true;
    }

    @Override
    public void close() throws DeviceFault {
        if (closed || context.unusable()) {
            // A context that is over takes its streams along.
            return;
        }
        closed = true;
        context.in(() -> {
            if (gatherer.isPresent()) {
                gatherer.get().close();
            }
            context.check(JCudaDriver.cuStreamDestroy(stream), "cuStreamDestroy", "giving a stream back");
            return true;
        });
        onClose.run();
    }

    /** Gives host memory back after the end of the context. */
    void free() {
        gatherer.ifPresent(Gatherer::free);
    }
}
