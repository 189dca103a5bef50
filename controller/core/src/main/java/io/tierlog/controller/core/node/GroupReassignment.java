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
 * Moves the placements of a node into the groups that a new policy has for their namespaces, step by step: each step reads no more rows than the
 * budget and records its position. Until then, a placement counts for its old group. Without state.
 */
public final class GroupReassignment {
    private GroupReassignment() {}

    /** Runs the next step, if there is one; returns the number of rows it has read. */
    public static int decide(NodeContext n, int budget) {
        SharesRow shares = ShareRows.orNothing(n.row().shares());
        boolean changes = !Policies.migration(n.policy()).groups().isEmpty() || !shares.groups().isEmpty() || Policies.takesCredit(n.policy());
        if (!n.row().alive() || budget <= 0 || !changes || shares.groupsVersion() == n.clock().policyVersion()) {
            return 0;
        }
        // A policy that came during the reassignment of another one starts the reassignment again.
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
