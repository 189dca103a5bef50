/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import org.jspecify.annotations.Nullable;

/** Which group a namespace belongs to, and what policy says of groups. Without state. */
public final class Groups {
    private Groups() {}

    /** The first group with a pattern that fits the namespace; empty text for none. */
    public static String of(Policy policy, String namespace) {
        for (GroupPolicy group : Policies.migration(policy).groups()) {
            for (String pattern : group.namespaces()) {
                if (fits(pattern, namespace)) {
                    return group.name();
                }
            }
        }
        return "";
    }

    /** Whether a pattern, in which * stands for any text, fits the whole of a text. */
    static boolean fits(String pattern, String text) {
        int p = 0;
        int t = 0;
        int star = -1;
        int resume = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                resume = t;
            } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++resume;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    /** What policy says of a group; null when it has no such group. */
    public static @Nullable GroupPolicy policy(Policy policy, String group) {
        for (GroupPolicy candidate : Policies.migration(policy).groups()) {
            if (candidate.name().equals(group)) {
                return candidate;
            }
        }
        return null;
    }

    /** What a group says of a tier; null when it says nothing. */
    static @Nullable GroupTier tier(GroupPolicy group, Tier tier) {
        for (GroupTier candidate : group.tiers()) {
            if (candidate.tier() == tier) {
                return candidate;
            }
        }
        return null;
    }

    /** The group's quota on a tier of a node, in bytes: the tier's own, else the group's; null for none. */
    public static @Nullable Long quotaBytes(GroupPolicy group, Tier tier) {
        GroupTier own = tier(group, tier);
        return own != null && own.quotaBytes() != null ? own.quotaBytes() : group.quotaBytes();
    }

    /** The group's route between two tiers; null when it has none. */
    public static @Nullable MigrationRoute route(GroupPolicy group, Tier source, Tier target) {
        for (MigrationRoute route : group.routes()) {
            if (route.source() == source && route.target() == target) {
                return route;
            }
        }
        return null;
    }
}
