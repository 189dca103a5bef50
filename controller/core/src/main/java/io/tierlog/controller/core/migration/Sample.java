/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.RecordBytes;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The coldest blocks of a tier, chosen for an operator: leaves in the eviction order, and above each leaf the blocks that only it keeps there. A
 * sample is not a use and changes nothing. Blocks that are recorded elsewhere too leave first, however young they are: so each class of the order
 * is scanned, and blocks that are too young take no place of old ones. Long names make it shorter, so that they fit in one record. Reads at
 * most four rows for each block that the rule asks for, and a few more.
 *
 * @param oldEnough those unused for at least the required time, coldest first, the deeper before those they extend
 * @param tooYoung those met that were used since, at most as many as the rule's count lacks
 */
public record Sample(List<BlockName> oldEnough, List<BlockName> tooYoung) {
    /** A migration of as many nodes as it may have takes at most so many blocks of each. */
    private static final int LEAST_SHARE = MigrationLimits.DEFAULTS.names() / MigrationLimits.DEFAULTS.nodes();

    static Sample take(NodeContext n, Tier tier, SampleRule rule) {
        Sample sample = new Sample(new ArrayList<>(), new ArrayList<>());
        Map<RowKey.Placement, Integer> childrenTaken = new LinkedHashMap<>();
        for (int kept = 0; kept < RowKey.Order.END && n.row().alive(); kept++) {
            sample.takeClass(n, tier, rule, kept, childrenTaken);
        }
        int missing = rule.count() - sample.oldEnough.size();
        Sample taken = new Sample(sample.oldEnough, sample.tooYoung.subList(0, Math.min(missing, sample.tooYoung.size())));
        return n.clock().coreVersion() <= CoreVersion.UNBOUNDED_NAMES ? taken : taken.within(n.clock(), rule);
    }

    /** Without the last blocks when the names are too long for a record; one block always fits. */
    private Sample within(ClockRow clock, SampleRule rule) {
        long most = (long) MigrationLimits.DEFAULTS.sampleBytes() * Math.max(rule.count(), LEAST_SHARE);
        List<BlockName> all = new ArrayList<>(oldEnough);
        all.addAll(tooYoung);
        int fit = RecordBytes.fitting(all, most, block -> MigrationOrders.nameBytes(clock, block));
        int old = Math.min(fit, oldEnough.size());
        return new Sample(oldEnough.subList(0, old), tooYoung.subList(0, fit - old));
    }

    /** Takes leaves of one class of the order, until there are enough or all that follow are too young. */
    private void takeClass(NodeContext n, Tier tier, SampleRule rule, int kept, Map<RowKey.Placement, Integer> childrenTaken) {
        long incarnation = n.row().incarnation();
        try (Scan<RowKey.Order, EntryRow> scan = n.tables().range(Rows.ORDER,
                RowKey.Order.first(n.aggregate(), tier, incarnation, rule.group(), kept),
                RowKey.Order.first(n.aggregate(), tier, incarnation, rule.group(), kept + 1))) {
            boolean more = true;
            while (more && oldEnough.size() < rule.count() && scan.next()) {
                RowKey.Placement leaf = new RowKey.Placement(n.aggregate(), scan.key().namespace(), tier, scan.key().block());
                // Behind a leaf that is too young all are, but for what earned credit: they are named up to the rule's count.
                more = climb(n, leaf, rule, childrenTaken) || tooYoung.size() < rule.count();
            }
        }
    }

    /** Adds a leaf, and continues with its parent when no other block extends the parent; returns whether the leaf was old enough. */
    private boolean climb(NodeContext n, RowKey.Placement leaf, SampleRule rule, Map<RowKey.Placement, Integer> childrenTaken) {
        RowKey.@Nullable Placement at = leaf;
        while (at != null && oldEnough.size() < rule.count()) {
            PlacementRow row = n.placement(at.namespace(), at.tier(), at.block());
            boolean free = row != null && row.state() == PlacementState.SERVING && row.holds() == 0
                    && row.children() == childrenTaken.getOrDefault(at, 0) && (rule.group().isEmpty() || rule.group().equals(row.group()));
            if (row == null || !free) {
                return true;
            }
            BlockName name = new BlockName(n.namespace(at.namespace()), at.block());
            if (n.clock().logTimeMs() - row.usedMs() < rule.minAgeMs()) {
                tooYoung.add(name);
                return !at.equals(leaf);
            }
            oldEnough.add(name);
            Bytes parent = row.parent();
            at = parent.isEmpty() ? null : new RowKey.Placement(n.aggregate(), at.namespace(), at.tier(), parent);
            if (at != null) {
                childrenTaken.merge(at, 1, Integer::sum);
            }
        }
        return true;
    }
}
