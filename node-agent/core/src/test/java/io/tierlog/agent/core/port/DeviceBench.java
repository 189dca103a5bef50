/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

/** What a test of a device stands on: the device, and the engine whose memory it opens. */
public interface DeviceBench extends AutoCloseable {
    /** The device under test, the same at every call. */
    DeviceMemory memory();

    /** Makes memory of an engine with that content and returns the engine's name for it. */
    MemoryHandle engineMemory(byte[] content);

    /** What is in that memory now, from the engine's side; {@code length} bytes. */
    byte[] read(MemoryHandle handle, int length);

    /** Ends the device, if a test has not, and the engine. */
    @Override
    void close();
}
