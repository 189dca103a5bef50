/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import org.jspecify.annotations.Nullable;

/** What a policy says of groups, for those who show it. Static and without state. */
public final class GroupQuotas {
    private GroupQuotas() {}

    /** The group of a namespace; empty text for none. */
    public static String groupOf(Policy policy, String namespace) {
        return Groups.of(policy, namespace);
    }

    /** What a group may have of a tier of each node, in bytes; null when it has no quota there, or policy has no such group. */
    public static @Nullable Long quotaBytes(Policy policy, String group, Tier tier) {
        GroupPolicy known = Groups.policy(policy, group);
        return known == null ? null : Groups.quotaBytes(known, tier);
    }
}
