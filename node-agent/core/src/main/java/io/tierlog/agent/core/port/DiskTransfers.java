/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * Transfers between host pages and the disk of the node. Every call queues one bounded unit of work and returns at once; its completion,
 * {@code AgentInput.DiskUnitEnded}, is posted only when the disk is idle for that unit: no byte of it moves afterwards. A unit for which there
 * is no room in the queue ends with QUEUE_FULL for all its blocks.
 */
public interface DiskTransfers {
    /**
     * One block to write.
     *
     * @param index in the prompt, from 0
     * @param parent key of the block before it, empty for the first; with index and root what a restart reports of the block
     * @param root key of the first block of the prompt
     * @param hostPage whose bytes are written; they must not change before the unit has ended
     * @param crc32c that the page must have
     */
    record PageWrite(Bytes key, int index, Bytes parent, Bytes root, int hostPage, int crc32c) {}

    /** One block to read into a host page; {@code generation} is the one it must have, 0 for any. */
    record PageRead(Bytes key, long generation, int hostPage) {}

    /** One block that the disk holds; {@code generation} is the one it must have, 0 for any. */
    record HeldCopy(Bytes key, long generation) {}

    /** Writes host pages, put-if-absent, after checking each page against its checksum. The completion carries generation and checksum. */
    void write(long unit, String namespace, List<PageWrite> blocks);

    /** Reads blocks into host pages and verifies namespace, key, generation, length and checksum of each. */
    void read(long unit, String namespace, List<PageRead> blocks);

    /** Drops blocks; reads under way of them end well. Blocks that are gone by then are NOT_FOUND. */
    void drop(long unit, String namespace, List<HeldCopy> blocks);
}
