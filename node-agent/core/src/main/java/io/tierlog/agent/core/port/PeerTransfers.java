/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * Reads from the host pages of other nodes into host pages of this one. Every call returns at once; its completion, {@code AgentInput.PeerUnitEnded},
 * is posted once, with one result per block in the order of the call, and no byte of the unit moves after it. Bounded: a unit for which there is no
 * no capacity ends with QUEUE_FULL for all its blocks.
 */
public interface PeerTransfers {
    /** One block: its key, and the page of the HOST tier it goes to. */
    record PeerPage(Bytes key, int hostPage) {}

    /**
     * Where a unit reads.
     *
     * @param node name of the node to read from
     * @param address of its peer API, HOST:PORT
     * @param grant name of the peer read lease
     */
    record PeerHolder(String node, String address, String grant) {}

    /**
     * Reads blocks and compares each with the checksum that its holder sends. While the holder does not have the lease yet, the read is tried
     * again, within a bound. Per block ARRIVED with its checksum, or FAILED: NOT_SERVING (not leased), CHECKSUM, IO (the holder is gone, or does
     * not answer in time), QUEUE_FULL. The page is undefined after a failure.
     */
    void read(long unit, PeerHolder holder, String namespace, List<PeerPage> pages);
}
