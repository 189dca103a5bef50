/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.invariant.TableInvariants.Cursor;
import io.tierlog.controller.core.invariant.TableInvariants.Sample;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.BytesTables;
import io.tierlog.controller.core.table.HeapBytes;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One row is spoiled, on the heap and in a store of bytes: the whole check finds it, and so does a sample that has gone round. */
class TableInvariantsTest {
    private static final RowKey.Aggregate NODE = new RowKey.Aggregate("node/a");

    /** What spoils a row. */
    private interface Spoil {
        void in(Tables tables);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aSpoiledRowIsFound(String what, Invariant invariant, boolean bySample, Spoil spoil) {
        for (Tables tables : List.of(new HeapTables(), new BytesTables(new HeapBytes()))) {
            World w = new World(tables, Limits.DEFAULTS);
            Agent a = w.register("a", 100);
            w.warm(a, "r", Agent.path("p", 5), 0);
            w.input(a.submit("s", Agent.path("q", 4)).store(0, 4).event());
            assertEquals(List.of(), TableInvariants.check(tables, 0), what);
            assertEquals(Set.of(), round(tables), what);

            spoil.in(tables);
            tables.inputDone();

            List<Violation> found = TableInvariants.check(tables, 0);
            assertTrue(found.stream().anyMatch(v -> v.invariant() == invariant && v.topicKind().equals(Violation.STATE)), what + ": " + found);
            if (bySample) {
                assertTrue(round(tables).contains(invariant), what + ": " + round(tables));
                assertTrue(oneByOne(tables).contains(invariant), what + ": " + oneByOne(tables));
            }
        }
    }

    /** What a sample does not see, since it looks from the other side: the row itself shows it. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aSpoiledRowShowsByItself(String what, Invariant invariant, Spoil spoil) {
        HeapTables tables = new HeapTables();
        World w = new World(tables, Limits.DEFAULTS);
        Agent a = w.register("a", 100);
        w.warm(a, "r", Agent.path("p", 5), 0);
        w.input(a.submit("s", Agent.path("q", 4)).store(0, 4).event());
        assertEquals(Set.of(), oneByOne(tables), what);

        spoil.in(tables);

        assertEquals(Set.of(invariant), oneByOne(tables), what);
    }

    static Stream<Arguments> aSpoiledRowShowsByItself() {
        return Stream.of(
                Arguments.of("an entry of the eviction order that is not a leaf", Invariant.I13, (Spoil) t -> {
                    PlacementRow row = t.get(Rows.PLACEMENTS, key("p2"));
                    if (row != null) {
                        t.put(Rows.ORDER, PlacementRows.orderOf(key("p2"), row), Rows.ENTRY);
                    }
                }),
                Arguments.of("an entry of the eviction order without a placement", Invariant.I13, (Spoil) t -> t.put(Rows.ORDER,
                        new RowKey.Order("node/a", Tier.HOST, 1, "", 0, 0, 0, Namespaces.digest(Agent.NAMESPACE), Agent.key("nothing")), Rows.ENTRY)),
                Arguments.of("a request whose lease is gone", Invariant.I5, (Spoil) t -> {
                    RequestRow row = t.get(Rows.REQUESTS, new RowKey.Text("node/a", "s"));
                    if (row != null && row.lease() != null) {
                        t.delete(Rows.LEASES, new RowKey.Text("node/a", row.lease()));
                    }
                }));
    }

    /** Each row of the node by itself, as after an input that has touched it. */
    private static Set<Invariant> oneByOne(Tables tables) {
        Set<Invariant> found = new LinkedHashSet<>();
        Bytes lowest = Bytes.wrapUnshared(new byte[Namespaces.DIGEST_BYTES]);
        int rows = each(tables, Rows.NODES, NODE, found) + each(tables, Rows.PLACEMENTS, new RowKey.Placement("node/a", lowest, Tier.UNKNOWN,
                Bytes.EMPTY), found);
        rows += each(tables, Rows.ORDER, new RowKey.Order("node/a", Tier.UNKNOWN, 0, "", 0, 0, 0, lowest, Bytes.EMPTY), found);
        rows += each(tables, Rows.OPERATIONS, new RowKey.Text("node/a", ""), found);
        rows += each(tables, Rows.LEASES, new RowKey.Text("node/a", ""), found);
        rows += each(tables, Rows.REQUESTS, new RowKey.Text("node/a", ""), found);
        assertTrue(rows >= 9, "it has seen every row: " + rows);
        return found;
    }

    private static <K extends RowKey<K>, V extends WireRecord> int each(Tables tables, Table<K, V> table, K from, Set<Invariant> found) {
        List<K> keys = new ArrayList<>();
        try (Scan<K, V> scan = tables.range(table, from, null)) {
            while (scan.next()) {
                keys.add(scan.key());
            }
        }
        keys.forEach(key -> TableInvariants.row(tables, 0, table, key).forEach(v -> found.add(v.invariant())));
        return keys.size();
    }

    /** Samples of two rows until they have come round, and on once more. */
    private static Set<Invariant> round(Tables tables) {
        Set<Invariant> found = new LinkedHashSet<>();
        Cursor cursor = Cursor.START;
        int starts = 0;
        int rows = 0;
        for (int i = 0; starts < 2 && i < 1_000; i++) {
            Sample sample = TableInvariants.sample(tables, 0, cursor, 2);
            assertTrue(sample.rows() <= 2, "at most two rows");
            sample.violations().forEach(v -> found.add(v.invariant()));
            rows += sample.rows();
            cursor = sample.next();
            starts += cursor.equals(Cursor.START) ? 1 : 0;
        }
        assertEquals(2, starts, "it comes round");
        assertTrue(rows >= 2 * 9, "it has seen every copy, operation and lease twice: " + rows);
        return found;
    }

    static Stream<Arguments> aSpoiledRowIsFound() {
        return Stream.of(
                of("one block more than there is", Invariant.I4, false, t -> tier(t, r -> new TierRow(r.tier(), r.capacityBlocks(), r.blockBytes(),
                        r.usedBlocks() + 1, r.leavingBlocks(), r.inRelief(), r.drops(), r.copies(), r.refusedMs()))),
                of("more leaves than there is", Invariant.I4, true, t -> tier(t, r -> new TierRow(r.tier(), r.capacityBlocks(), r.blockBytes(),
                        r.usedBlocks(), r.usedBlocks() + 1, r.inRelief(), r.drops(), r.copies(), r.refusedMs()))),
                of("a drop that was never issued", Invariant.I12, false, t -> tier(t, r -> new TierRow(r.tier(), r.capacityBlocks(), r.blockBytes(),
                        r.usedBlocks(), r.leavingBlocks(), r.inRelief(), 1, r.copies(), r.refusedMs()))),
                of("a leaf that is not in the order", Invariant.I13, true, t -> {
                    RowKey.Placement leaf = key("p4");
                    PlacementRow row = t.get(Rows.PLACEMENTS, leaf);
                    if (row != null) {
                        t.delete(Rows.ORDER, PlacementRows.orderOf(leaf, row));
                    }
                }),
                of("a parent that knows of no child", Invariant.I13, true, t -> copy(t, "p3", 0, 0, PlacementState.SERVING, null)),
                of("a hold without an owner", Invariant.I1, false, t -> copy(t, "p2", 1, 3, PlacementState.SERVING, null)),
                of("a placement that leaves without an operation", Invariant.I12, true, t -> copy(t, "p2", 1, 0, PlacementState.LEAVING, null)),
                of("a copy that leaves by an operation that is not there", Invariant.I12, true,
                        t -> copy(t, "p2", 1, 0, PlacementState.LEAVING, "node/a@7.7")),
                of("a lease of an absent request", Invariant.I5, true, t -> t.put(Rows.LEASES, new RowKey.Text("node/a", "x"), new LeaseRow(1,
                        LeaseState.REQUESTED, "o", "absent", 1, 9, "", List.of()))),
                of("a lease on blocks that nothing holds", Invariant.I1, true, t -> t.put(Rows.LEASES, new RowKey.Text("node/a", "x"),
                        new LeaseRow(1, LeaseState.HELD, "o", "absent", 1, 9, Agent.NAMESPACE, List.of(new Block(4, Agent.key("p4"),
                                Agent.key("p3")))))));
    }

    private static Arguments of(String what, Invariant invariant, boolean bySample, Spoil spoil) {
        // A sample does not count whole tables.
        return Arguments.of(what, invariant, bySample, spoil);
    }

    private static RowKey.Placement key(String name) {
        return new RowKey.Placement("node/a", Namespaces.digest(Agent.NAMESPACE), Tier.HOST, Agent.key(name));
    }

    private static void copy(Tables t, String name, int children, int holds, PlacementState state, @Nullable String operation) {
        PlacementRow r = t.get(Rows.PLACEMENTS, key(name));
        if (r != null) {
            t.put(Rows.PLACEMENTS, key(name), new PlacementRow(state, r.incarnation(), r.epoch(), r.page(), r.generation(), r.crc32c(), r.index(),
                    r.parent(), r.touch(), children, holds, r.stored(), r.refused(), "", 0, operation, null, 0, false));
        }
    }

    private static void tier(Tables t, UnaryOperator<TierRow> spoiled) {
        NodeRow node = t.get(Rows.NODES, NODE);
        if (node != null) {
            List<TierRow> tiers = new ArrayList<>(node.tiers());
            tiers.replaceAll(r -> r.tier() == Tier.HOST ? spoiled.apply(r) : r);
            t.put(Rows.NODES, NODE, new NodeRow(node.processId(), node.incarnation(), node.alive(), node.lastHeartbeatTick(), node.lastSequence(),
                    node.commandSequence(), node.layoutDigest(), node.engineEpoch(), node.engines(), tiers, node.sweep(), null, null, 0, false,
                    node.sessionTicks(), 0));
        }
    }
}
