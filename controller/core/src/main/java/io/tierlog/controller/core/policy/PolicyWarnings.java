/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static io.tierlog.schemas.ConfigWarningKind.CAPACITY_ABOVE_REGISTERED;
import static io.tierlog.schemas.ConfigWarningKind.KEEP_BOTH_WITHOUT_RECLAIM;
import static io.tierlog.schemas.ConfigWarningKind.MIGRATION_NEVER_TRIGGERS;
import static io.tierlog.schemas.ConfigWarningKind.THRESHOLD_NOT_BELOW_HIGH_MARK;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import java.util.ArrayList;
import java.util.List;

/** What is unwise in a policy that is right otherwise. Without state. */
public final class PolicyWarnings {
    private PolicyWarnings() {}

    /** In the order of groups and routes; then of the disks of nodes that have what the policy bounds them to. */
    public static List<PolicyWarning> of(Policy policy) {
        List<PolicyWarning> warnings = new ArrayList<>();
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            for (MigrationRoute route : group.routes()) {
                String which = "Group " + group.name() + ", route " + PolicyRules.name(route.source()) + " to " + PolicyRules.name(route.target());
                String source = PolicyRules.name(route.source());
                if (route.copy() && route.retention() == Retention.KEEP_BOTH && !reclaims(policy, group, route.source())) {
                    warnings.add(new PolicyWarning(KEEP_BOTH_WITHOUT_RECLAIM, group.name(), route.source(), route.target(), which
                            + ": it keeps what it copies, and nothing takes it from " + source + ", which stays full: give the group or the node"
                            + " marks for " + source + ", or retention delete_source"));
                }
                double high = highMark(group, route.source());
                if (high > 0 && route.threshold() >= high) {
                    warnings.add(new PolicyWarning(THRESHOLD_NOT_BELOW_HIGH_MARK, group.name(), route.source(), route.target(), which
                            + ": its threshold " + route.threshold() + " is not below the high mark " + high + " of " + source
                            + ": blocks are dropped before they migrate; lower the threshold"));
                }
                if (Groups.quotaBytes(group, route.source()) == null) {
                    warnings.add(new PolicyWarning(MIGRATION_NEVER_TRIGGERS, group.name(), route.source(), route.target(), which
                            + ": its threshold is a share of a quota, and neither the group nor its " + source
                            + " has one: give one of them a quota"));
                }
            }
        }
        warnings.addAll(LastPlacements.ofDocument(policy));
        return List.copyOf(warnings);
    }

    /** Where the policy bounds a tier above what a node has of it, in the order of the tiers; then of the node's disk. */
    public static List<PolicyWarning> ofNode(Policy policy, String node, List<TierCapacity> tiers) {
        List<PolicyWarning> warnings = new ArrayList<>();
        for (TierCapacity tier : tiers) {
            Long bound = Policies.bound(policy, tier.tier());
            long has = tier.capacityBlocks() * tier.blockBytes();
            if (bound != null && bound > has) {
                String name = PolicyRules.name(tier.tier());
                warnings.add(new PolicyWarning(CAPACITY_ABOVE_REGISTERED, "", tier.tier(), Tier.UNKNOWN, "tiers." + name + ".capacity is " + bound
                        + " bytes, and node " + node + " has " + has + " of " + name + ": what the node has counts there; lower the capacity, or give"
                        + " the node more"));
            }
        }
        warnings.addAll(LastPlacements.ofNode(policy, node, tiers));
        return List.copyOf(warnings);
    }

    /** Whether anything takes blocks of a group from a tier when it fills up. */
    private static boolean reclaims(Policy policy, GroupPolicy group, Tier tier) {
        double nodeWide = tier == Tier.HOST ? policy.hostHighMark() : tier == Tier.DISK ? policy.diskHighMark() : 0;
        return nodeWide > 0 || (highMark(group, tier) > 0 && Groups.quotaBytes(group, tier) != null);
    }

    private static double highMark(GroupPolicy group, Tier tier) {
        GroupTier own = Groups.tier(group, tier);
        return own == null ? 0 : own.highMark();
    }
}
