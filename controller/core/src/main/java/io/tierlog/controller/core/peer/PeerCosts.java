/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.peer;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.RequestSubmitted;
import org.jspecify.annotations.Nullable;

/**
 * Whether a block that the node lacks is cheaper from another node than from the store, or than to compute it.
 *
 * @param peer the blocks of another node; null when no node has any, or peer reads are not to be used
 * @param cost what a block costs from there, in microseconds
 * @param policy the policy's costs
 */
public record PeerCosts(@Nullable PeerCopies peer, long cost, PeerPolicy policy) {
    public static PeerCosts of(NodeContext n, RequestSubmitted e) {
        PeerPolicy policy = Policies.fetch(n.policy()).peers();
        PeerCopies peer = e.peer();
        if (peer == null || !policy.enabled() || peer.node().equals(n.name())) {
            return new PeerCosts(null, 0, policy);
        }
        return new PeerCosts(peer, peer.tier() == Tier.HOST ? policy.hostBlockMicros() : policy.diskBlockMicros(), policy);
    }

    /** Where the block is fetched from, beyond host and disk: STORE, HOST for the other node's, UNKNOWN for nowhere. */
    public Tier below(int index, boolean stored) {
        PeerCopies from = peer;
        boolean fromPeer = from != null && index >= from.from() && index - from.from() < from.blocks() && cost < policy.computeBlockMicros();
        if (stored) {
            return fromPeer && cost < policy.storeBlockMicros() ? Tier.HOST : Tier.STORE;
        }
        return fromPeer ? Tier.HOST : Tier.UNKNOWN;
    }

    /** Where the other node is. */
    public static @Nullable PeerSource source(RequestSubmitted e) {
        PeerCopies peer = e.peer();
        return peer == null ? null : new PeerSource(peer.node(), peer.address());
    }
}
