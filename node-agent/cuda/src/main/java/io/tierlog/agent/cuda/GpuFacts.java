/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import java.nio.charset.StandardCharsets;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * Properties of a GPU, readable without a context.
 *
 * @param device the driver's handle
 * @param name for people
 * @param memoryBytes its memory
 */
record GpuFacts(CUdevice device, String name, long memoryBytes) {
    private static final int NAME_BYTES = 256;

    static GpuFacts of(int ordinal) throws DeviceFault {
        CUdevice device = new CUdevice();
        check(JCudaDriver.cuDeviceGet(device, ordinal), "cuDeviceGet", "GPU " + ordinal);
        byte[] name = new byte[NAME_BYTES];
        check(JCudaDriver.cuDeviceGetName(name, name.length, device), "cuDeviceGetName", "the name of GPU " + ordinal);
        long[] bytes = new long[1];
        check(JCudaDriver.cuDeviceTotalMem(bytes, device), "cuDeviceTotalMem", "the memory of GPU " + ordinal);
        int end = 0;
        while (end < name.length && name[end] != 0) {
            end++;
        }
        return new GpuFacts(device, new String(name, 0, end, StandardCharsets.UTF_8), bytes[0]);
    }

    /** A number of CUdevice_attribute. */
    int attribute(int attribute) throws DeviceFault {
        int[] value = new int[1];
        check(JCudaDriver.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute", "attribute " + attribute);
        return value[0];
    }

    private static void check(int code, String call, String what) throws DeviceFault {
        if (code != CUresult.CUDA_SUCCESS) {
            throw CudaResults.fault(code, call, what);
        }
    }
}
