/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import java.lang.foreign.MemorySegment;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/**
 * A piece of host memory that the driver has pinned, and the address that kernels know it by. Its methods are called inside the context.
 *
 * @param memory the memory
 * @param deviceAddress its first byte for kernels
 */
record HostSlab(MemorySegment memory, long deviceAddress) {
    /** Pins native memory and maps it for kernels. */
    static HostSlab pin(CudaContext context, MemorySegment memory) throws DeviceFault {
        Pointer host = Addresses.host(memory.address());
        int flags = JCudaDriver.CU_MEMHOSTREGISTER_PORTABLE | JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP;
        String what = "pinning " + memory.byteSize() + " bytes of host memory";
        context.check(JCudaDriver.cuMemHostRegister(host, memory.byteSize(), flags), "cuMemHostRegister", what);
        Addresses.Device device = new Addresses.Device();
        try {
            context.check(JCudaDriver.cuMemHostGetDevicePointer(device, host, 0), "cuMemHostGetDevicePointer", "mapping pinned memory");
        } catch (DeviceFault e) {
            JCudaDriver.cuMemHostUnregister(host);
            throw e;
        }
        return new HostSlab(memory, device.address());
    }

    /** Ends the pinning. */
    void unpin(CudaContext context) throws DeviceFault {
        Pointer host = Addresses.host(memory.address());
        context.check(JCudaDriver.cuMemHostUnregister(host), "cuMemHostUnregister", "unpinning " + memory.byteSize() + " bytes of host memory");
    }
}
