/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.schemas.Policy;

/**
 * What a world is made of beside its nodes.
 *
 * @param seed mixed into the content of every block
 * @param blockTokens tokens of a block, 1 or more
 * @param ranks shards of a block, 1 or more
 * @param replicated whether every rank holds the same bytes, so that a block has one shard
 * @param storeBlocks most blocks of the store
 * @param policy the controller's, from the beginning
 * @param agent limits of every agent
 * @param controller limits of the controller; its partitions are the log's
 * @param outbox events that a producer takes before it is congested
 * @param peers whether agents read from each other
 */
public record WorldSettings(
        long seed, int blockTokens, int ranks, boolean replicated, int storeBlocks, Policy policy, AgentLimits agent, Limits controller,
        int outbox, boolean peers) {
    /** Shards of a block. */
    int shards() {
        return replicated ? 1 : ranks;
    }
}
