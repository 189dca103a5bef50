/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * Transfers between host pages and the disk of the node. Every call queues one bounded unit of work and returns at once; its completion,
 * {@code AgentInput.DiskUnitEnded}, is posted once, with one result per block in the order of the call, and only when the disk is idle for that
 * unit: no byte of it moves afterwards. A unit for which the queue has no slot ends with QUEUE_FULL for all its blocks, one that was not
 * begun when the port closed with CANCELLED.
 *
 * <p>A host page is one of the HOST tier, or one of the agent's own, whose numbers follow.
 *
 * <p>A placement on the disk is named by namespace, key and generation; the generation rises at every write of the same key, also over restarts.
 */
public interface DiskTransfers {
    /**
     * One block to write.
     *
     * @param index in the prompt, from 0
     * @param parent key of the block before it, empty for the first; with index and root what a restart reports of the block
     * @param root key of the first block of the prompt; empty when unknown
     * @param hostPage whose bytes are written; they must not change before the unit has ended
     * @param crc32c that the page must have
     */
    record PageWrite(Bytes key, int index, Bytes parent, Bytes root, int hostPage, int crc32c) {}

    /** One block to read into a host page; {@code generation} is the one it must have, 0 for any. */
    record PageRead(Bytes key, long generation, int hostPage) {}

    /** One block that the disk holds; {@code generation} is the one it must have, 0 for any. */
    record DiskObject(Bytes key, long generation) {}

    /**
     * Writes host pages, put-if-absent, after checking each page against its checksum. Per block ARRIVED with checksum and new generation, as
     * durable as the disk's force policy makes it; ALREADY_THERE with those of the copy that is there; or FAILED: CHECKSUM (the page has changed),
     * NO_ROOM, IO, UNSUPPORTED. What failed is not held.
     */
    void write(long unit, String namespace, List<PageWrite> blocks);

    /**
     * Reads blocks into host pages and verifies namespace, key, generation, length and checksum of each. Per block ARRIVED with checksum and
     * generation, or FAILED: NOT_FOUND, STALE_GENERATION, UNSUPPORTED (another length), CHECKSUM (the placement is dropped), IO. The page is
     * undefined after a failure.
     */
    void read(long unit, String namespace, List<PageRead> blocks);

    /** Drops blocks: GONE, or FAILED: NOT_FOUND, STALE_GENERATION. Reads under way of them end well. */
    void drop(long unit, String namespace, List<DiskObject> blocks);
}
