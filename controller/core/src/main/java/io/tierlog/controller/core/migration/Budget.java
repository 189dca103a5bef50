/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.TierRow;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rest of a node's budgets for copies: policy's budget for all of them, for a route of a group, and the group's quota on the target. It starts
 * from what the tables have in flight and counts what one decision adds. Writes to the targets of marks do not count here: they are never refused.
 * Confined to one decision.
 */
final class Budget {
    private final NodeContext n;
    private final MigrationPolicy policy;
    private final Map<Way, Taken> ways = new LinkedHashMap<>();
    private final Taken all = new Taken();

    private record Way(String group, Tier source, Tier target) {}

    private static final class Taken {
        private long operations;
        private long bytes;
        /** Blocks that this decision has added. */
        private long added;
    }

    Budget(NodeContext n) {
        this.n = n;
        this.policy = Policies.migration(n.policy());
        for (RouteRow route : ShareRows.orNothing(n.row().shares()).routes()) {
            if (PlacementRows.isOrdered(route.source())) {
                count(new Way(route.group(), route.source(), route.target()), route.operations(), route.blocks());
            }
        }
    }

    private Taken count(Way way, long operations, long blocks) {
        Taken taken = ways.computeIfAbsent(way, w -> new Taken());
        long bytes = blocks * blockBytes(way.source());
        for (Taken one : new Taken[] {taken, all}) {
            one.operations += operations;
            one.bytes += bytes;
        }
        return taken;
    }

    private long blockBytes(Tier source) {
        TierRow tier = n.tier(source);
        return tier == null ? 1 : Math.max(1, tier.blockBytes());
    }

    /** Blocks that one more copy of the group between these tiers may have; 0 when none may begin. */
    int free(String group, Tier source, Tier target) {
        Way way = new Way(group, source, target);
        Taken taken = ways.getOrDefault(way, new Taken());
        long free = free(all, policy.migrationsInFlight(), policy.migrationBytesInFlight(), source);
        MigrationRoute route = route(way);
        if (route != null) {
            free = Math.min(free, free(taken, route.concurrency(), route.bytesInFlight(), source));
        }
        long quota = Quotas.free(n, group, target);
        long left = quota == Long.MAX_VALUE ? quota : quota - taken.added;
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, Math.min(free, left)));
    }

    private long free(Taken taken, int operations, long bytes, Tier source) {
        return taken.operations >= operations ? 0 : (bytes - taken.bytes) / blockBytes(source);
    }

    private @Nullable MigrationRoute route(Way way) {
        GroupPolicy group = way.group().isEmpty() ? null : Groups.policy(n.policy(), way.group());
        return group == null ? null : Groups.route(group, way.source(), way.target());
    }

    /** One more copy is issued. */
    void take(String group, Tier source, Tier target, int blocks) {
        count(new Way(group, source, target), 1, blocks).added += blocks;
    }
}
