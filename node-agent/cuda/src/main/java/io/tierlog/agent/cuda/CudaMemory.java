/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Allocation.Side;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFacts;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUfunction;
import jcuda.driver.CUipcMem_flags;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A GPU behind the device port: one context of its own, in which all calls are made.
 *
 * <p>Safe for use by several threads, as the port demands. Copies go by the copy engines (1-D and 2-D), gathers by a kernel that reads and writes
 * pinned host memory itself. Trade-off: a context takes some hundred MB of the GPU's memory, and a gather takes thread blocks from decoding.
 *
 * <p>Failures: a code of the driver becomes a {@link DeviceFault} by {@link CudaResults}. After one that ends the context only {@link #close}
 * is left, which destroys it; pages of copies under way stay quarantined until it has returned.
 */
public final class CudaMemory implements DeviceMemory {
    private static final long SLAB_ALIGNMENT = 4_096;

    /** What streams share. */
    record Parts(CudaContext context, CudaAllocations allocations, CudaLimits limits, Optional<CUfunction> kernel) {}

    private final CudaContext context;
    private final CudaAllocations allocations;
    private final DeviceFacts facts;
    private final Parts parts;
    private final Set<CudaStream> streams = ConcurrentHashMap.newKeySet();

    private CudaMemory(Parts parts, DeviceFacts facts) {
        this.parts = parts;
        this.context = parts.context();
        this.allocations = parts.allocations();
        this.facts = facts;
    }

    /**
     * Makes a context on a GPU.
     *
     * @param driver the driver of this machine
     * @param ordinal which GPU, 0 to {@code driver.devices() - 1}
     * @param limits what bounds it
     * @throws DeviceFault INVALID_VALUE for a GPU that is not there, OUT_OF_MEMORY when the GPU has no memory for a context, or the driver's own
     *     fault
     */
    public static CudaMemory open(CudaDriver driver, int ordinal, CudaLimits limits) throws DeviceFault {
        if (ordinal < 0 || ordinal >= driver.devices()) {
            throw new DeviceFault(Kind.INVALID_VALUE, "GPU " + ordinal + " of " + driver.devices() + " does not exist; the first is 0");
        }
        GpuFacts gpu = GpuFacts.of(ordinal);
        CudaContext context = CudaContext.create(gpu.device(), ordinal);
        try {
            Optional<CUfunction> kernel = gpu.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) == 0
                    ? Optional.empty()
                    : context.in(() -> GatherKernel.load(context));
            long mostPitch = gpu.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_PITCH);
            CudaAllocations allocations = new CudaAllocations(limits.allocations(), mostPitch);
            DeviceFacts facts = new DeviceFacts(gpu.name(), gpu.memoryBytes(), true, kernel.isPresent(), mostPitch);
            return new CudaMemory(new Parts(context, allocations, limits, kernel), facts);
        } catch (DeviceFault e) {
            context.end();
            throw e;
        }
    }

    @Override
    public DeviceFacts facts() {
        return facts;
    }

    @Override
    public DeviceStream open(Direction direction) throws DeviceFault {
        return context.in(() -> {
            CudaStream made = CudaStream.create(parts, direction, streams::remove);
            streams.add(made);
            return made;
        });
    }

    @Override
    public Allocation register(MemorySegment slab) throws DeviceFault {
        if (!slab.isNative() || slab.byteSize() < 1 || slab.address() % SLAB_ALIGNMENT != 0) {
            throw new DeviceFault(Kind.INVALID_VALUE, "a slab is native memory aligned to " + SLAB_ALIGNMENT + " bytes, 1 byte long or more; this is "
                    + slab.byteSize() + " bytes, " + (slab.isNative() ? "at " + slab.address() % SLAB_ALIGNMENT + " behind that" : "on the heap"));
        }
        return context.in(() -> {
            allocations.checkLimit();
            allocations.disjoint(slab);
            HostSlab pinned = HostSlab.pin(context, slab);
            return allocations.add(Side.HOST, slab.address(), slab.byteSize(), pinned);
        });
    }

    @Override
    public Allocation open(MemoryHandle handle, long bytes) throws DeviceFault {
        if (!(handle instanceof MemoryHandle.CudaIpc ipc)) {
            throw new DeviceFault(Kind.UNSUPPORTED, "a GPU opens IPC handles of CUDA; this is a " + handle.getClass().getSimpleName());
        }
        if (bytes < 1) {
            throw new DeviceFault(Kind.INVALID_VALUE, "memory of " + bytes + " bytes requested; 1 is the least");
        }
        return context.in(() -> {
            allocations.checkLimit();
            Addresses.Device address = openIpc(ipc);
            try {
                holds(address, bytes);
            } catch (DeviceFault e) {
                JCudaDriver.cuIpcCloseMemHandle(address);
                throw e;
            }
            return allocations.add(Side.DEVICE, address.address(), bytes, null);
        });
    }

    private Addresses.Device openIpc(MemoryHandle.CudaIpc ipc) throws DeviceFault {
        Addresses.Device address = new Addresses.Device();
        int code = JCudaDriver.cuIpcOpenMemHandle(
                address, IpcHandles.of(ipc.handle()), CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
        switch (code) {
            // The driver's answers to bytes that are no handle, and to a handle of this very process.
            case CUresult.CUDA_ERROR_INVALID_VALUE, CUresult.CUDA_ERROR_INVALID_HANDLE, CUresult.CUDA_ERROR_INVALID_CONTEXT ->
                throw new DeviceFault(Kind.INVALID_HANDLE, code, "cuIpcOpenMemHandle answered " + CUresult.stringFor(code)
                        + ": the handle names no memory of another process on this GPU. Export it again after a restart of the engine, and give"
                        + " agent and engine the same GPU and IPC namespace");
            default -> context.check(code, "cuIpcOpenMemHandle", "opening memory of an engine");
        }
        return address;
    }

    /** The handle names a whole allocation: refuses one that is smaller than the engine claims. */
    private void holds(Addresses.Device address, long bytes) throws DeviceFault {
        Addresses.Device base = new Addresses.Device();
        long[] size = new long[1];
        int code = JCudaDriver.cuMemGetAddressRange(base, size, address);
        context.check(code, "cuMemGetAddressRange", "asking for the size of an engine's memory");
        // The driver may keep small allocations of an engine in one larger piece, and imports that whole.
        long has = size[0] - (address.address() - base.address());
        if (has < bytes) {
            throw new DeviceFault(Kind.INVALID_HANDLE, "the engine claims " + bytes + " bytes, the handle names " + has);
        }
    }

    @Override
    public void release(Allocation allocation) throws DeviceFault {
        context.in(() -> {
            HostSlab slab = allocations.get(allocation).slab();
            // Removed first: whatever the driver answers, no copy may go there from now on.
            allocations.remove(allocation);
            if (slab != null) {
                slab.unpin(context);
            } else {
                int code = JCudaDriver.cuIpcCloseMemHandle(Addresses.device(allocation.address()));
                context.check(code, "cuIpcCloseMemHandle", "closing " + allocation);
            }
            return true;
        });
    }

    @Override
    public void close() throws DeviceFault {
        context.end();
        allocations.clear();
        streams.forEach(CudaStream::free);
        streams.clear();
    }
}
