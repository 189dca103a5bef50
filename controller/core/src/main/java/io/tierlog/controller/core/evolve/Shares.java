/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.SharesRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What groups, routes and operators have of a node, while a fact changes it. Confined to one call of evolve. */
public final class Shares {
    private final List<GroupRow> groups;
    private final List<RouteRow> routes;
    long groupsVersion;
    long groupsGoal;
    Bytes groupsCursor;
    boolean draining;
    boolean drained;
    final List<String> drainingInstances;
    String drainRequest;
    int drainPass;
    Bytes drainCursor;
    long drainLeft;
    long drainSaving;
    long drainSinceMs;
    public long marks;

    private Shares(SharesRow row) {
        groups = new ArrayList<>(row.groups());
        routes = new ArrayList<>(row.routes());
        groupsVersion = row.groupsVersion();
        groupsGoal = row.groupsGoal();
        groupsCursor = row.groupsCursor();
        draining = row.draining();
        drained = row.drained();
        drainingInstances = new ArrayList<>(row.drainingInstances());
        drainRequest = row.drainRequest();
        drainPass = row.drainPass();
        drainCursor = row.drainCursor();
        drainLeft = row.drainLeft();
        drainSaving = row.drainSaving();
        drainSinceMs = row.drainSinceMs();
        marks = row.marks();
    }

    static Shares of(@Nullable SharesRow row) {
        return new Shares(ShareRows.orNothing(row));
    }

    /** Adds to a group's count of placements on a tier, and to its count of leaving placements there. */
    void count(String group, Tier tier, long used, long leaving) {
        GroupTierRow was = ShareRows.use(groups, group, tier);
        GroupTierRow is = new GroupTierRow(tier, was.usedBlocks() + used, was.leavingBlocks() + leaving, was.inRelief());
        if (is.usedBlocks() < 0 || is.leavingBlocks() < 0) {
            throw new IllegalHistory("Group " + group + " holds fewer than 0 blocks: " + is);
        }
        set(group, is);
    }

    void inRelief(String group, Tier tier, boolean inRelief) {
        GroupTierRow was = ShareRows.use(groups, group, tier);
        set(group, new GroupTierRow(tier, was.usedBlocks(), was.leavingBlocks(), inRelief));
    }

    private void set(String group, GroupTierRow use) {
        List<GroupTierRow> tiers = new ArrayList<>();
        int at = groups.size();
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).group().equals(group)) {
                at = i;
                tiers.addAll(groups.get(i).tiers());
            }
        }
        tiers.removeIf(tier -> tier.tier() == use.tier());
        if (use.usedBlocks() > 0 || use.inRelief()) {
            tiers.add(use);
        }
        if (at < groups.size()) {
            groups.remove(at);
        }
        if (!tiers.isEmpty()) {
            groups.add(at, new GroupRow(group, tiers));
        }
    }

    /** COPY operations on a route have begun, or have ended. */
    void moving(String group, Tier source, Tier target, int operations, long blocks) {
        RouteRow was = ShareRows.route(routes, group, source, target);
        RouteRow is = new RouteRow(group, source, target, was.operations() + operations, was.blocks() + blocks);
        if (is.operations() < 0 || is.blocks() < 0) {
            throw new IllegalHistory("Fewer than 0 copies are in flight: " + is);
        }
        routes.remove(was);
        if (is.operations() > 0) {
            routes.add(is);
        }
    }

    /** All placements are in the groups of that version of the policy. */
    void regrouped(long version) {
        groupsVersion = version;
        groupsGoal = version;
        groupsCursor = Bytes.EMPTY;
    }

    /** The scan of a draining node starts again. */
    void drainAgain() {
        drained = false;
        drainPass = 0;
        drainCursor = Bytes.EMPTY;
        drainLeft = 0;
        drainSaving = 0;
        drainSinceMs = 0;
    }

    /** There is more to save, perhaps where the present pass of the drain has looked already: another pass follows. */
    void unsavedWhileDraining() {
        if (!drainCursor.isEmpty()) {
            drainSaving++;
        }
    }

    /** A new incarnation of the node: its memory is empty and nothing is in flight; operators' settings and the node's marks stay. */
    void restart() {
        groups.clear();
        routes.clear();
        drainAgain();
    }

    /** The row; null when all its fields are empty. */
    @Nullable SharesRow toRow() {
        SharesRow row = new SharesRow(List.copyOf(groups), List.copyOf(routes), groupsVersion, groupsGoal, groupsCursor, draining, drained,
                List.copyOf(drainingInstances), drainRequest, drainPass, drainCursor, drainLeft, drainSaving, marks, drainSinceMs);
        return row.equals(ShareRows.NOTHING) ? null : row;
    }
}
