/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.SharesRow;

/**
 * Puts the copies of a node into the groups that a new policy has for their namespaces, step by step: each looks at no more rows than the budget
 * and says how far it came. Until its turn has come, a copy counts for the group that it was in. Without state.
 */
public final class GroupReassignment {
    private GroupReassignment() {}

    /** Takes the next step, if there is one; answers with the number of rows it has looked at. */
    public static int decide(NodeContext n, int budget) {
        SharesRow shares = ShareRows.orNothing(n.row().shares());
        boolean grouped = !Policies.migration(n.policy()).groups().isEmpty() || !shares.groups().isEmpty();
        if (!n.row().alive() || budget <= 0 || !grouped || shares.groupsVersion() == n.clock().policyVersion()) {
            return 0;
        }
        // A policy that came while copies were put into the groups of another begins anew.
        Bytes from = shares.groupsGoal() == n.clock().policyVersion() ? shares.groupsCursor() : Bytes.EMPTY;
        Bytes next = Bytes.EMPTY;
        int seen = 0;
        try (Scan<RowKey.Placement, PlacementRow> scan = n.tables().range(Rows.PLACEMENTS, PlacementRows.from(n.aggregate(), from), null)) {
            while (scan.next()) {
                if (seen == budget) {
                    next = Bytes.wrapUnshared(Rows.PLACEMENTS.encodeKey(new KeyWriter(), scan.key()));
                    break;
                }
                seen++;
            }
        }
        n.fact(new GroupsAdvanced(n.envelope(), n.clock().policyVersion(), from, next));
        n.evolve();
        return seen;
    }


}
