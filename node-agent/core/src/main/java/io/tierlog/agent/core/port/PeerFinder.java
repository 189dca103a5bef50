/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.util.List;

/**
 * Finds other nodes that have blocks. Every call returns at once; the answer arrives as {@code AgentInput.PeersFound}, once, also when no directory
 * could be reached. The core waits for it for a short time only, and ignores a late answer.
 */
public interface PeerFinder {
    /**
     * Another node that has blocks.
     *
     * @param node its name
     * @param address of its peer API, HOST:PORT
     * @param tier HOST when its host has all of the blocks, DISK when some are on its disk only
     * @param blocks how many of the keys it has, from the first on without a gap, 1 or more
     */
    record Holder(String node, String address, Tier tier, int blocks) {}

    /**
     * Asks which other nodes have blocks of {@code keys}, from the first on.
     *
     * @param firstIndex position of the first in the prompt, in blocks; the others follow it. A block counts at its own position only
     * @param keys 1 or more
     */
    void find(long unit, String namespace, int firstIndex, List<Bytes> keys);
}
