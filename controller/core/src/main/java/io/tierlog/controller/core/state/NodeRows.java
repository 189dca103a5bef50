/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import org.jspecify.annotations.Nullable;

/** What rows of nodes mean. Without state. */
public final class NodeRows {
    private NodeRows() {}

    /** Whether a copy belongs to the node's current incarnation and, on the device, to its present engines. */
    public static boolean isCurrent(NodeRow node, Tier tier, PlacementRow copy) {
        return node.alive() && copy.incarnation() == node.incarnation() && (tier != Tier.DEVICE || copy.epoch() == node.engineEpoch());
    }

    /** Use of a tier of a node; null when the node has no such tier. */
    public static @Nullable TierRow tier(NodeRow node, Tier tier) {
        for (TierRow candidate : node.tiers()) {
            if (candidate.tier() == tier) {
                return candidate;
            }
        }
        return null;
    }

    /** Whether a row of that incarnation belongs to the node's present incarnation. */
    public static boolean isCurrent(NodeRow node, long incarnation) {
        return node.alive() && node.incarnation() == incarnation;
    }
}
