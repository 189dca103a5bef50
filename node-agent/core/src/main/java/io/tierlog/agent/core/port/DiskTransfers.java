/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * Transfers between host pages and the node's own disk. Every call queues one bounded unit and returns at once; its completion arrives as
 * {@code AgentInput.DiskUnitEnded}, once, with one result per block in the order of the call. No byte of a unit moves after its completion. A
 * unit that is refused for want of room in the queue ends with QUEUE_FULL for every block, one that was not begun when the port closed with
 * CANCELLED.
 *
 * <p>A copy on the disk is named by namespace, key and generation; the generation rises at every write of the same key, also over restarts.
 */
public interface DiskTransfers {
    /**
     * One block to write.
     *
     * @param block named whole: index and parent are kept beside the bytes, so that a restart can tell what is there
     * @param hostPage page to read
     * @param crc32c checksum the page must have
     */
    record DiskWrite(Block block, int hostPage, int crc32c) {}

    /**
     * One block to read.
     *
     * @param generation that the copy must have
     * @param hostPage page to fill
     */
    record DiskRead(Bytes key, long generation, int hostPage) {}

    /**
     * One copy to drop.
     *
     * @param generation that the copy must have; 0 for whatever is there under the key
     */
    record DiskDrop(Bytes key, long generation) {}

    /**
     * Writes host pages, after checking each against its checksum. Per block ARRIVED with checksum and new generation, as durable as the disk's
     * force policy makes it; ALREADY_THERE with those of the copy that is there; or FAILED: CHECKSUM (the page has changed), NO_ROOM, IO,
     * UNSUPPORTED. What failed is not held.
     */
    void write(long unit, String namespace, List<DiskWrite> blocks);

    /**
     * Reads copies into host pages and verifies namespace, key, generation, length and checksum of each. Per block ARRIVED with checksum and
     * generation, or FAILED: NOT_FOUND, STALE_GENERATION, UNSUPPORTED (another length), CHECKSUM (the copy is held no longer), IO. The page is
     * undefined after a failure.
     */
    void read(long unit, String namespace, List<DiskRead> blocks);

    /** Drops copies: per block GONE, or FAILED: NOT_FOUND, STALE_GENERATION, IO. A read of the copy that is under way still ends well. */
    void drop(long unit, String namespace, List<DiskDrop> copies);
}
