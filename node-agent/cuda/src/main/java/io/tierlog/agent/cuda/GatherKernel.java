/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/**
 * The kernel that gathers and scatters, kept as PTX text and compiled by the driver when a device is opened. Static and without state.
 *
 * <p>Tested so far: NVIDIA's PTX compiler takes it for sm_70 to sm_90, and an interpreter runs it in the tests. It has not run on a GPU.
 */
final class GatherKernel {
    /** Name of the entry. */
    static final String ENTRY = "tierlog_gather";

    private static final String RESOURCE = "gather.ptx";

    private GatherKernel() {}

    /** The text. */
    static String ptx() {
        try (InputStream text = GatherKernel.class.getResourceAsStream(RESOURCE)) {
            if (text == null) {
                throw new IllegalStateException(RESOURCE + " is missing from the jar");
            }
            return new String(text.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Loads it; called inside the context, with which it ends.
     *
     * @return empty when this driver cannot compile it: gathers are then single copies
     */
    static Optional<CUfunction> load(CudaContext context) throws DeviceFault {
        CUmodule module = new CUmodule();
        CUfunction function = new CUfunction();
        try {
            context.check(JCudaDriver.cuModuleLoadData(module, ptx()), "cuModuleLoadData", "compiling the gather kernel");
            context.check(JCudaDriver.cuModuleGetFunction(function, module, ENTRY), "cuModuleGetFunction", "finding the gather kernel");
            return Optional.of(function);
        } catch (DeviceFault e) {
            if (e.kind() == Kind.UNSUPPORTED) {
                return Optional.empty();
            }
            throw e;
        }
    }
}
