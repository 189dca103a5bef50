/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;

/**
 * A queue of copies on a device: they run in the order in which they were queued. For one thread at a time.
 */
public interface DeviceStream extends AutoCloseable {
    /** Which way all its copies go. */
    Direction direction();

    /**
     * Queues every copy of the plan and returns without waiting for bytes.
     *
     * @throws DeviceFault INVALID_VALUE, with nothing queued, when a copy is out of bounds or names an allocation that is not open here; any
     *     other kind when the device refuses: then a part of the plan may have been queued, and the outcome is open until the stream is idle
     */
    void enqueue(CopyPlan plan) throws DeviceFault;

    /**
     * Marks the present end of the queue.
     *
     * @throws DeviceFault OUT_OF_MEMORY, or a kind that ends the context
     */
    DeviceEvent record() throws DeviceFault;

    /**
     * Waits until everything queued so far has ended, well or not.
     *
     * @param timeoutNanos how long to wait at most, 0 or more
     * @return true when the stream is idle; false when time was over first
     * @throws DeviceFault a kind that ends the context: then the state is unknown until {@link DeviceMemory#close} has returned. Failures of single
     *     copies are reported by their events and not here
     */
    boolean drain(long timeoutNanos) throws DeviceFault;

    /**
     * Gives the stream back. The caller has seen it idle, or the context is over; closing twice is nothing.
     *
     * @throws DeviceFault when the device refuses
     */
    @Override
    void close() throws DeviceFault;
}
