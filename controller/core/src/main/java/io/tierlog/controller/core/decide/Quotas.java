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

    /** The quota of a group on a tier of a node, in whole blocks, rounded down; null for no quota. */
    public static @Nullable Long blocks(NodeContext n, String group, Tier tier) {
        GroupPolicy policy = group.isEmpty() ? null : Groups.policy(n.policy(), group);
        Long bytes = policy == null ? null : Groups.quotaBytes(policy, tier);
        TierRow row = n.tier(tier);
        return bytes == null || row == null || row.blockBytes() <= 0 ? null : bytes / row.blockBytes();
    }

    /** What the tier of a node may hold, in blocks: the tier's capacity on the node, or policy's limit where that is lower. */
    public static long capacity(NodeContext n, TierRow tier) {
        Long bound = Policies.bound(n.policy(), tier.tier());
        return bound == null || tier.blockBytes() <= 0 ? tier.capacityBlocks() : Math.min(tier.capacityBlocks(), bound / tier.blockBytes());
    }

    /**
     * How many more placements the group may have on the tier; placements that are leaving still count. Without a quota: as many as the partition
     * has space for, and a very large number in the store, which is not of this partition. Where policy limits the tier, the result is also bounded
     * by the space left below that limit: the agent would evict by itself only up to the capacity of the node.
     */
    public static long free(NodeContext n, String group, Tier tier) {
        Long quota = blocks(n, group, tier);
        long ofGroup = quota == null ? Long.MAX_VALUE : Math.max(0, quota - ShareRows.use(n.row().shares(), group, tier).usedBlocks());
        TierRow row = n.tier(tier);
        if (row == null) {
            return ofGroup;
        }
        long most = Math.min(ofGroup, n.freePlacements());
        return Policies.bound(n.policy(), tier) == null ? most : Math.min(most, Math.max(0, capacity(n, row) - row.usedBlocks()));
    }

    /** Records that a number of blocks were to come to the tier and do not. */
    public static void exceeded(NodeContext n, OperationKind kind, Tier tier, String group, String namespace, int blocks) {
        Long quota = blocks(n, group, tier);
        TierRow row = n.tier(tier);
        long used = ShareRows.use(n.row().shares(), group, tier).usedBlocks();
        if (quota == null && row != null && Policies.bound(n.policy(), tier) != null) {
            quota = capacity(n, row); // of the whole tier
            used = row.usedBlocks();
        }
        if (blocks > n.freePlacements()) {
            quota = n.limits().placements(); // of the partition
            used = n.clock().placements();
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
