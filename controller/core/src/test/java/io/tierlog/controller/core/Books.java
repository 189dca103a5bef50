/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.TierRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks what the tables say twice: counts against rows, the order of leaving against the leaves. Slow and obvious. */
final class Books {
    private Books() {}

    static void check(HeapTables tables) {
        tables.rows(Rows.NODES).forEach((key, node) -> node(tables, key.aggregate(), node));
        Set<RowKey.Order> leaves = tables.rows(Rows.PLACEMENTS).entrySet().stream()
                .filter(e -> Copies.isOrdered(e.getKey().tier()) && Copies.isLeaf(e.getValue()))
                .map(e -> Copies.orderOf(e.getKey(), e.getValue()))
                .collect(Collectors.toSet());
        assertEquals(leaves, tables.rows(Rows.ORDER).keySet(), "the order of leaving holds the leaves");
    }

    private static void node(HeapTables tables, String aggregate, NodeRow node) {
        if (!node.alive()) {
            return;
        }
        Map<RowKey.Copy, PlacementRow> copies = tables.rows(Rows.PLACEMENTS).entrySet().stream()
                .filter(e -> e.getKey().aggregate().equals(aggregate) && Evolve.isCurrent(node, e.getKey().tier(), e.getValue()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        for (TierRow tier : node.tiers()) {
            assertEquals(count(copies, tier.tier(), false), tier.usedBlocks(), () -> "used of " + tier);
            assertEquals(count(copies, tier.tier(), true), tier.leavingBlocks(), () -> "leaving of " + tier);
            assertEquals(inFlight(tables, aggregate, node, OperationKind.DROP, tier.tier()), tier.drops(), () -> "drops of " + tier);
            assertEquals(inFlight(tables, aggregate, node, OperationKind.COPY, tier.tier()), tier.copies(), () -> "copies of " + tier);
        }
        assertEquals(children(copies), copies.entrySet().stream().filter(e -> e.getValue().children() > 0)
                .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().children())), "children");
        boolean lowerHolds = copies.entrySet().stream().anyMatch(e -> e.getValue().holds() > 0 && e.getKey().tier() != Tier.HOST);
        assertEquals(false, lowerHolds, "only the host is held");
        assertEquals(holds(tables, aggregate, node), copies.entrySet().stream().filter(e -> e.getValue().holds() > 0)
                .collect(Collectors.toMap(e -> e.getKey().block(), e -> e.getValue().holds())), "holds");
        copies.forEach((key, row) -> {
            boolean moving = row.state() != CopyState.ABSENT && row.state() != CopyState.SERVING;
            assertEquals(moving, row.operation() != null, () -> "operation of " + key + ": " + row);
            assertEquals(true, row.state() != CopyState.COPYING || key.tier() == Tier.HOST, () -> "copied from " + key);
            assertEquals(true, !row.refused() || key.tier() == Tier.HOST, () -> "refused by what is below " + key);
            assertEquals(false, row.state() == CopyState.ABSENT && row.children() == 0 && row.holds() == 0, () -> "needless " + key);
        });
    }

    private static long count(Map<RowKey.Copy, PlacementRow> copies, Tier tier, boolean leaving) {
        return copies.entrySet().stream()
                .filter(e -> e.getKey().tier() == tier && e.getValue().state() != CopyState.ABSENT)
                .filter(e -> !leaving || e.getValue().state() == CopyState.LEAVING || e.getValue().state() == CopyState.COPYING)
                .count();
    }

    private static Map<RowKey.Copy, Integer> children(Map<RowKey.Copy, PlacementRow> copies) {
        Map<RowKey.Copy, Integer> children = new HashMap<>();
        copies.forEach((key, row) -> {
            boolean child = row.state() == CopyState.WRITING || Copies.isServed(row.state());
            if (child && Copies.isOrdered(key.tier()) && !row.parent().isEmpty()) {
                children.merge(new RowKey.Copy(key.aggregate(), key.namespace(), key.tier(), row.parent()), 1, Integer::sum);
            }
        });
        return children;
    }

    private static Map<Bytes, Integer> holds(HeapTables tables, String aggregate, NodeRow node) {
        Map<Bytes, Integer> holds = new TreeMap<>();
        unfinished(tables, aggregate, node).filter(o -> o.kind() == OperationKind.BACK_UP).forEach(o -> add(holds, o.blocks()));
        tables.rows(Rows.LEASES).forEach((key, lease) -> {
            if (key.aggregate().equals(aggregate) && counts(lease, node)) {
                add(holds, lease.deepest());
            }
        });
        return holds;
    }

    private static boolean counts(LeaseRow lease, NodeRow node) {
        return lease.state() == LeaseState.HELD && lease.incarnation() == node.incarnation();
    }

    private static void add(Map<Bytes, Integer> holds, List<Block> blocks) {
        blocks.forEach(block -> holds.merge(block.key(), 1, Integer::sum));
    }

    private static long inFlight(HeapTables tables, String aggregate, NodeRow node, OperationKind kind, Tier from) {
        return unfinished(tables, aggregate, node).filter(o -> o.kind() == kind && o.from() == from).count();
    }

    private static Stream<OperationRow> unfinished(HeapTables tables, String aggregate, NodeRow node) {
        return tables.rows(Rows.OPERATIONS).entrySet().stream()
                .filter(e -> e.getKey().aggregate().equals(aggregate))
                .map(Map.Entry::getValue)
                .filter(o -> EvolveOperations.isUnfinished(o.state()) && o.incarnation() == node.incarnation());
    }
}
