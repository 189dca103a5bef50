/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.SharesRow;

/**
 * Puts the copies of a node into the groups that a new policy has for their namespaces, step by step: each looks at no more rows than the budget
 * and says how far it came. Until its turn has come, a copy counts for the group that it was in. Without state.
 */
final class Regrouping {
    private Regrouping() {}

    /** Takes the next step, if there is one; answers with the number of rows it has looked at. */
    static int decide(NodeDraft n, int budget) {
        SharesRow shares = Shares.orNothing(n.row().shares());
        boolean grouped = !Policies.migration(n.d.policy()).groups().isEmpty() || !shares.groups().isEmpty();
        if (!n.row().alive() || budget <= 0 || !grouped || shares.groupsVersion() == n.d.clock().policyVersion()) {
            return 0;
        }
        // A policy that came while copies were put into the groups of another begins anew.
        Bytes from = shares.groupsGoal() == n.d.clock().policyVersion() ? shares.groupsCursor() : Bytes.EMPTY;
        Bytes next = Bytes.EMPTY;
        int seen = 0;
        try (Scan<RowKey.Copy, PlacementRow> scan = n.d.tables.range(Rows.PLACEMENTS, first(n.aggregate, from), null)) {
            while (scan.next()) {
                if (seen == budget) {
                    next = Bytes.wrapUnshared(Rows.PLACEMENTS.encodeKey(new KeyWriter(), scan.key()));
                    break;
                }
                seen++;
            }
        }
        n.fact(new GroupsAdvanced(n.envelope(), n.d.clock().policyVersion(), from, next));
        n.d.evolve();
        return seen;
    }

    /** The copy that a step begins with. */
    static RowKey.Copy first(String aggregate, Bytes cursor) {
        return cursor.isEmpty()
                ? new RowKey.Copy(aggregate, Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY)
                : Rows.PLACEMENTS.decodeKey(cursor.unshared());
    }
}
