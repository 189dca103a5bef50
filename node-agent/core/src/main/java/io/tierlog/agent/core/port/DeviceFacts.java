/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

/**
 * What a device is and can do. Immutable.
 *
 * @param name for people, for example the name of the GPU
 * @param memoryBytes memory of the device; 0 when it has none of its own
 * @param pins whether registered host memory is pinned
 * @param gathers whether a gather runs as one kernel; where it does not, it is done as single copies
 * @param mostPitchBytes the largest pitch of a strided copy, 1 or more
 */
public record DeviceFacts(String name, long memoryBytes, boolean pins, boolean gathers, long mostPitchBytes) {
    public DeviceFacts {
        if (memoryBytes < 0 || mostPitchBytes < 1) {
            throw new IllegalArgumentException("device " + name + ": memoryBytes " + memoryBytes + ", mostPitchBytes " + mostPitchBytes);
        }
    }
}
