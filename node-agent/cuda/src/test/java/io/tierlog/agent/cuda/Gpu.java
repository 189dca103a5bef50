/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the tests run on: the fake driver, or with {@code -Dtierlog.gpu=true} the driver of this machine, which then must be there.
 *
 * @param fake the fake driver, when it is that
 * @param driver the loaded driver
 */
public record Gpu(Optional<FakeDriver> fake, CudaDriver driver) {
    /** True when a real driver is asked for. */
    public static boolean real() {
        return Boolean.getBoolean("tierlog.gpu");
    }

    public static Gpu load() {
        Optional<FakeDriver> fake = real() ? Optional.empty() : Optional.of(FakeDriver.load());
        fake.ifPresent(FakeDriver::reset);
        try {
            return new Gpu(fake, CudaDriver.load());
        } catch (DeviceFault e) {
            throw new AssertionError("the tests are to run on a GPU (-Dtierlog.gpu=true or profile gpu) and cannot: " + e.getMessage(), e);
        }
    }

    /** A library that another process shall load first; empty for the driver of this machine. */
    public Optional<Path> library() {
        return fake.map(FakeDriver::library);
    }

    CudaMemory open() {
        return open(CudaLimits.DEFAULTS);
    }

    CudaMemory open(CudaLimits limits) {
        try {
            return CudaMemory.open(driver, 0, limits);
        } catch (DeviceFault e) {
            throw new AssertionError(e);
        }
    }
}
