/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Policies of a {@link RandomHistory}. Static. */
final class DrawnPolicy {
    private DrawnPolicy() {}

    /** Draws a policy; a plain one has no groups, and fetches as by default. */
    static Policy of(Random random, boolean plain, @Nullable List<TierBound> tiers) {
        WritePolicy write = List.of(WritePolicy.WRITE_BACK, WritePolicy.WRITE_BACK, WritePolicy.WRITE_THROUGH,
                WritePolicy.WRITE_THROUGH_SELECTIVE).get(random.nextInt(4));
        double high = (6 + random.nextInt(5)) / 10.0;
        double diskHigh = (6 + random.nextInt(5)) / 10.0;
        return new Policy(random.nextInt(3), write, high, high - random.nextInt(4) / 10.0, diskHigh, diskHigh - random.nextInt(4) / 10.0,
                random.nextInt(6) != 0, 1 + random.nextInt(8), 3_000, 4_000, random.nextInt(4) == 0 ? 9 : 0, random.nextInt(4) != 0,
                plain || random.nextInt(3) == 0 ? null : groups(random), plain || random.nextInt(4) == 0 ? null : fetch(random),
                tiers,
                new ExpiryPolicy(8_000, 5_000), plain || random.nextInt(4) == 0 ? null : store(random));
    }

    /** Few objects in a shard, some of which are kept for a while. */
    private static StorePolicy store(Random random) {
        double high = (5 + random.nextInt(6)) / 10.0;
        return new StorePolicy(4 + random.nextInt(12), high, high - random.nextInt(4) / 10.0, random.nextInt(3) * 2_000L);
    }

    /** Few promotions at once, of few blocks, and short memories. */
    private static FetchPolicy fetch(Random random) {
        PromotionPolicy promotion = new PromotionPolicy(random.nextInt(8) > 0, 1 + random.nextInt(2), 1 + random.nextInt(3),
                random.nextInt(6), random.nextInt(6_000), random.nextInt(3_000));
        return new FetchPolicy(promotion, Policies.fetch(World.POLICY).peers());
    }

    /** One group that has everything, with routes that copy and mark, more or less of a quota, and few places for copies. */
    private static MigrationPolicy groups(Random random) {
        Retention kept = random.nextBoolean() ? Retention.DELETE_SOURCE : Retention.KEEP_BOTH;
        List<MigrationRoute> routes = new ArrayList<>();
        routes.add(new MigrationRoute(Tier.HOST, Tier.DISK, 0.5, random.nextBoolean(), true, kept, 1 + random.nextInt(3), 4_096L * 4));
        routes.add(new MigrationRoute(Tier.DISK, Tier.STORE, 0.6, true, random.nextInt(3) > 0, Retention.DELETE_SOURCE, 1, 4_096L * 3));
        Long quota = random.nextInt(3) == 0 ? null : 4_096L * (4 + random.nextInt(8));
        GroupPolicy group = new GroupPolicy("g", List.of(random.nextInt(5) == 0 ? "none" : "model/*"), quota, List.of(), routes);
        return new MigrationPolicy(1_000 + random.nextInt(20_000), random.nextInt(4) == 0 ? MarkClearing.ON_EXPIRY : MarkClearing.ON_WRITE,
                1 + random.nextInt(5), 4_096L * 6, List.of(group));
    }
}
