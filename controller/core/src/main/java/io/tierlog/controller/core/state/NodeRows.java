/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.Policy;
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

    /**
     * The ticks of silence after which the node counts as lost, 0 for never. A process sends heartbeats as the session allows that it was accepted
     * with, so a shorter one counts from its next registration on.
     */
    public static int sessionTicks(NodeRow node, Policy policy) {
        return policy.nodeTimeoutTicks() == 0 ? 0 : Math.max(policy.nodeTimeoutTicks(), node.sessionTicks());
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
