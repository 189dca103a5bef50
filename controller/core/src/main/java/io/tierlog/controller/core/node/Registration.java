/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.PolicyWarnings;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.state.NodeRow;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which agent may send events for a node: agents register, leave, and are fenced by the next one. Without state. */
public final class Registration {
    /** Size of a SHA-256, in bytes. */
    private static final int DIGEST_BYTES = 32;


    /** Most blocks of a tier: products with marks in millionths still fit a long. */
    private static final long MOST_BLOCKS = 1L << 40;

    private Registration() {}

    /** Why a registration cannot be accepted. */
    private record Finding(RefusalReason reason, String detail) {}

    public static void decide(DecisionContext d, AgentRegistering e) {
        Envelope from = e.envelope();
        if (!from.aggregate().equals(Aggregates.NODE + e.node())) {
            d.refuse(d.envelope(from.aggregate(), 0), e, RefusalReason.WRONG_AGGREGATE, "Node " + e.node() + " is not " + from.aggregate());
            return;
        }
        if (!Aggregates.isAgent(from.sender(), e.node(), e.processId())) {
            d.refuse(d.envelope(from.aggregate(), 0), e, RefusalReason.WRONG_SENDER, from.sender() + " is not process " + e.processId());
            return;
        }
        NodeContext n = d.node(from.aggregate());
        NodeRow row = n == null ? null : n.row();
        SenderCount.Break broken = row != null && row.processId().equals(e.processId()) ? SenderCount.find(row, from) : null;
        // After the end of an epoch the same process may register again: its events in between were refused, and it reports all it holds.
        if (row != null && broken != null && (row.alive() || broken.reason() == RefusalReason.REPEATED)) {
            d.refuse(d.envelope(from.aggregate(), row.incarnation()), e, broken.reason(), broken.detail());
            return;
        }
        Finding finding = find(d, e, row);
        if (finding == null) {
            accept(d, e, n);
        } else {
            Envelope about = d.envelope(from.aggregate(), row == null ? 0 : row.incarnation());
            d.fact(new AgentRefused(about, e.node(), e.processId(), finding.reason(), finding.detail()));
            d.outcome(new Outcome.Refused(finding.reason(), finding.detail()));
        }
    }

    private static void accept(DecisionContext d, AgentRegistering e, @Nullable NodeContext n) {
        String aggregate = e.envelope().aggregate();
        NodeRow row = n == null ? null : n.row();
        boolean sameIncarnation = row != null && row.alive() && row.processId().equals(e.processId());
        if (n != null && n.row().alive() && !sameIncarnation) {
            n.fact(new NodeEnded(n.envelope(), n.row().incarnation(), RemovalReason.NODE_LOST));
        }
        long last = row == null ? d.clock().expiredIncarnation() : row.incarnation();
        long incarnation = sameIncarnation ? last : last + 1;
        long commandSequence = n == null ? 0 : n.commandSequence();
        Envelope about = d.envelope(aggregate, incarnation);
        d.fact(new AgentAccepted(about, e.node(), e.processId(), incarnation, e.tiers(), e.layoutDigest(), e.configurationDigest(),
                commandSequence, d.policy(), e.peerAddress(), e.foreign(), ClockRows.sessionMs(d.clock())));
        d.warn(about, PolicyWarnings.ofNode(d.policy(), e.node(), e.tiers()), d.clock().policyVersion());
        d.take(about, commandSequence);
    }

    private static @Nullable Finding find(DecisionContext d, AgentRegistering e, @Nullable NodeRow row) {
        if (!Checks.isNodeName(e.node()) || e.processId().isEmpty() || e.processId().length() > d.limits().textLength()) {
            return new Finding(RefusalReason.OVER_LIMIT, "A node's name is 1 to " + Checks.LONGEST_NODE_NAME
                    + " letters, digits, dots, dashes or underscores; a process id is 1 to " + d.limits().textLength() + " characters");
        }
        Finding finding = e.foreign() ? foreign(e) : layouts(e);
        if (finding == null) {
            finding = tiers(e);
        }
        if (finding == null && row != null && row.alive() && row.foreign() != e.foreign()) {
            finding = new Finding(RefusalReason.DUPLICATE_NODE, "Node " + e.node() + " is "
                    + (row.foreign() ? "an engine that a bridge listens to" : "served by an agent") + " now: choose another node name");
        }
        if (finding == null && row != null && row.alive() && !row.processId().equals(e.processId())
                && !row.processId().equals(e.replaces())) {
            long silent = d.clock().ticks() - row.lastHeartbeatTick();
            if (silent <= NodeRows.sessionTicks(row, d.policy())) {
                finding = new Finding(RefusalReason.DUPLICATE_NODE, "Process " + row.processId() + " is registered for node " + e.node()
                        + " and sent its last event " + silent + " ticks ago: stop it, or give this agent another node name");
            }
        }
        return finding;
    }

    /** An engine that a bridge listens to has nothing that Tierlog moves. */
    private static @Nullable Finding foreign(AgentRegistering e) {
        return e.tiers().isEmpty() && e.layouts().isEmpty() && e.peerAddress() == null && e.layoutDigest().size() == DIGEST_BYTES
                        && e.configurationDigest().size() == DIGEST_BYTES
                ? null
                : invalid("a foreign node has no tiers, no layouts and no peer address, and both digests have " + DIGEST_BYTES + " bytes");
    }

    private static @Nullable Finding layouts(AgentRegistering e) {
        if (e.nodesPerInstance() > 1) {
            return new Finding(RefusalReason.LAYOUT_UNSUPPORTED,
                    "One engine instance over " + e.nodesPerInstance() + " nodes cannot be served: run one instance on each node");
        }
        if (e.nodesPerInstance() < 1 || e.ranks() < 1 || e.layouts().isEmpty() || e.layoutDigest().size() != DIGEST_BYTES
                || e.configurationDigest().size() != DIGEST_BYTES) {
            return invalid("nodesPerInstance and ranks are 1 or more, there is a layout, and both digests have " + DIGEST_BYTES + " bytes");
        }
        for (Layout layout : e.layouts()) {
            if (layout.kind() != LayoutKind.ATTENTION && layout.kind() != LayoutKind.MLA) {
                return new Finding(RefusalReason.LAYOUT_UNSUPPORTED, "Layers " + layout.name() + " are " + layout.kind()
                        + ", and only ATTENTION and MLA can be served: turn KV tiers off for this model");
            }
            if (layout.layers() < 1 || layout.blockTokens() < 1 || layout.segmentBytes() < 1 || layout.segments() < 1) {
                return invalid("layers, blockTokens, segmentBytes and segments of " + layout.name() + " are 1 or more");
            }
            if (layout.blockTokens() != e.layouts().getFirst().blockTokens()) {
                return invalid("all layers have the same number of tokens in a block");
            }
            if (layout.replicated() && (layout.kind() != LayoutKind.MLA || e.ranks() < 2)) {
                return invalid("layers are replicated when they are MLA and there are 2 ranks or more");
            }
        }
        return null;
    }

    private static @Nullable Finding tiers(AgentRegistering e) {
        Set<Tier> seen = EnumSet.noneOf(Tier.class);
        for (TierCapacity tier : e.tiers()) {
            if (tier.tier() == Tier.UNKNOWN || !seen.add(tier.tier())) {
                return invalid("every tier is known and named once");
            }
            if (tier.capacityBlocks() < 0 || tier.capacityBlocks() > MOST_BLOCKS || tier.blockBytes() < 1) {
                return invalid("tier " + tier.tier() + " has 0 to " + MOST_BLOCKS + " blocks of 1 byte or more");
            }
        }
        return null;
    }

    private static Finding invalid(String rule) {
        return new Finding(RefusalReason.LAYOUT_INVALID, "Invalid registration: " + rule);
    }

    public static void stopping(NodeContext n) {
        n.fact(new NodeEnded(n.envelope(), n.row().incarnation(), RemovalReason.NODE_STOPPED));
    }
}
