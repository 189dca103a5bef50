/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Locale;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * The CUDA driver of this machine, loaded and initialised. A process has one.
 *
 * <p>Needs only {@code libcuda.so.1}, which comes with the NVIDIA driver; no toolkit. JCuda carries its native half in a jar. The JVM runs with
 * {@code --enable-native-access=ALL-UNNAMED}.
 */
public final class CudaDriver {
    private static final String LIBRARY = "libcuda.so.1";

    private final int version;
    private final int devices;

    private CudaDriver(int version, int devices) {
        this.version = version;
        this.devices = devices;
    }

    /**
     * Loads the driver and initialises it; a repeated call costs almost nothing.
     *
     * @throws DeviceFault UNSUPPORTED on a system that JCuda has no natives for, NOT_INITIALIZED when there is no driver, or none that works, or
     *     no device
     */
    public static synchronized CudaDriver load() throws DeviceFault {
        String system = (System.getProperty("os.name") + " " + System.getProperty("os.arch")).toLowerCase(Locale.ROOT);
        if (!system.equals("linux amd64")) {
            throw new DeviceFault(Kind.UNSUPPORTED, "CUDA runs on Linux on x86-64 here, and this is " + system);
        }
        findDriver();
        loadNatives();
        check(JCudaDriver.cuInit(0), "cuInit", "starting the driver");
        int[] answer = new int[1];
        check(JCudaDriver.cuDriverGetVersion(answer), "cuDriverGetVersion", "asking for the version");
        int version = answer[0];
        check(JCudaDriver.cuDeviceGetCount(answer), "cuDeviceGetCount", "counting devices");
        if (answer[0] < 1) {
            throw new DeviceFault(Kind.NOT_INITIALIZED, CUresult.CUDA_ERROR_NO_DEVICE, "the CUDA driver sees no GPU in this machine or container");
        }
        return new CudaDriver(version, answer[0]);
    }

    /** Number of GPUs, 1 or more. */
    public int devices() {
        return devices;
    }

    /** The version of CUDA that the driver supports: 1,000 * major + 10 * minor. */
    public int version() {
        return version;
    }

    private static void check(int code, String call, String what) throws DeviceFault {
        if (code != CUresult.CUDA_SUCCESS) {
            throw CudaResults.fault(code, call, what);
        }
    }

    /** Looks for the library before JCuda does, whose answer to its absence is two stack traces. */
    @SuppressWarnings("restricted")
    private static void findDriver() throws DeviceFault {
        try {
            SymbolLookup.libraryLookup(LIBRARY, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new DeviceFault(Kind.NOT_INITIALIZED, "no CUDA driver on this machine: " + LIBRARY + " cannot be loaded. Install the NVIDIA"
                    + " driver, give the container the GPU (nvidia-container-toolkit), or name the library's directory in LD_LIBRARY_PATH");
        }
    }

    private static void loadNatives() throws DeviceFault {
        try {
            Natives.load(() -> JCudaDriver.setExceptionsEnabled(false));
        } catch (IOException e) {
            throw new DeviceFault(Kind.OUT_OF_MEMORY, "JCuda's native library cannot be written to the temporary directory: " + e);
        } catch (LinkageError e) {
            String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("no reason given");
            throw new DeviceFault(Kind.UNSUPPORTED, "JCuda's native library cannot be loaded: " + reason + ". It needs libstdc++.so.6, a temporary"
                    + " directory that allows executables (java.io.tmpdir), and jcuda-natives on the class path");
        }
    }
}
