/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.SharesRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What groups, routes and operators have of a node. Without state. */
public final class ShareRows {
    private ShareRows() {}

    /** What a node without groups, routes and drains has. */
    public static final SharesRow NOTHING = new SharesRow(List.of(), List.of(), 0, 0, Bytes.EMPTY, false, false, List.of(), "",
            0, Bytes.EMPTY, 0, 0, 0, 0);

    /** The row, or its default when there is none. */
    public static SharesRow orNothing(@Nullable SharesRow row) {
        return row == null ? NOTHING : row;
    }

    /** Use of a tier by a group; of one that has nothing there, zeros. */
    public static GroupTierRow use(@Nullable SharesRow row, String group, Tier tier) {
        return use(orNothing(row).groups(), group, tier);
    }

    public static GroupTierRow use(List<GroupRow> groups, String group, Tier tier) {
        for (GroupRow candidate : groups) {
            if (candidate.group().equals(group)) {
                for (GroupTierRow use : candidate.tiers()) {
                    if (use.tier() == tier) {
                        return use;
                    }
                }
            }
        }
        return new GroupTierRow(tier, 0, 0, false);
    }

    /** COPY operations in flight on a route; zeros when it has none. */
    public static RouteRow route(@Nullable SharesRow row, String group, Tier source, Tier target) {
        return route(orNothing(row).routes(), group, source, target);
    }

    public static RouteRow route(List<RouteRow> routes, String group, Tier source, Tier target) {
        for (RouteRow candidate : routes) {
            if (candidate.group().equals(group) && candidate.source() == source && candidate.target() == target) {
                return candidate;
            }
        }
        return new RouteRow(group, source, target, 0, 0);
    }
}
