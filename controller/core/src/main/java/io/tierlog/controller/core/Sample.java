/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The coldest blocks of a tier, chosen for an operator: leaves in the order of leaving, and above each leaf what only it keeps there. To look is no
 * use, so nothing changes by it. Reads as many rows as it names blocks, twice at most.
 *
 * @param oldEnough those that were not used for so long, coldest first, the deeper before those they extend
 * @param tooYoung those met that were used since
 */
record Sample(List<BlockName> oldEnough, List<BlockName> tooYoung) {
    static Sample take(NodeDraft n, Tier tier, SampleRule rule) {
        Sample sample = new Sample(new ArrayList<>(), new ArrayList<>());
        Map<RowKey.Copy, Integer> childrenTaken = new LinkedHashMap<>();
        long incarnation = n.row().incarnation();
        try (Scan<RowKey.Order, EntryRow> scan = n.d.tables.range(Rows.ORDER,
                RowKey.Order.first(n.aggregate, tier, incarnation, rule.group(), 0),
                RowKey.Order.first(n.aggregate, tier, incarnation, rule.group(), RowKey.Order.END))) {
            while (n.row().alive() && sample.size() < rule.count() && scan.next()) {
                sample.climb(n, new RowKey.Copy(n.aggregate, scan.key().namespace(), tier, scan.key().block()), rule, childrenTaken);
            }
        }
        return sample;
    }

    private int size() {
        return oldEnough.size() + tooYoung.size();
    }

    /** Takes a leaf, and goes on with its parent when nothing else extends that. */
    private void climb(NodeDraft n, RowKey.Copy leaf, SampleRule rule, Map<RowKey.Copy, Integer> childrenTaken) {
        RowKey.@Nullable Copy at = leaf;
        while (at != null && size() < rule.count()) {
            PlacementRow row = n.copy(at.namespace(), at.tier(), at.block());
            boolean free = row != null && row.state() == CopyState.SERVING && row.holds() == 0
                    && row.children() == childrenTaken.getOrDefault(at, 0) && (rule.group().isEmpty() || rule.group().equals(row.group()));
            if (row == null || !free) {
                return;
            }
            BlockName name = new BlockName(n.d.namespace(n.aggregate, at.namespace()), at.block());
            if (n.d.clock().logTimeMs() - row.usedMs() < rule.minAgeMs()) {
                tooYoung.add(name);
                return;
            }
            oldEnough.add(name);
            Bytes parent = row.parent();
            at = parent.isEmpty() ? null : new RowKey.Copy(n.aggregate, at.namespace(), at.tier(), parent);
            if (at != null) {
                childrenTaken.merge(at, 1, Integer::sum);
            }
        }
    }
}
