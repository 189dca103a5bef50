/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Draws groups, quotas, routes and budgets: tight ones, so that each of them is met often. */
final class DrawnMigration {
    /** Names of the groups that there may be. */
    static final List<String> GROUPS = List.of("g0", "g1", "g2");

    private static final List<List<String>> PATTERNS = List.of(List.of("m"), List.of("*"), List.of("o"), List.of("m*"), List.of("o", "m+*"),
            List.of("none"));

    private static final List<List<Tier>> WAYS =
            List.of(List.of(Tier.HOST, Tier.DISK), List.of(Tier.HOST, Tier.STORE), List.of(Tier.DISK, Tier.STORE));

    private final Choices choices;
    private final long blockBytes;

    DrawnMigration(Choices choices, long blockBytes) {
        this.choices = choices;
        this.blockBytes = blockBytes;
    }

    /** One that can be; null in one of four cases. */
    @Nullable MigrationPolicy draw() {
        if (choices.next(4) == 0) {
            return null;
        }
        List<GroupPolicy> groups = new ArrayList<>();
        int many = 1 + choices.next(GROUPS.size());
        for (int i = 0; i < many; i++) {
            groups.add(group(GROUPS.get(i)));
        }
        MarkClearing clearing = choices.next(3) == 2 ? MarkClearing.ON_EXPIRY : MarkClearing.ON_WRITE;
        return new MigrationPolicy(
                choices.pick(List.of(20_000, 5_000, 1_000, 1)).longValue(), clearing, 1 + choices.next(6), blocks(1 + choices.next(16)), groups);
    }

    /** The configuration in which everything comes to rest: one group with ample capacity, and a route that keeps both. */
    MigrationPolicy calm() {
        MigrationRoute route = new MigrationRoute(Tier.HOST, Tier.DISK, 0.5, true, true, Retention.KEEP_BOTH, 2, blocks(8));
        GroupPolicy all = new GroupPolicy("all", List.of("*"), blocks(1_000), List.of(), List.of(route));
        return new MigrationPolicy(5_000, MarkClearing.ON_WRITE, 4, blocks(16), List.of(all));
    }

    private long blocks(int count) {
        return count * blockBytes;
    }

    private GroupPolicy group(String name) {
        List<GroupTier> tiers = new ArrayList<>();
        for (Tier tier : List.of(Tier.HOST, Tier.DISK)) {
            if (choices.next(3) != 0) {
                tiers.add(tier(tier));
            }
        }
        List<MigrationRoute> routes = new ArrayList<>();
        for (List<Tier> way : WAYS) {
            if (choices.next(4) != 0) {
                routes.add(route(way.getFirst(), way.getLast()));
            }
        }
        return new GroupPolicy(name, choices.pick(PATTERNS), quota(), tiers, routes);
    }

    /** Of a few blocks, and some bytes that make no block; now and then nothing at all. */
    private @Nullable Long quota() {
        int drawn = choices.next(24);
        return drawn == 0 ? null : drawn == 23 ? Long.valueOf(0) : Long.valueOf(blocks(drawn) + choices.next(2));
    }

    private GroupTier tier(Tier tier) {
        double high = choices.next(3) == 0 ? 0 : (10 - choices.next(6)) / 10.0;
        double low = high == 0 ? 0 : Math.max(0.1, high - choices.next(4) / 10.0);
        int order = (int) (low * 10) % 4; // no choice of its own, which would change what each seed is
        return new GroupTier(tier, quota(), high, low, order == 1 ? EvictionOrder.LRU : order == 2 ? EvictionOrder.GAPS : null);
    }

    private MigrationRoute route(Tier source, Tier target) {
        int methods = choices.next(4);
        Retention retention = choices.next(3) == 2 ? Retention.KEEP_BOTH : Retention.DELETE_SOURCE;
        return new MigrationRoute(
                source, target, (1 + choices.next(9)) / 10.0, methods != 3, methods != 2, retention, 1 + choices.next(3), blocks(1
                        + choices.next(8)));
    }
}
