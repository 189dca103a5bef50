/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.state.TierRow;
import org.jspecify.annotations.Nullable;

/** What groups may have of a node's tiers: moves that would take more do not begin. Without state. */
final class Quotas {
    private Quotas() {}

    /** The quota of a group on a tier of a node, in blocks; null for none. Part of a block is none. */
    static @Nullable Long blocks(NodeDraft n, String group, Tier tier) {
        GroupPolicy policy = group.isEmpty() ? null : Groups.policy(n.d.policy(), group);
        Long bytes = policy == null ? null : Groups.quotaBytes(policy, tier);
        TierRow row = n.tier(tier);
        return bytes == null || row == null || row.blockBytes() <= 0 ? null : bytes / row.blockBytes();
    }

    /** How many copies more the group may have on the tier, those on their way out counted as there; a very large number without a quota. */
    static long room(NodeDraft n, String group, Tier tier) {
        Long quota = blocks(n, group, tier);
        return quota == null ? Long.MAX_VALUE : Math.max(0, quota - Shares.use(n.row().shares(), group, tier).usedBlocks());
    }

    /** Puts on record that so many blocks were to come to the tier and do not. */
    static void exceeded(NodeDraft n, OperationKind kind, Tier tier, String group, String namespace, int blocks) {
        Long quota = blocks(n, group, tier);
        n.fact(new QuotaExceeded(n.envelope(), tier, group, namespace, kind, blocks,
                Shares.use(n.row().shares(), group, tier).usedBlocks(), quota == null ? 0 : quota, n.d.clock().policyVersion()));
    }
}
