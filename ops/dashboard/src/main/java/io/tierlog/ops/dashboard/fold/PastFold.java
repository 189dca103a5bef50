/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.events.Partitions;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.dashboard.model.DrainRow;
import io.tierlog.ops.dashboard.model.MigrationRow;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.OperationRow;
import io.tierlog.ops.dashboard.model.RequestRow;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A partition of the controller's tables at a moment as a fold, so that the same pages show it. It has what the tables have: nodes, operations in
 * flight, active attempts, migrations, drains and the policy; nothing of what was before the moment. Without state.
 */
public final class PastFold {
    private PastFold() {}

    /** The fold of one partition. */
    public static PartitionFold of(FoldLimits limits, LogState.Partition partition) {
        HeapTables tables = partition.tables();
        ClockRow clock = tables.get(Rows.CLOCK, new RowKey.Aggregate(Partitions.clock(partition.at().partition())));
        Policy policy = clock == null ? Policies.INITIAL : clock.policy();
        PartitionFold fold = new PartitionFold(limits);
        fold.restoreTime(partition.at().timeMs());
        if (clock != null && clock.policyVersion() > 0) {
            fold.restorePolicy(clock.policyVersion(), policy);
        }
        Map<String, Map<Tier, Held>> held = held(tables);
        tables.rows(Rows.NODES).forEach((key, row) -> {
            fold.restore(node(key.aggregate(), row, held.getOrDefault(key.aggregate(), Map.of())));
            SharesRow shares = ShareRows.orNothing(row.shares());
            if (shares.draining() || !shares.drainingInstances().isEmpty()) {
                fold.restore(new DrainRow(PartitionFold.name(key.aggregate()), shares.draining(), shares.drainingInstances(), 0, shares.drainPass(),
                        shares.drainSaving(), shares.drainLeft(), shares.drained() ? partition.at().timeMs() : 0));
            }
        });
        tables.rows(Rows.OPERATIONS).forEach((key, row) -> {
            if (row.state() == OperationState.ISSUED || row.state() == OperationState.OVERDUE) {
                fold.restore(new OperationRow(key.id(), PartitionFold.name(key.aggregate()), row.kind(), row.from(), row.to(), row.namespace(),
                        Optional.ofNullable(row.request()).orElse(""), row.blockCount(), row.deadlineMs() - policy.operationTimeoutMs(), 0,
                        row.state() == OperationState.OVERDUE ? row.deadlineMs() : 0, 0, "", 0));
            }
        });
        tables.rows(Rows.REQUESTS).forEach((key, row) -> {
            if (isActive(row.state())) {
                fold.restore(new RequestRow(PartitionFold.name(key.aggregate()), key.id(), row.attempt(), row.namespace(), row.state().name(), "", 0,
                        true, false, 0, 0, 0, 0, HitCounts.NONE));
            }
        });
        tables.rows(Rows.MIGRATIONS).forEach((key, row) -> fold.restore(migration(OperatorFold.id(key.aggregate()), row)));
        return fold;
    }

    private static boolean isActive(RequestState state) {
        return switch (state) {
            case FINISHED, CANCELLED, REJECTED -> false;
            case UNKNOWN, SUBMITTED, PREFETCHING, PREFETCH_DONE, PREFILLING, DECODING -> true;
        };
    }

    /** Blocks of a tier by what becomes of them, and how many of them are pinned. */
    private static final class Held {
        private final Map<PlacementState, Long> states = new EnumMap<>(PlacementState.class);
        private long pinned;

        private long of(PlacementState state) {
            return states.getOrDefault(state, 0L);
        }
    }

    private static Map<String, Map<Tier, Held>> held(HeapTables tables) {
        Map<String, Map<Tier, Held>> all = new HashMap<>();
        tables.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            io.tierlog.schemas.state.NodeRow node = tables.get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
            if (node != null && row.state() != PlacementState.ABSENT && NodeRows.isCurrent(node, key.tier(), row)) {
                Held held = all.computeIfAbsent(key.aggregate(), aggregate -> new EnumMap<>(Tier.class))
                        .computeIfAbsent(key.tier(), tier -> new Held());
                held.states.merge(row.state(), 1L, Long::sum);
                held.pinned += row.holds() > 0 ? 1 : 0;
            }
        });
        return all;
    }

    private static NodeRow node(String aggregate, io.tierlog.schemas.state.NodeRow row, Map<Tier, Held> held) {
        Map<Tier, NodeRow.TierRow> tiers = new TreeMap<>();
        for (TierRow tier : row.tiers()) {
            Held has = held.getOrDefault(tier.tier(), new Held());
            long writing = has.of(PlacementState.WRITING);
            long leaving = has.of(PlacementState.LEAVING) + has.of(PlacementState.COPYING);
            long serving = has.of(PlacementState.SERVING) + has.of(PlacementState.COPYING_KEEP);
            long free = Math.max(0, tier.capacityBlocks() - writing - leaving - serving);
            tiers.put(tier.tier(), new NodeRow.TierRow(tier.capacityBlocks(), tier.blockBytes(), free, serving, writing, leaving, 0, has.pinned, 0));
        }
        Set<String> engines = row.engines().stream().map(engine -> engine.instance()).collect(Collectors.toCollection(TreeSet::new));
        return new NodeRow(PartitionFold.name(aggregate), row.incarnation(), row.alive() ? NodeRow.UP : NodeRow.LOST, row.foreign(), 0, 0, 0, 0,
                engines, tiers, 0);
    }

    private static MigrationRow migration(String id, io.tierlog.schemas.state.MigrationRow row) {
        Map<String, MigrationRow.Part> parts = new TreeMap<>();
        row.parts().forEach(part -> parts.put(part.node(), OperatorFold.part(MigrationRow.UNANSWERED, part.answer(), part.progress())));
        return OperatorFold.row(id, row.state().name(), row.order(), row.askedMs(), row.endedMs(), parts);
    }

    /** The folds of all partitions of a state, by partition. */
    public static Map<Integer, PartitionFold> all(FoldLimits limits, List<LogState.Partition> partitions) {
        Map<Integer, PartitionFold> folds = new TreeMap<>();
        partitions.forEach(each -> folds.put(each.at().partition(), of(limits, each)));
        return folds;
    }
}
