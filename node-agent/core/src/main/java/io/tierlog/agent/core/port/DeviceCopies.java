/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import java.util.List;

/**
 * Copies between the device pages of the engine and the host pages of the agent.
 *
 * <p>A host page is one of the HOST tier, or one of the agent's own, whose numbers follow: {@code Registration.hostBlocks} and up. Ports make no
 * difference.
 *
 * <p>Both calls queue one bounded unit of work and return at once. The unit's completion, {@code AgentInput.CopiesEnded}, is posted only when the
 * stream is idle for that unit, also when it failed: no byte moves afterwards. Units of one direction end in the order they were queued.
 */
public interface DeviceCopies {
    /** One block to copy: page numbers in the two pools; {@code crc32c} is the expected checksum of the host page (loads only, else 0). */
    record PageCopy(int devicePage, int hostPage, int crc32c) {}

    /** Device to host. The completion carries the CRC32C of the bytes that landed in each host page. */
    void save(long unit, List<PageCopy> copies);

    /** Host to device. Each host page is checked against its CRC32C first; a page that differs is not copied and fails with CHECKSUM. */
    void load(long unit, List<PageCopy> copies);

    /** The engine has gone: units queued from now on fail with ENGINE_GONE, and its memory is released once those under way have ended. */
    void detach();
}
