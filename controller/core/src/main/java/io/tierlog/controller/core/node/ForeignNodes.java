/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.EngineViewNoted;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.EngineBlocksStored;
import io.tierlog.schemas.event.EngineViewChanged;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.NodeRequest;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PromotionRequested;

/**
 * Engines that a bridge listens to, as nodes without an agent: what they hold is on record and answered by directories, and nothing is fetched from
 * them, evicted, pinned or moved there, since their tiers have no capacity and their blocks no pages. Without state.
 */
public final class ForeignNodes {
    private static final int MOST_NAMESPACES = 64;

    private ForeignNodes() {}

    /** Refuses an event that this kind of node cannot send; false when it may. */
    public static boolean refuses(NodeContext n, AgentEvent e) {
        boolean ofBridges = e instanceof EngineBlocksStored || e instanceof EngineViewChanged;
        boolean ofBoth = e instanceof AgentStopping || e instanceof AgentHeartbeat || e instanceof BlocksEvicted;
        if (ofBoth || ofBridges == n.row().foreign()) {
            return false;
        }
        n.refuse(e, RefusalReason.CONFIGURATION_MISMATCH, n.row().foreign()
                ? "The node is an engine that a bridge listens to: its blocks are the engine's own"
                : "The node has an agent, which reports its blocks: give the bridge's source another name");
        return true;
    }

    /** Refuses what only an agent can do; false for what is answered without one. */
    public static boolean refuses(NodeContext n, NodeRequest e) {
        return switch (e) {
            case NodeDrainRequested _ -> {
                n.refuse(e, RefusalReason.MIGRATION_INVALID, "The node is an engine that a bridge listens to: no agent could save its blocks");
                yield true;
            }
            // Without marks, capacity and blocks of its own, these end by their usual rules.
            case MarksClearRequested _, PromotionRequested _, PeerReadRequested _, PeerReadCancelled _ -> false;
        };
    }

    /** Blocks that the engine says it stored. */
    public static void stored(NodeContext n, EngineBlocksStored e) {
        String broken = e.tier() == Tier.UNKNOWN ? "Invalid tier UNKNOWN: must be DEVICE, HOST, DISK or STORE"
                : Checks.foreign(n.limits(), e.namespace(), e.blocks());
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else if (!n.refusesFull(e, e.blocks().size())) {
            n.fact(new BlocksPlaced(n.envelope(), e.tier(), e.namespace(), e.blocks(), null, Tier.UNKNOWN, n.offset()));
        }
    }

    /** How whole the bridge's view is. */
    public static void viewed(NodeContext n, EngineViewChanged e) {
        String broken = e.unknownNamespaces().size() > MOST_NAMESPACES || e.view() < 1
                ? "Invalid view " + e.view() + " of " + e.unknownNamespaces().size() + " namespaces: must be >= 1, with at most " + MOST_NAMESPACES
                : null;
        for (String namespace : e.unknownNamespaces()) {
            broken = broken == null ? Checks.text(n.limits(), "namespace", namespace) : broken;
        }
        if (broken == null && e.reason().length() > n.limits().textLength()) {
            broken = "Invalid reason: must have at most " + n.limits().textLength() + " characters";
        }
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else {
            n.fact(new EngineViewNoted(n.envelope(), e.view(), e.unknownNamespaces(), e.reason(), e.lostFrom(), e.lostTo()));
        }
    }
}
