/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.cuda.CudaDriver;
import io.tierlog.agent.cuda.CudaMemory;

/** How the device of an agent is opened. Static and without state. */
final class DeviceStart {
    private DeviceStart() {}

    /**
     * Opens the device.
     *
     * @param name begins the names of its threads, where it has any
     * @throws DeviceUnavailableException when there is no such device, or no driver for it
     */
    static DeviceMemory open(String name, AgentConfig.Device device) {
        try {
            return switch (device) {
                case AgentConfig.Device.Emulated(EmulatedDevice.Limits limits) -> new EmulatedDevice(name, limits);
                case AgentConfig.Device.Cuda cuda -> CudaMemory.open(CudaDriver.load(), cuda.ordinal(), cuda.limits());
            };
        } catch (DeviceFault e) {
            throw new DeviceUnavailableException("the device " + device + " cannot be opened: " + e.getMessage(), e);
        }
    }
}
