/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Placements in memory, stored as runs: whatever runs there are, they are the same placements. */
class PlacementRunsTest {
    private static final Bytes NAMESPACE = Namespaces.digest("n");

    /** A key that is spread like a digest. */
    private static Bytes block(long number) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(16).putLong((number + 1) * 0x9E3779B97F4A7C15L).putLong(number).array());
    }

    private static RowKey.Placement key(long number) {
        return new RowKey.Placement("node/a", NAMESPACE, Tier.HOST, block(number));
    }

    /** The block {@code index} of a chain that begins at key {@code first}. */
    private static PlacementRow row(long first, int index) {
        return new PlacementRow(PlacementState.SERVING, 3, 0, index, 7, 0x1234_5678 * (index + 1), index,
                index == 0 ? Bytes.EMPTY : block(first + index - 1), 1_000, index == 9 ? 0 : 1, 0, true, false, "g", 50_000, null, null, 0, false);
    }

    private static void chain(PlacementRuns runs, long first, int from, int to) {
        for (int index = from; index < to; index++) {
            runs.put(key(first + index), row(first, index));
        }
    }

    /** Bytes that a store may hold already: they never change. */
    @Test
    void aRunIsStoredInThisForm() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        chain(runs, 0, 0, 3);
        runs.put(key(1), new PlacementRow(PlacementState.COPYING, 4, 2, -1, 5, 0, 8, Bytes.ofHex("0102030405060708"), 999, 2, 1, false, true, "",
                1, "op", "", 0, false));
        runs.writeChanged();
        assertEquals(1, store.entries.size());
        assertEquals("6e6f64652f61000b8000000000000001", HexFormat.of().formatHex(store.entries.firstKey().unshared()));
        assertEquals("02" + "1b16b1df538ba12dc3f97edbb85caa70" + "02" + "03" + "10"
                        + "9e3779b97f4a7c150000000000000000" + "3c6ef372fe94f82a0000000000000001" + "daa66d2c7ddf743f0000000000000002"
                        + "bec802d00fa08d06020e12345678060267"
                        + "feff0f019d8d060303000000000802031001020304050607080e0202040001046f700100"
                        + "fefd0f029e8d060604369d036806010d01010302670000",
                HexFormat.of().formatHex(store.entries.firstEntry().getValue()));
    }

    /** A chain of 70 blocks is three runs, each written once; a change writes one of them. */
    @Test
    void aBlockJoinsTheRunOfItsParent() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        chain(runs, 0, 0, 70);
        runs.writeChanged();
        assertEquals(List.of(3, 3), List.of(store.puts, store.entries.size()));
        runs.put(key(40), row(0, 9));
        runs.writeChanged();
        assertEquals(4, store.puts);
        // Another tier is another run, and so is a key of another length.
        runs.put(new RowKey.Placement("node/a", NAMESPACE, Tier.DISK, block(70)), row(0, 70));
        runs.put(new RowKey.Placement("node/a", NAMESPACE, Tier.HOST, Bytes.ofHex("0102030405060708")), row(0, 70));
        runs.writeChanged();
        assertEquals(5, store.entries.size());
        // What goes makes space in its run; a run without blocks goes too.
        for (int index = 69; index >= 32; index--) {
            runs.delete(key(index));
        }
        runs.writeChanged();
        assertEquals(List.of(3, 2), List.of(store.entries.size(), store.deletes));
    }

    /** A prompt that is written back is cut only where a run is full. */
    @Test
    void theBlocksOfAnEventShareARun() {
        RunTables runs = new RunTables(new HeapBytes());
        WriteBehindTables tables = new WriteBehindTables(runs, WriteBehindTables.KEPT);
        World world = new World(tables, Limits.DEFAULTS);
        world.warm(world.register("a", 1_000), "r", Agent.path("p", 30), 0);
        tables.flush();
        PlacementRuns.Size size = runs.placements().size();
        assertTrue(size.blocks() >= 30, size.toString());
        assertEquals(size.blocks() / 30, size.runs(), size.toString());
    }

    /** As a snapshot has them: in the order of keys, in which a child may come before its parent. */
    @Test
    void rowsOfASnapshotShareRuns() {
        HeapTables rows = new HeapTables();
        for (int index = 0; index < 64; index++) {
            rows.put(Rows.PLACEMENTS, key(index), row(0, index));
        }
        RunTables runs = new RunTables(new HeapBytes());
        RowImage.copy(rows, runs);
        assertEquals(2, runs.placements().size().runs());
    }

    /** Nodes, shards of the store, and rows of other tables between them. */
    @Test
    void allAggregatesAreLoaded() {
        HeapBytes store = new HeapBytes();
        RunTables runs = new RunTables(store);
        List<String> aggregates = List.of("node/a", "node/a\u0001", "node/ab", "node/\u00e4", "store/0", "store/12");
        for (String aggregate : aggregates) {
            runs.put(Rows.PLACEMENTS, new RowKey.Placement(aggregate, NAMESPACE, Tier.STORE, block(1)), row(1, 0));
            runs.put(Rows.MEMBERS, new RowKey.Text(aggregate, "m"), new EntryRow(true));
        }
        runs.put(Rows.MEMBERS, new RowKey.Text("clock/0", "m"), new EntryRow(true));
        runs.together(() -> {});
        PlacementRuns again = new PlacementRuns(store);
        again.loadAll();
        assertEquals(aggregates.size(), again.size().blocks());
    }

    /** A run that comes and goes between two writes is never written. */
    @Test
    void aRunThatWasNeverWrittenIsNotRemoved() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        chain(runs, 0, 0, 3);
        for (int index = 2; index >= 0; index--) {
            runs.delete(key(index));
        }
        assertEquals(1, runs.unwritten());
        runs.writeChanged();
        assertEquals(List.of(0, 0, 0), List.of(store.puts, store.deletes, runs.unwritten()));
        assertEquals(new PlacementRuns.Size(0, 0, 0), runs.size());
    }

    /**
     * Random changes, against a sorted map: keys that differ in their first bytes, in their last ones, and in their length. Now and then all is
     * dropped and read again from the last write, as after an abort.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void randomChangesAreThoseOfAMap(long seed) {
        Random random = new Random(seed);
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        NavigableMap<RowKey.Placement, PlacementRow> expected = new TreeMap<>(PlacementRunsTest::order);
        NavigableMap<RowKey.Placement, PlacementRow> committed = new TreeMap<>(PlacementRunsTest::order);
        List<RowKey.Placement> all = keys(random, 1_200);
        for (int step = 0; step < 20_000; step++) {
            // Grows, shrinks, grows: leaves split and join.
            boolean grows = step / 4_000 % 2 == 0;
            RowKey.Placement key = all.get(random.nextInt(all.size()));
            if (random.nextInt(10) < (grows ? 7 : 3)) {
                PlacementRow row = randomRow(random, all);
                runs.put(key, row);
                expected.put(key, row);
            } else {
                runs.delete(key);
                expected.remove(key);
            }
            assertEquals(expected.get(key), runs.get(key));
            RowKey.Placement other = all.get(random.nextInt(all.size()));
            assertEquals(expected.get(other), runs.get(other), "seed " + seed + ", step " + step);
            if (random.nextInt(50) == 0) {
                runs.writeChanged();
                committed = new TreeMap<>(expected);
            }
            if (random.nextInt(400) == 0) {
                runs = new PlacementRuns(store);
                expected = new TreeMap<>(committed);
            }
            if (random.nextInt(100) == 0) {
                requireSame(expected, runs, key, random.nextBoolean() ? null : other);
            }
        }
        runs.writeChanged();
        requireSame(expected, runs, new RowKey.Placement("node/a", Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY), null);
        requireSame(expected, new PlacementRuns(store), new RowKey.Placement("node/a", Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY), null);
        HeapTables heap = new HeapTables();
        expected.forEach((key, row) -> heap.put(Rows.PLACEMENTS, key, row));
        assertEquals(HeapBytes.dump(heap), store.dump());
        for (RowKey.Placement key : List.copyOf(expected.keySet())) {
            runs.delete(key);
        }
        runs.writeChanged();
        assertEquals(new PlacementRuns.Size(0, 0, 0), runs.size());
        assertEquals(0, store.entries.size());
    }

    private static int order(RowKey.Placement a, RowKey.Placement b) {
        return a.order(b);
    }

    private static void requireSame(
            NavigableMap<RowKey.Placement, PlacementRow> expected, PlacementRuns runs, RowKey.Placement from, RowKey.@Nullable Placement to) {
        List<Object> rows = new ArrayList<>();
        expected.tailMap(from, true).forEach((key, row) -> {
            if (key.aggregate().equals(from.aggregate())
                    && (to == null || (to.aggregate().equals(from.aggregate()) ? key.order(to) < 0 : order(from, to) < 0))) {
                rows.add(List.of(key, row));
            }
        });
        List<Object> found = new ArrayList<>();
        RowKey.Placement end = to == null || to.aggregate().equals(from.aggregate()) ? to : null;
        if (to != null && end == null && order(from, to) > 0) {
            return; // the bounds of a range are of one aggregate
        }
        try (Scan<RowKey.Placement, PlacementRow> scan = runs.range(from, end)) {
            while (scan.next()) {
                found.add(List.of(scan.key(), scan.value()));
            }
        }
        assertEquals(rows, found);
    }

    private static List<RowKey.Placement> keys(Random random, int count) {
        List<RowKey.Placement> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] block = new byte[random.nextInt(3) == 0 ? random.nextInt(8, 33) : 16];
            if (random.nextInt(3) == 0) {
                random.nextBytes(block);
            } else {
                block[block.length - 1] = (byte) i;
                block[block.length - 2] = (byte) (i >> 8);
            }
            keys.add(new RowKey.Placement(random.nextInt(5) == 0 ? "store/1" : "node/a", Namespaces.digest("n" + random.nextInt(5) / 4),
                    random.nextInt(6) == 0 ? Tier.DISK : Tier.HOST, Bytes.wrapUnshared(block)));
        }
        return keys;
    }

    private static PlacementRow randomRow(Random random, List<RowKey.Placement> all) {
        PlacementState[] states = PlacementState.values();
        Bytes parent = random.nextInt(4) == 0 ? Bytes.EMPTY : all.get(random.nextInt(all.size())).block();
        return new PlacementRow(states[random.nextInt(states.length)], number(random), number(random), (int) number(random), number(random),
                (int) number(random), (int) number(random), parent, number(random), (int) number(random), (int) number(random), random.nextBoolean(),
                random.nextBoolean(), random.nextBoolean() ? "" : "group" + random.nextInt(3), number(random),
                random.nextInt(3) == 0 ? "node/a@" + random.nextInt(9) : null, random.nextInt(5) == 0 ? "" : null,
                random.nextInt(3) == 0 ? number(random) : 0, random.nextBoolean());
    }

    /** Mostly small, sometimes at an end of the range. */
    private static long number(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> Long.MAX_VALUE;
            case 1 -> Long.MIN_VALUE;
            case 2 -> random.nextLong();
            default -> random.nextInt(-1, 4);
        };
    }

    /** Blocks in chains of 100: what a block takes in memory and in the store; all of it is given back. */
    @Test
    void aBlockTakesAtMostAHundredBytes() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        int blocks = 100_000;
        for (int first = 0; first < blocks; first += 100) {
            chain(runs, first, 0, 100);
        }
        runs.writeChanged();
        long stored = store.entries.entrySet().stream().mapToLong(row -> row.getKey().size() + row.getValue().length).sum();
        PlacementRuns.Size size = runs.size();
        assertTrue(size.bytes() < 100L * blocks, size + ", " + stored + " bytes stored");
        assertTrue(stored < 40L * blocks, size + ", " + stored + " bytes stored");
        // Removed and put again, over and over: the memory is used again.
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < blocks; i += 2) {
                runs.delete(key(i));
            }
            for (int i = 0; i < blocks; i += 2) {
                runs.put(key(i), row(i - i % 100, i % 100));
            }
            runs.writeChanged();
        }
        assertTrue(runs.size().bytes() < 100L * blocks, runs.size().toString());
        for (int i = 0; i < blocks; i++) {
            runs.delete(key(i));
        }
        runs.writeChanged();
        assertEquals(new PlacementRuns.Size(0, 0, 0), runs.size());
    }

    @Test
    void moreThanMemoryWasPromisedForIsRefused() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store, 10);
        chain(runs, 0, 0, 10);
        RuntimeException refused = assertThrows(PlacementRuns.TooMany.class, () -> runs.put(key(10), row(0, 10)));
        assertTrue(Objects.requireNonNull(refused.getMessage()).contains("10 placements"), refused.getMessage());
        assertNull(runs.get(key(10)));
        runs.put(key(9), row(0, 9));
        runs.delete(key(9));
        runs.put(key(10), row(0, 10));
        runs.writeChanged();
        assertThrows(PlacementRuns.TooMany.class, () -> new PlacementRuns(store, 9).load("node/a"));
    }

    /** One row for each block, as earlier builds stored them. */
    @Test
    void anotherFormIsRefused() {
        HeapBytes store = new HeapBytes();
        new BytesTables(store).put(Rows.PLACEMENTS, key(0), row(0, 0));
        PlacementRuns runs = new PlacementRuns(store);
        RuntimeException refused = assertThrows(PlacementRuns.OtherForm.class, () -> runs.load("node/a"));
        assertTrue(Objects.requireNonNull(refused.getMessage()).contains("tierlog snapshot restore"), refused.getMessage());
        assertThrows(PlacementRuns.OtherForm.class, () -> runs.get(key(0)), "it is refused again");
        assertNull(runs.get(new RowKey.Placement("node/b", NAMESPACE, Tier.HOST, block(0))));
    }

    /** A block in two rows is damage, not a choice. */
    @Test
    void aBlockInTwoRunsIsRefused() {
        HeapBytes store = new HeapBytes();
        PlacementRuns runs = new PlacementRuns(store);
        chain(runs, 0, 0, 2);
        runs.writeChanged();
        byte[] again = store.entries.firstKey().toArray();
        again[again.length - 1]++;
        store.put(again, store.entries.firstEntry().getValue());
        assertThrows(IllegalStateException.class, () -> new PlacementRuns(store).load("node/a"));
    }
}
