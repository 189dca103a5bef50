/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.GroupsAdvanced;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Facts about the groups that copies count for. Without state. */
final class EvolveGroups {
    private EvolveGroups() {}

    /** Copies of one namespace on one tier. */
    private record Kind(Bytes namespace, Tier tier) {}

    static void advanced(Tables t, GroupsAdvanced fact) {
        NodeRow node = Evolve.node(t, fact);
        Policy policy = Evolve.policy(t, fact);
        for (Map.Entry<Kind, List<Block>> entry : copies(t, fact, node).entrySet()) {
            Kind kind = entry.getKey();
            NamespaceRow text = t.get(Rows.NAMESPACES, new RowKey.Namespace(fact.envelope().aggregate(), kind.namespace()));
            if (text == null) {
                throw new IllegalHistory("No text of namespace " + kind.namespace() + " on " + fact.envelope().aggregate());
            }
            String group = Groups.of(policy, text.namespace());
            PlacementWriter copies = EvolvePlacements.open(t, fact, kind.tier(), text.namespace());
            entry.getValue().forEach(block -> copies.regroup(block, group));
            EvolvePlacements.close(t, fact, kind.tier(), copies);
        }
        NodeState state = NodeState.of(Evolve.node(t, fact));
        state.shares.groupsGoal = fact.policyVersion();
        state.shares.groupsCursor = fact.cursor();
        if (fact.cursor().isEmpty()) {
            state.shares.regrouped(fact.policyVersion());
        }
        t.put(Rows.NODES, Evolve.key(fact), state.toRow());
    }

    /** The copies of the node's current incarnation that the step is about. */
    private static Map<Kind, List<Block>> copies(Tables t, GroupsAdvanced fact, NodeRow node) {
        String aggregate = fact.envelope().aggregate();
        RowKey.Placement end = fact.cursor().isEmpty() ? null : PlacementRows.from(aggregate, fact.cursor());
        Map<Kind, List<Block>> found = new LinkedHashMap<>();
        try (Scan<RowKey.Placement, PlacementRow> scan = t.range(Rows.PLACEMENTS, PlacementRows.from(aggregate, fact.from()), end)) {
            while (scan.next()) {
                RowKey.Placement key = scan.key();
                PlacementRow row = scan.value();
                if (PlacementRows.isOrdered(key.tier()) && NodeRows.isCurrent(node, key.tier(), row) && row.state() != PlacementState.ABSENT) {
                    found.computeIfAbsent(new Kind(key.namespace(), key.tier()), k -> new ArrayList<>())
                            .add(new Block(row.index(), key.block(), row.parent()));
                }
            }
        }
        return found;
    }
}
