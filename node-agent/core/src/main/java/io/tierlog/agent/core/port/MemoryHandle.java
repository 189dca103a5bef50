/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;

/** Names an engine's memory to another process. Immutable. */
public sealed interface MemoryHandle {
    /**
     * A file that both sides map: the memory of an emulated device.
     *
     * @param path absolute path, as the engine gave it
     */
    record SharedFile(String path) implements MemoryHandle {}

    /**
     * An IPC handle of a CUDA allocation; it names the whole allocation, from its first byte.
     *
     * @param handle the 64 bytes of it
     */
    record CudaIpc(Bytes handle) implements MemoryHandle {
        /** Size of a handle. */
        public static final int BYTES = 64;

        public CudaIpc {
            if (handle.size() != BYTES) {
                throw new IllegalArgumentException("an IPC handle has " + BYTES + " bytes, not " + handle.size());
            }
        }
    }
}
