/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

/**
 * A mark in a stream: reached when all that was queued before it has ended. For the thread that has the stream.
 */
public interface DeviceEvent extends AutoCloseable {
    /**
     * Looks without waiting.
     *
     * @return true when everything queued before it has ended well and is visible to the host; false while it is under way
     * @throws DeviceFault when something between the event before and this one has failed: the stream is idle up to here, unless the kind ends
     *     the context. It is thrown again by every later look
     */
    boolean poll() throws DeviceFault;

    /**
     * Waits like {@link #poll}.
     *
     * @param timeoutNanos how long to wait at most, 0 or more
     * @return false when time was over first
     * @throws DeviceFault as poll does
     */
    boolean await(long timeoutNanos) throws DeviceFault;

    /** Gives the event back; closing twice is nothing. Never fails: an event that cannot be given back ends with its context. */
    @Override
    void close();
}
