/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.DeletionRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.ShardRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares what the tables of a partition store twice: counts with rows (I4, I12), holds with leases and backups (I1), requests with their leases
 * (I5), children with parents and the eviction order with the leaves (I13).
 *
 * <p>{@link #check} checks everything; {@link #sample} checks a bounded number of rows at a time, in rotation, each with its neighbours;
 * {@link #row} checks one row. All of them read through ranges and gets, so they work on any {@link Tables}, and write nothing. Without state.
 */
public final class TableInvariants {
    private static final Bytes LOWEST_DIGEST = Bytes.wrapUnshared(new byte[Namespaces.DIGEST_BYTES]);

    private TableInvariants() {}

    /** All violations in the tables of {@code partition}. Memory: the placements of one node, or of one shard of the store, at a time. */
    public static List<Violation> check(Tables tables, int partition) {
        List<Violation> found = new ArrayList<>();
        for (String aggregate : nodes(tables, partition)) {
            NodeRow node = tables.get(Rows.NODES, new RowKey.Aggregate(aggregate));
            if (node == null) {
                found.add(new Violation(Invariant.I13, Violation.STATE, partition, -1, aggregate + " is a member and has no row"));
            } else {
                new NodeTables(tables, aggregate, node, say(found, partition, aggregate)).check();
            }
        }
        List<String> shards = new ArrayList<>();
        try (var scan = tables.range(Rows.SHARDS, new RowKey.Text("clock/" + partition, ""), null)) {
            while (scan.next()) {
                shards.add(scan.key().id());
            }
        }
        for (String aggregate : shards) {
            ShardRow shard = tables.get(Rows.SHARDS, new RowKey.Text("clock/" + partition, aggregate));
            if (shard != null) {
                new ShardTables(tables, aggregate, shard, say(found, partition, aggregate)).check();
            }
        }
        return found;
    }

    /**
     * Checks one row and its neighbours; returns nothing when the row is absent. A caller that checks each row that an input has touched finds at
     * once what {@link #check} finds later by counting, as far as single rows show it.
     *
     * @param table of the row
     * @param key of the row, one of that table's
     */
    public static List<Violation> row(Tables tables, int partition, Table<?, ?> table, RowKey<?> key) {
        NodeRow node = tables.get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
        if (node == null) {
            return List.of();
        }
        List<Violation> found = new ArrayList<>(0);
        RowTables rows = new RowTables(tables, key.aggregate(), node, say(found, partition, key.aggregate()));
        switch (key) {
            case RowKey.Aggregate _ -> {
                rows.node();
                boolean member = tables.get(Rows.MEMBERS, new RowKey.Text("clock/" + partition, key.aggregate())) != null;
                if (member != (node.alive() || node.sweep() != null)) {
                    found.add(new Violation(Invariant.I13, Violation.STATE, partition, -1, key.aggregate()
                            + (member ? " is a member and has ended" : " is no member, and it lives or is cleaned up")));
                }
            }
            case RowKey.Placement copy -> visit(tables, Rows.PLACEMENTS, copy, rows::copy);
            case RowKey.Order order -> visit(tables, Rows.ORDER, order, (place, _) -> rows.order(place));
            case RowKey.Text text when table == Rows.OPERATIONS -> visit(tables, Rows.OPERATIONS, text, rows::operation);
            case RowKey.Text text when table == Rows.LEASES -> visit(tables, Rows.LEASES, text, rows::lease);
            case RowKey.Text text when table == Rows.GRANTS -> visit(tables, Rows.GRANTS, text, rows::grant);
            case RowKey.Text text when table == Rows.REQUESTS -> visit(tables, Rows.REQUESTS, text, rows::request);
            default -> {}
        }
        return found;
    }

    private static <K extends RowKey<K>, V extends WireRecord> void visit(Tables tables, Table<K, V> table, K key, BiConsumer<K, V> visit) {
        V row = tables.get(table, key);
        if (row != null) {
            visit.accept(key, row);
        }
    }

    /** Where a sample continues. */
    public sealed interface Cursor {
        /** At the first row of the first node. */
        Cursor START = new AtNode("");

        /** At the first row of the first node after that one. */
        record AtNode(String after) implements Cursor {}

        /** At that copy of a node. */
        record AtCopy(RowKey.Placement key) implements Cursor {}

        /** At that operation of a node. */
        record AtOperation(RowKey.Text key) implements Cursor {}

        /** At that lease of a node. */
        record AtLease(RowKey.Text key) implements Cursor {}
    }

    /**
     * A sample.
     *
     * @param next where the next sample continues
     * @param rows rows checked, not counting their neighbours
     * @param violations the violations found
     */
    public record Sample(Cursor next, int rows, List<Violation> violations) {}

    /**
     * Checks up to {@code limit} rows from {@code cursor} on, of one node: its counts, its placements, its operations, its leases; then the next
     * node. For each row it reads at most four others.
     *
     * @param limit rows, 1 or more
     */
    public static Sample sample(Tables tables, int partition, Cursor cursor, int limit) {
        String aggregate = switch (cursor) {
            case Cursor.AtNode at -> nextNode(tables, partition, at.after());
            case Cursor.AtCopy at -> at.key().aggregate();
            case Cursor.AtOperation at -> at.key().aggregate();
            case Cursor.AtLease at -> at.key().aggregate();
        };
        NodeRow node = aggregate == null ? null : tables.get(Rows.NODES, new RowKey.Aggregate(aggregate));
        if (aggregate == null || node == null) {
            return new Sample(Cursor.START, 0, List.of());
        }
        List<Violation> found = new ArrayList<>();
        RowTables rows = new RowTables(tables, aggregate, node, say(found, partition, aggregate));
        Walk walk = new Walk(tables, limit);
        Cursor next = switch (cursor) {
            case Cursor.AtNode _ -> {
                rows.node();
                yield copies(walk, rows, firstCopy(aggregate));
            }
            case Cursor.AtCopy at -> copies(walk, rows, at.key());
            case Cursor.AtOperation at -> operations(walk, rows, at.key());
            case Cursor.AtLease at -> leases(walk, rows, at.key());
        };
        return new Sample(next, walk.seen, found);
    }

    private static Cursor copies(Walk walk, RowTables rows, RowKey.Placement from) {
        RowKey.Placement stop = walk.through(Rows.PLACEMENTS, from, rows::copy);
        return stop == null ? operations(walk, rows, new RowKey.Text(from.aggregate(), "")) : new Cursor.AtCopy(stop);
    }

    private static Cursor operations(Walk walk, RowTables rows, RowKey.Text from) {
        RowKey.Text stop = walk.through(Rows.OPERATIONS, from, rows::operation);
        return stop == null ? leases(walk, rows, new RowKey.Text(from.aggregate(), "")) : new Cursor.AtOperation(stop);
    }

    private static Cursor leases(Walk walk, RowTables rows, RowKey.Text from) {
        RowKey.Text stop = walk.through(Rows.LEASES, from, rows::lease);
        return stop == null ? new Cursor.AtNode(from.aggregate()) : new Cursor.AtLease(stop);
    }

    /** A bounded walk. The rows of a piece are collected first, because their neighbours are read while no scan is open. */
    private static final class Walk {
        private final Tables tables;
        private final int limit;
        private int seen;

        Walk(Tables tables, int limit) {
            this.tables = tables;
            this.limit = limit;
        }

        /** Visits rows from {@code from} on; returns the key to continue with, or null when the table of that aggregate has no more. */
        <K extends RowKey<K>, V extends WireRecord> @Nullable K through(Table<K, V> table, K from, BiConsumer<K, V> visit) {
            List<K> keys = new ArrayList<>();
            List<V> values = new ArrayList<>();
            K stop = null;
            try (Scan<K, V> scan = tables.range(table, from, null)) {
                while (stop == null && scan.next()) {
                    if (seen == limit) {
                        stop = scan.key();
                    } else {
                        seen++;
                        keys.add(scan.key());
                        values.add(scan.value());
                    }
                }
            }
            for (int i = 0; i < keys.size(); i++) {
                visit.accept(keys.get(i), values.get(i));
            }
            return stop;
        }
    }

    /** Receives each violation that is found on a node. */
    interface Say {
        void that(Invariant invariant, String detail);
    }

    private static Say say(List<Violation> found, int partition, String aggregate) {
        return (invariant, detail) -> found.add(new Violation(invariant, Violation.STATE, partition, -1, aggregate + ": " + detail));
    }

    private static List<String> nodes(Tables tables, int partition) {
        List<String> nodes = new ArrayList<>();
        try (var scan = tables.range(Rows.MEMBERS, new RowKey.Text("clock/" + partition, ""), null)) {
            while (scan.next()) {
                nodes.add(scan.key().id());
            }
        }
        return nodes;
    }

    private static @Nullable String nextNode(Tables tables, int partition, String after) {
        try (var scan = tables.range(Rows.MEMBERS, new RowKey.Text("clock/" + partition, after), null)) {
            while (scan.next()) {
                if (!scan.key().id().equals(after)) {
                    return scan.key().id();
                }
            }
        }
        return null;
    }

    /** Whether a copy belongs to the node's current incarnation and, on the device, to its present engines. */
    static boolean isCurrent(NodeRow node, Tier tier, PlacementRow copy) {
        return node.alive() && copy.incarnation() == node.incarnation() && (tier != Tier.DEVICE || copy.epoch() == node.engineEpoch());
    }

    /** Whether the controller decides what leaves the tier. */
    static boolean isOrdered(Tier tier) {
        return tier == Tier.HOST || tier == Tier.DISK;
    }

    static RowKey.Placement firstCopy(String aggregate) {
        return new RowKey.Placement(aggregate, LOWEST_DIGEST, Tier.UNKNOWN, Bytes.EMPTY);
    }

    /** The place in the eviction order: what the store has first, what the tier below refused last; then cold before hot, deep before high. */
    static RowKey.Order orderOf(RowKey.Placement key, PlacementRow row, String group) {
        int kept = row.stored() ? 0 : row.refused() ? 2 : 1;
        long place = row.touch() + row.credit();
        return new RowKey.Order(key.aggregate(), key.tier(), row.incarnation(), group, kept, place, Integer.MAX_VALUE - row.index(),
                key.namespace(), key.block());
    }

    /** All tables of one shard of the store. Slow and simple. Used for one check. */
    private static final class ShardTables {
        private final Tables tables;
        private final String aggregate;
        private final ShardRow shard;
        private final TableInvariants.Say say;

        ShardTables(Tables tables, String aggregate, ShardRow shard, TableInvariants.Say say) {
            this.tables = tables;
            this.aggregate = aggregate;
            this.shard = shard;
            this.say = say;
        }

        void check() {
            Map<RowKey.Placement, PlacementRow> objects = new LinkedHashMap<>();
            try (var scan = tables.range(Rows.PLACEMENTS, TableInvariants.firstCopy(aggregate), null)) {
                while (scan.next()) {
                    objects.put(scan.key(), scan.value());
                }
            }
            counts(objects);
            children(objects);
            order(objects);
            deletion(objects);
        }

        private void counts(Map<RowKey.Placement, PlacementRow> objects) {
            long used = objects.values().stream().filter(row -> row.state() != PlacementState.ABSENT).count();
            long leaving = objects.values().stream().filter(row -> row.state() == PlacementState.LEAVING).count();
            if (used != shard.usedBlocks() || leaving != shard.leavingBlocks()) {
                say.that(Invariant.I4, "it has " + used + " objects, " + leaving + " of them leaving, and its row says " + shard);
            }
        }

        private void children(Map<RowKey.Placement, PlacementRow> objects) {
            Map<RowKey.Placement, Integer> children = new LinkedHashMap<>();
            objects.forEach((key, row) -> {
                if (row.state() == PlacementState.SERVING && !row.parent().isEmpty()) {
                    children.merge(new RowKey.Placement(aggregate, key.namespace(), Tier.STORE, row.parent()), 1, Integer::sum);
                }
                RowTables.alone(say, key, row);
            });
            objects.forEach((key, row) -> {
                if (row.children() != Objects.requireNonNullElse(children.remove(key), 0)) {
                    say.that(Invariant.I13, "children of " + key + " are not " + row.children());
                }
            });
            children.forEach((key, count) -> say.that(Invariant.I13, count + " objects extend " + key + ", which has no row"));
        }

        private void order(Map<RowKey.Placement, PlacementRow> objects) {
            Set<RowKey.Order> leaves = new LinkedHashSet<>();
            objects.forEach((key, row) -> {
                if (NodeTables.isLeaf(row)) {
                    leaves.add(TableInvariants.orderOf(key, row, ""));
                }
            });
            try (var scan = tables.range(Rows.ORDER,
                    new RowKey.Order(aggregate, Tier.STORE, 0, "", 0, 0, 0, TableInvariants.firstCopy("").namespace(), Bytes.EMPTY), null)) {
                while (scan.next()) {
                    if (!leaves.remove(scan.key())) {
                        say.that(Invariant.I13, "the eviction order has " + scan.key() + ", which is not a leaf");
                    }
                }
            }
            leaves.forEach(leaf -> say.that(Invariant.I13, "the eviction order lacks " + leaf));
        }

        /** What leaves is what the deletion in flight names; what it names and does not leave has gone, or was put again. */
        private void deletion(Map<RowKey.Placement, PlacementRow> objects) {
            DeletionRow row = tables.get(Rows.DELETIONS, new RowKey.Aggregate(aggregate));
            if (!Objects.equals(row == null ? null : row.deletion(), shard.deletion())) {
                say.that(Invariant.I12, "its row names " + shard.deletion() + ", and in flight is " + row);
            }
            Set<RowKey.Placement> named = new LinkedHashSet<>();
            if (row != null) {
                for (ShardObjects one : row.objects()) {
                    Bytes namespace = Namespaces.digest(one.namespace());
                    for (PagedBlock block : one.blocks()) {
                        named.add(new RowKey.Placement(aggregate, namespace, Tier.STORE, block.block().key()));
                    }
                }
            }
            objects.forEach((key, object) -> {
                boolean leaves = object.state() == PlacementState.LEAVING;
                if (leaves && (row == null || !row.deletion().equals(object.operation()) || !named.contains(key))) {
                    say.that(Invariant.I12, key + " leaves by " + object.operation() + ", and in flight is " + (row == null ? null : row.deletion()));
                }
            });
            long since = row == null ? 0 : Cause.offsetOf(row.deletion().substring(0, row.deletion().lastIndexOf('.')));
            objects.forEach((key, object) -> {
                PlacementRow parent = objects.get(new RowKey.Placement(aggregate, key.namespace(), Tier.STORE, object.parent()));
                boolean above = parent != null && parent.state() == PlacementState.LEAVING && object.state() == PlacementState.SERVING;
                if (above && object.touch() <= since) { // what was put since then may extend what goes
                    say.that(Invariant.I10, key + " stays, and what it extends leaves");
                }
            });
        }
    }
}
