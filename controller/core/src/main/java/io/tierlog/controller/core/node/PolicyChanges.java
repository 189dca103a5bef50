/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.PolicyFinding;
import io.tierlog.controller.core.policy.PolicyRules;
import io.tierlog.controller.core.policy.PolicyWarnings;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.state.PolicyRow;
import java.util.List;

/** The policy aggregate, which numbers policies, and the partitions, which go by the highest number they have heard of. Without state. */
public final class PolicyChanges {
    private PolicyChanges() {}

    public static void change(DecisionContext d, PolicyChangeRequested e) {
        Envelope about = d.envelope(Aggregates.POLICY, 0);
        if (!e.envelope().aggregate().equals(Aggregates.POLICY)) {
            d.refuse(d.envelope(e.envelope().aggregate(), 0), e, RefusalReason.WRONG_AGGREGATE, "This event is about the policy");
            return;
        }
        PolicyRow row = d.tables().get(Rows.POLICY, new RowKey.Aggregate(Aggregates.POLICY));
        long last = row == null ? 0 : row.version();
        List<String> findings = findings(d, e.policy());
        if (e.basedOnVersion() != last) {
            refuse(d, about, RefusalReason.STALE_POLICY, List.of("It builds on version " + e.basedOnVersion() + ", and " + last
                    + " is in force: read that one, and ask again"));
        } else if (!findings.isEmpty()) {
            refuse(d, about, RefusalReason.POLICY_INVALID, findings);
        } else {
            long version = last + 1;
            d.fact(new PolicyVersioned(about, version, e.policy()));
            d.warn(about, PolicyWarnings.of(e.policy()), version);
            for (int p = 0; p < d.limits().partitions(); p++) {
                Envelope to = new Envelope(Aggregates.clock(p), Aggregates.POLICY, 0, version, 0, about.timeMs(), about.cause(),
                        about.traceContext(), null);
                d.message(p, new PolicyPublished(to, version, e.policy()));
            }
        }
    }

    private static List<String> findings(DecisionContext d, Policy policy) {
        return PolicyRules.findings(policy, d.limits()).stream().map(PolicyFinding::toString).toList();
    }

    private static void refuse(DecisionContext d, Envelope about, RefusalReason reason, List<String> findings) {
        d.fact(new PolicyRefused(about, reason, findings));
        d.outcome(new Outcome.Refused(reason, String.join("; ", findings)));
    }

    public static void published(DecisionContext d, PolicyPublished e) {
        Envelope about = d.envelope(d.clockAggregate(), 0);
        if (!e.envelope().aggregate().equals(d.clockAggregate())) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This message is for " + e.envelope().aggregate());
        } else if (e.version() <= d.clock().policyVersion()) {
            d.refuse(about, e, RefusalReason.REPEATED, "Version " + d.clock().policyVersion() + " is in force");
        } else if (!findings(d, e.policy()).isEmpty()) {
            d.refuse(about, e, RefusalReason.POLICY_INVALID, String.join("; ", findings(d, e.policy())));
        } else {
            d.fact(new PolicyAdopted(about, e.version(), e.policy()));
            d.nodes().forEach(n -> warn(n, e));
        }
    }

    private static void warn(NodeContext n, PolicyPublished e) {
        if (n.row().alive()) {
            n.warn(PolicyWarnings.ofNode(e.policy(), n.name(), n.row().tiers().stream()
                    .map(tier -> new TierCapacity(tier.tier(), tier.capacityBlocks(), tier.blockBytes())).toList()), e.version());
        }
    }


}
