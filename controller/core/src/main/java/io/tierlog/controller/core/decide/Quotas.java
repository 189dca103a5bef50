/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.TierRow;
import org.jspecify.annotations.Nullable;

/**
 * What may be on a node's tiers, by policy: what groups may have of them, and what a tier may hold at most. Moves that would take more do not begin.
 * Without state.
 */
public final class Quotas {
    private Quotas() {}

    /** The quota of a group on a tier of a node, in blocks; null for none. Part of a block is none. */
    public static @Nullable Long blocks(NodeContext n, String group, Tier tier) {
        GroupPolicy policy = group.isEmpty() ? null : Groups.policy(n.policy(), group);
        Long bytes = policy == null ? null : Groups.quotaBytes(policy, tier);
        TierRow row = n.tier(tier);
        return bytes == null || row == null || row.blockBytes() <= 0 ? null : bytes / row.blockBytes();
    }

    /** What the tier of a node may hold, in blocks: what the node has of it, or what policy says where that is less. */
    public static long capacity(NodeContext n, TierRow tier) {
        Long bound = Policies.bound(n.policy(), tier.tier());
        return bound == null || tier.blockBytes() <= 0 ? tier.capacityBlocks() : Math.min(tier.capacityBlocks(), bound / tier.blockBytes());
    }

    /**
     * How many copies more the group may have on the tier, those on their way out counted as there; a very large number without a quota. Where policy
     * says what the tier may hold, no more than that leaves: the agent would make room by itself up to what the node has.
     */
    public static long room(NodeContext n, String group, Tier tier) {
        Long quota = blocks(n, group, tier);
        long ofGroup = quota == null ? Long.MAX_VALUE : Math.max(0, quota - ShareRows.use(n.row().shares(), group, tier).usedBlocks());
        TierRow row = n.tier(tier);
        return row == null || Policies.bound(n.policy(), tier) == null
                ? ofGroup
                : Math.min(ofGroup, Math.max(0, capacity(n, row) - row.usedBlocks()));
    }

    /** Records that so many blocks were to come to the tier and do not. */
    public static void exceeded(NodeContext n, OperationKind kind, Tier tier, String group, String namespace, int blocks) {
        Long quota = blocks(n, group, tier);
        TierRow row = n.tier(tier);
        long used = ShareRows.use(n.row().shares(), group, tier).usedBlocks();
        if (quota == null && row != null && Policies.bound(n.policy(), tier) != null) {
            quota = capacity(n, row); // of the whole tier
            used = row.usedBlocks();
        }
        n.fact(new QuotaExceeded(n.envelope(), tier, group, namespace, kind, blocks, used, quota == null ? 0 : quota,
                n.clock().policyVersion()));
    }

    /** How full a tier of a node is, or what a group may have of it; null when the node has no such tier, or nothing of it can be full. */
    public static Watermark.@Nullable Use use(NodeContext n, Watermark level) {
        Tier tier = level.tier();
        TierRow row = n.row().alive() ? n.tier(tier) : null;
        if (row == null || row.capacityBlocks() == 0) {
            return null;
        }
        if (level.group().isEmpty()) {
            return new Watermark.Use(row.usedBlocks(), row.leavingBlocks(), capacity(n, row), row.inRelief());
        }
        Long quota = blocks(n, level.group(), tier);
        GroupTierRow use = ShareRows.use(n.row().shares(), level.group(), tier);
        return quota == null ? null : new Watermark.Use(use.usedBlocks(), use.leavingBlocks(), quota, use.inRelief());
    }
}
