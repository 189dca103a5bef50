/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.schemas.Tier;

/**
 * Where a copy can be.
 *
 * @param owner node/ID or store/SHARD
 * @param tier the tier there
 */
public record Location(String owner, Tier tier) {
    private static final String NODE = "node/";

    /** On the node of that name. */
    public static Location onNode(String node, Tier tier) {
        return new Location(NODE + node, tier);
    }

    /** Whether it is on a node, and not in the shared store. */
    public boolean isOnNode() {
        return owner.startsWith(NODE);
    }

    /** The node's name; the owner itself when it is not a node. */
    public String node() {
        return isOnNode() ? owner.substring(NODE.length()) : owner;
    }

    @Override
    public String toString() {
        return owner + "/" + tier;
    }
}
