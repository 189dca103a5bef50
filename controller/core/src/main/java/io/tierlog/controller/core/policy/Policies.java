/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.state.ClockRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The policy before the first one is set, and the rules that a policy must satisfy. */
public final class Policies {
    /** In force, as version 0, until a version is published. Part of the core's version. */
    public static final Policy INITIAL = new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.95, 0.9, true, 256, 30_000, 60_000, 10, true, null, null);

    /** The migration defaults of a policy without them: no groups. Part of the core's version. */
    private static final MigrationPolicy NO_GROUPS = new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 4L << 30, List.of());

    /** The fetch defaults of a policy without them. Part of the core's version. */
    private static final FetchPolicy FETCH = new FetchPolicy(new PromotionPolicy(true, 4, 32, 1_024, 30_000, 5_000),
            new PeerPolicy(true, 4, 1_024, 10_000, 200, 600, 1_000, 5_000));

    /** The expiry defaults of a policy without them: a day and an hour. Part of the core's version. */
    private static final ExpiryPolicy EXPIRY = new ExpiryPolicy(86_400_000, 3_600_000);

    /** What a policy that bounds the shards of the store and says no more has; without a bound of its own. */
    public static final StorePolicy STORE = new StorePolicy(0, 0.9, 0.8, 600_000);

    /** Marks are counted in millionths of the capacity. */
    private static final long MILLION = 1_000_000;

    private Policies() {}

    /** Groups, quotas and routes of a policy, with the defaults for missing values. */
    public static MigrationPolicy migration(Policy policy) {
        MigrationPolicy migration = policy.migration();
        return migration == null ? NO_GROUPS : migration;
    }

    /** The settings of a policy for promotions and peer reads, with the defaults for missing values. */
    public static FetchPolicy fetch(Policy policy) {
        FetchPolicy fetch = policy.fetch();
        return fetch == null ? FETCH : fetch;
    }

    /** When rows of nodes and namespaces expire, with the defaults for missing values. */
    public static ExpiryPolicy expiry(Policy policy) {
        ExpiryPolicy expiry = policy.expiry();
        return expiry == null ? EXPIRY : expiry;
    }

    /** Bytes that a tier of each node may hold at most, by policy; null for what the node has. */
    public static @Nullable Long bound(Policy policy, Tier tier) {
        List<TierBound> tiers = policy.tiers();
        for (TierBound bound : tiers == null ? List.<TierBound>of() : tiers) {
            if (bound.tier() == tier && bound.capacityBytes() != 0) {
                return bound.capacityBytes();
            }
        }
        return null;
    }

    /** The eviction order where the policy names none, by a version of the core. */
    public static EvictionOrder order(int coreVersion) {
        return coreVersion == CoreVersion.LRU_BY_DEFAULT ? EvictionOrder.LRU : EvictionOrder.GAPS;
    }

    /** The eviction order of a group's blocks on a tier, empty text for no group: of the group there, else of the tier, else the default. */
    public static EvictionOrder order(ClockRow clock, Tier tier, String group) {
        Policy policy = clock.policy();
        GroupPolicy known = group.isEmpty() ? null : Groups.policy(policy, group);
        GroupTier own = known == null ? null : Groups.tier(known, tier);
        if (own != null && own.order() != null) {
            return own.order();
        }
        List<TierBound> tiers = policy.tiers();
        for (TierBound bound : tiers == null ? List.<TierBound>of() : tiers) {
            if (bound.tier() == tier && bound.order() != null) {
                return bound.order();
            }
        }
        return order(clock.coreVersion());
    }

    /** Whether blocks may have to lose what they earned under another order: some order is set, and it is {@link EvictionOrder#LRU}. */
    public static boolean takesCredit(Policy policy) {
        List<TierBound> tiers = policy.tiers();
        return (tiers != null && tiers.stream().anyMatch(bound -> bound.order() == EvictionOrder.LRU))
                || migration(policy).groups().stream().flatMap(group -> group.tiers().stream()).anyMatch(tier -> tier.order() == EvictionOrder.LRU);
    }

    /** Whether {@code blocks} have reached {@code mark} of {@code capacity}; in whole numbers, so that 7 of 100 do reach 0.07. */
    public static boolean reaches(long blocks, double mark, long capacity) {
        return blocks * MILLION >= millionths(mark) * capacity;
    }

    /** How many of {@code blocks} must go until the rest no longer reaches {@code mark} of {@code capacity}. */
    public static long excess(long blocks, double mark, long capacity) {
        return Math.max(0, blocks - below(mark, capacity));
    }

    /** Most blocks that do not reach {@code mark} of {@code capacity}. */
    static long below(double mark, long capacity) {
        return Math.ceilDiv(millionths(mark) * capacity, MILLION) - 1;
    }

    private static long millionths(double mark) {
        return Math.round(mark * MILLION);
    }
}
