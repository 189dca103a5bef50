/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What a server of objects must be able to do: read, and compare-and-set. The rules of the store are in {@link RemoteStore}.
 *
 * <p>Calls block until their deadline at most. Safe for use by several threads.
 */
interface ObjectPort extends AutoCloseable {
    /**
     * An object as it was seen.
     *
     * @param size of all of it, header included, in bytes
     * @param generation as the server has it beside the bytes; 0 when it has none
     * @param version changes with every put; a put can be bound to it
     */
    record Seen(long size, long generation, String version) {}

    /**
     * What is put: an {@link ObjectHeader}, and the bytes of the block from position 0 to the limit.
     *
     * @param generation of the header, which the server keeps beside the bytes too
     */
    record Image(ByteBuffer header, ByteBuffer body, long generation) {
        int size() {
            return header.limit() + body.limit();
        }
    }

    /**
     * Reads the first bytes of an object into {@code header}, as many as there are, and what follows into {@code body} if the object has
     * exactly as many bytes as both take. Both are left at the end of what was read.
     *
     * @return nothing when there is no such object
     */
    Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault;

    /**
     * Puts an object in one step: others see all of it or nothing.
     *
     * @param version of the object that it replaces; empty when there must be none
     * @return false when there is an object of another version, or one where none should be; then nothing has changed
     */
    boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault;

    /** Names the server in messages; no secrets. */
    @Override
    String toString();

    @Override
    void close();
}
