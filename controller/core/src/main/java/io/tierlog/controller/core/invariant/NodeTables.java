/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.GroupTierRow;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NamespaceTierRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PromotionsRow;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/** All tables of one node. Slow and simple. Used for one check. */
final class NodeTables {
    private final Tables tables;
    private final String aggregate;
    private final NodeRow node;
    private final TableInvariants.Say say;
    private final Map<RowKey.Placement, PlacementRow> copies = new LinkedHashMap<>();
    private final List<OperationRow> inProgress = new ArrayList<>();
    private final Map<String, LeaseRow> leases = new LinkedHashMap<>();

    NodeTables(Tables tables, String aggregate, NodeRow node, TableInvariants.Say say) {
        this.tables = tables;
        this.aggregate = aggregate;
        this.node = node;
        this.say = say;
    }

    void check() {
        read();
        if (!node.alive()) {
            return;
        }
        node.tiers().forEach(this::counts);
        shares();
        new MigrationTables(tables, aggregate, node, say).check(inProgress);
        new PromotionTables(tables, aggregate, node, say).check(inProgress);
        children();
        holds();
        copies.forEach(new RowTables(tables, aggregate, node, say)::copy);
        requests();
        grants();
    }

    /** The peer read counts of a node are the sums over its peer read leases, and each of those has its pin lease. */
    private void grants() {
        long reads = 0;
        long blocks = 0;
        RowTables rows = new RowTables(tables, aggregate, node, say);
        Map<RowKey.Text, PeerReadLeaseRow> live = new LinkedHashMap<>();
        try (var scan = tables.range(Rows.GRANTS, new RowKey.Text(aggregate, ""), null)) {
            while (scan.next()) {
                if (scan.value().incarnation() == node.incarnation() && !scan.value().blocks().isEmpty()) {
                    live.put(scan.key(), scan.value());
                    reads++;
                    blocks += scan.value().blocks().size();
                }
            }
        }
        live.forEach(rows::grant);
        leases.forEach((id, lease) -> {
            if (lease.operation().isEmpty() && !live.containsKey(new RowKey.Text(aggregate, id))) {
                say.that(Invariant.I1, "lease " + id + " goes on, and its grant has ended");
            }
        });
        PromotionsRow recorded = node.promotions();
        same(Invariant.I12, reads, recorded == null ? 0 : recorded.reads(), () -> "reads of other nodes");
        same(Invariant.I12, blocks, recorded == null ? 0 : recorded.leasedBlocks(), () -> "blocks leased to other nodes");
    }

    /** Reads the node's rows; the eviction order also holds rows of ended incarnations, until they are cleaned up. */
    private void read() {
        Set<RowKey.Order> leaves = new LinkedHashSet<>();
        try (var scan = tables.range(Rows.PLACEMENTS, TableInvariants.firstCopy(aggregate), null)) {
            while (scan.next()) {
                RowKey.Placement key = scan.key();
                PlacementRow row = scan.value();
                if (TableInvariants.isCurrent(node, key.tier(), row)) {
                    copies.put(key, row);
                }
                if (TableInvariants.isOrdered(key.tier()) && isLeaf(row)) {
                    leaves.add(TableInvariants.orderOf(key, row, ""));
                    if (!row.group().isEmpty()) {
                        leaves.add(TableInvariants.orderOf(key, row, row.group()));
                    }
                }
            }
        }
        for (Tier tier : Tier.values()) {
            try (var scan = tables.range(Rows.ORDER, new RowKey.Order(aggregate, tier, 0, "", 0, 0, 0, TableInvariants.firstCopy("").namespace(),
                    Bytes.EMPTY), null)) {
                while (scan.next() && scan.key().tier() == tier) {
                    if (!leaves.remove(scan.key())) {
                        say.that(Invariant.I13, "the eviction order has " + scan.key() + ", which is not a leaf");
                    }
                }
            }
        }
        leaves.forEach(leaf -> say.that(Invariant.I13, "the eviction order lacks " + leaf));
        try (var scan = tables.range(Rows.OPERATIONS, new RowKey.Text(aggregate, ""), null)) {
            while (scan.next()) {
                OperationRow row = scan.value();
                if (isUnfinished(row) && row.incarnation() == node.incarnation()) {
                    inProgress.add(row);
                }
            }
        }
        try (var scan = tables.range(Rows.LEASES, new RowKey.Text(aggregate, ""), null)) {
            while (scan.next()) {
                if (scan.value().incarnation() == node.incarnation()) {
                    leases.put(scan.key().id(), scan.value());
                }
            }
        }
    }

    static boolean isLeaf(PlacementRow row) {
        return row.state() == PlacementState.SERVING && row.children() == 0 && row.holds() == 0;
    }

    /** Whether a copy in that state counts as a child of the one it extends. */
    static boolean isChild(PlacementState state) {
        return switch (state) {
            case WRITING, SERVING, COPYING, COPYING_KEEP -> true;
            case ABSENT, LEAVING, UNKNOWN -> false;
        };
    }

    static boolean isUnfinished(OperationRow row) {
        return row.state() == OperationState.ISSUED || row.state() == OperationState.OVERDUE;
    }

    private void counts(TierRow tier) {
        long used = 0;
        long leaving = 0;
        for (Map.Entry<RowKey.Placement, PlacementRow> copy : copies.entrySet()) {
            PlacementState state = copy.getValue().state();
            if (copy.getKey().tier() == tier.tier() && state != PlacementState.ABSENT) {
                used++;
                leaving += state == PlacementState.LEAVING || state == PlacementState.COPYING ? 1 : 0;
            }
        }
        same(Invariant.I4, used, tier.usedBlocks(), () -> "used blocks of " + tier);
        same(Invariant.I4, leaving, tier.leavingBlocks(), () -> "leaving blocks of " + tier);
        same(Invariant.I12, count(OperationKind.DROP, tier.tier()), tier.drops(), () -> "drops of " + tier);
        long copying = inProgress.stream().filter(o -> isLeaving(o) && o.from() == tier.tier()).count();
        same(Invariant.I12, copying, tier.copies(), () -> "copies of " + tier);
    }

    /** Whether it is a copy whose source is to leave. */
    private static boolean isLeaving(OperationRow operation) {
        MoveCause move = operation.move();
        boolean stays = move != null && move.retention() != Retention.DELETE_SOURCE;
        return operation.kind() == OperationKind.COPY && !stays && TableInvariants.isOrdered(operation.from());
    }

    /** The counts of groups and namespaces are the sums over their placements. */
    private void shares() {
        Map<String, long[]> groups = new TreeMap<>();
        Map<RowKey.Namespace, Map<Tier, Long>> namespaces = new LinkedHashMap<>();
        copies.forEach((key, row) -> {
            if (TableInvariants.isOrdered(key.tier()) && row.state() != PlacementState.ABSENT) {
                if (!row.group().isEmpty()) {
                    long[] use = groups.computeIfAbsent(row.group() + " on " + key.tier(), g -> new long[2]);
                    use[0]++;
                    use[1] += row.state() == PlacementState.LEAVING || row.state() == PlacementState.COPYING ? 1 : 0;
                }
                namespaces.computeIfAbsent(new RowKey.Namespace(aggregate, key.namespace()), n -> new EnumMap<>(Tier.class))
                        .merge(key.tier(), 1L, Long::sum);
            }
        });
        SharesRow row = node.shares();
        for (GroupRow group : row == null ? List.<GroupRow>of() : row.groups()) {
            for (GroupTierRow recorded : group.tiers()) {
                String what = group.group() + " on " + recorded.tier();
                long[] use = groups.remove(what);
                same(Invariant.I4, use == null ? 0 : use[0], recorded.usedBlocks(), () -> "used blocks of group " + what);
                same(Invariant.I4, use == null ? 0 : use[1], recorded.leavingBlocks(), () -> "leaving blocks of group " + what);
            }
        }
        groups.forEach((what, use) -> same(Invariant.I4, use[0], 0, () -> "used blocks of group " + what));
        namespaces.forEach((key, tiers) ->
                tiers.forEach((tier, used) -> same(Invariant.I4, used, recordedOf(key, tier), () -> "used blocks of " + key + " on " + tier)));
    }

    private long recordedOf(RowKey.Namespace key, Tier tier) {
        NamespaceRow row = tables.get(Rows.NAMESPACES, key);
        if (row == null || row.incarnation() != node.incarnation()) {
            return 0;
        }
        return row.tiers().stream().filter(t -> t.tier() == tier).mapToLong(NamespaceTierRow::usedBlocks).sum();
    }

    private long count(OperationKind kind, Tier from) {
        return inProgress.stream().filter(o -> o.kind() == kind && o.from() == from).count();
    }

    private void children() {
        Map<RowKey.Placement, Integer> children = new LinkedHashMap<>();
        copies.forEach((key, row) -> {
            if (isChild(row.state()) && TableInvariants.isOrdered(key.tier()) && !row.parent().isEmpty()) {
                children.merge(new RowKey.Placement(key.aggregate(), key.namespace(), key.tier(), row.parent()), 1, Integer::sum);
            }
        });
        copies.forEach((key, row) -> {
            Integer counted = children.remove(key);
            same(Invariant.I13, counted == null ? 0 : counted, row.children(), () -> "children of " + key);
        });
        children.forEach((key, counted) -> say.that(Invariant.I13, counted + " copies extend " + key + ", which has no row"));
    }

    private void holds() {
        Map<Bytes, Integer> holds = new LinkedHashMap<>();
        inProgress.stream().filter(o -> o.kind() == OperationKind.BACK_UP).forEach(o -> add(holds, o.blocks()));
        leases.values().stream().filter(l -> l.state() == LeaseState.HELD).forEach(l -> add(holds, l.deepest()));
        Map<Bytes, Integer> held = new LinkedHashMap<>();
        copies.forEach((key, row) -> {
            if (row.holds() != 0 && key.tier() != Tier.HOST) {
                say.that(Invariant.I1, "a copy on " + key.tier() + " is held: " + key);
            } else if (row.holds() != 0) {
                held.merge(key.block(), row.holds(), Integer::sum);
            }
        });
        held.forEach((block, count) -> {
            Integer counted = holds.remove(block);
            same(Invariant.I1, counted == null ? 0 : counted, count, () -> "holds of block " + block);
        });
        holds.forEach((block, counted) -> say.that(Invariant.I1, "block " + block + " is to be held " + counted + " times and is not"));
    }

    private static void add(Map<Bytes, Integer> holds, List<Block> blocks) {
        blocks.forEach(block -> holds.merge(block.key(), 1, Integer::sum));
    }

    /** A request in progress may have a lease of its own; no lease of another request is open. */
    private void requests() {
        Map<String, LeaseRow> owned = new LinkedHashMap<>();
        try (var scan = tables.range(Rows.REQUESTS, new RowKey.Text(aggregate, ""), null)) {
            while (scan.next()) {
                RequestRow row = scan.value();
                String id = row.lease();
                LeaseRow lease = id == null ? null : leases.get(id);
                if (id != null && row.incarnation() == node.incarnation()) {
                    if (lease == null || !lease.request().equals(scan.key().id()) || lease.attempt() != row.attempt()) {
                        say.that(Invariant.I5, "request " + scan.key().id() + " has lease " + id + ", which is not its own");
                    } else {
                        owned.put(id, lease);
                    }
                }
            }
        }
        leases.forEach((id, lease) -> {
            if (!lease.request().isEmpty() && !owned.containsKey(id)) {
                say.that(Invariant.I5, "lease " + id + " goes on, and " + lease.request() + " does not have it");
            }
        });
    }

    private void same(Invariant invariant, long counted, long recorded, Supplier<String> what) {
        if (counted != recorded) {
            say.that(invariant, what.get() + ": recorded " + recorded + ", counted " + counted);
        }
    }
}
