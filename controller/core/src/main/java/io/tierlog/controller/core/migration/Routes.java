/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.eviction.EvictionPicker;
import io.tierlog.controller.core.eviction.EvictionRules;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.state.GroupTierRow;

/**
 * The routes of groups. When a group stands at a route's threshold of its quota, its coldest blocks are copied on it, within the route's and the
 * node's budgets; sources that are to leave are dropped when the copy has ended. In a round in which watermark eviction takes blocks of the group,
 * or of any group for the whole tier, from the source, nothing is copied from there. Without state.
 */
public final class Routes {
    private Routes() {}

    /**
     * Issues copies of at most {@code budget} blocks; returns how many.
     *
     * @param keeping whether routes are served whose blocks stay on their source: these stay at their threshold for ever, and each round would
     *     check every one of the coldest blocks only to find nothing to do
     */
    public static int decide(NodeContext n, int budget, boolean keeping) {
        int left = budget;
        for (GroupPolicy group : Policies.migration(n.policy()).groups()) {
            for (MigrationRoute route : group.routes()) {
                if (route.copy() && (keeping || route.retention() == Retention.DELETE_SOURCE)) {
                    left -= decide(n, group, route, left);
                }
            }
        }
        return budget - left;
    }

    private static int decide(NodeContext n, GroupPolicy group, MigrationRoute route, int budget) {
        Watermark level = new Watermark(route.source(), group.name(), route.threshold(), route.threshold(), route.target());
        Long quota = n.row().alive() ? Quotas.blocks(n, group.name(), route.source()) : null;
        GroupTierRow row = ShareRows.use(n.row().shares(), group.name(), route.source());
        // Most often watermark eviction begins and ends within one decision, so the row alone does not show it.
        if (quota == null || row.inRelief() || n.isRelieved(route.source(), group.name())) {
            return 0;
        }
        Watermark.Use use = new Watermark.Use(row.usedBlocks(), row.leavingBlocks(), quota, false);
        int free = Admission.free(n, group.name(), route.source(), route.target());
        if (!level.isHigh(use) || free == 0) {
            return 0;
        }
        boolean leaves = route.retention() == Retention.DELETE_SOURCE;
        long wanted = leaves ? level.excess(use) : use.standing();
        int most = (int) Math.min(Math.min(wanted, budget), Math.min(free, n.policy().reliefBatchBlocks()));
        MoveCause cause = new MoveCause(MoveTrigger.ROUTE, null, group.name(), use.level(), route.threshold(), n.clock().policyVersion(),
                route.retention());
        int sent = 0;
        EvictionRules rules = new EvictionRules.ForRoute(n, group.name(), route);
        for (EvictionPicker.Batch batch : EvictionPicker.pick(n, rules, level, new EvictionPicker.Most(most, 1, true))) {
            sent += batch.blocks().size();
            if (batch.way().isCopy()) {
                Migrations.copy(n, cause, route.source(), route.target(), batch.namespace(), Bytes.EMPTY, batch.blocks());
            } else {
                Operations.drop(n, route.source(), batch.namespace(), batch.blocks(), batch.way().other(), cause);
            }
        }
        n.evolve();
        return sent;
    }
}
