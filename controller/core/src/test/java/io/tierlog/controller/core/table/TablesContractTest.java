/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SealedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What both implementations of the tables promise. */
class TablesContractTest {
    private static final OperationRow OPERATION = new OperationRow(1, OperationKind.DROP, OperationState.ISSUED, Tier.HOST, Tier.UNKNOWN,
            null, 0, null, "n", Bytes.EMPTY, 0, List.of(), 0, 0, 0, true, null);

    static Stream<Named<Supplier<Tables>>> tables() {
        return Stream.of(
                Named.of("heap", HeapTables::new),
                Named.of("bytes", () -> new BytesTables(new HeapBytes())),
                Named.of("runs", () -> new RunTables(new HeapBytes())),
                Named.of("kept", () -> new WriteBehindTables(new BytesTables(new HeapBytes()), 100)),
                Named.of("kept for one input", () -> new WriteBehindTables(new BytesTables(new HeapBytes()), 0)));
    }

    private static RequestRow row(int attempt) {
        return new RequestRow(1, attempt, RequestState.SUBMITTED, "n", 0, false, null, 0, false, null);
    }

    private static RowKey.Text key(String aggregate, String id) {
        return new RowKey.Text(aggregate, id);
    }

    private static List<String> ids(Tables t, RowKey.Text from, RowKey.@Nullable Text to) {
        return found(t, Rows.REQUESTS, from, to, RequestRow::attempt);
    }

    private static <V extends WireRecord> List<String> found(
            Tables t, Table<RowKey.Text, V> table, RowKey.Text from, RowKey.@Nullable Text to, Function<V, Object> shown) {
        List<String> ids = new ArrayList<>();
        try (Scan<RowKey.Text, V> scan = t.range(table, from, to)) {
            while (scan.next()) {
                ids.add(scan.key().aggregate() + ":" + scan.key().id() + shown.apply(scan.value()));
            }
            assertFalse(scan.next());
        }
        return ids;
    }

    @ParameterizedTest
    @MethodSource("tables")
    void whatIsPutIsFoundUntilItIsDeleted(Supplier<Tables> make) {
        Tables t = make.get();
        assertNull(t.get(Rows.REQUESTS, key("node/a", "r")));
        t.put(Rows.REQUESTS, key("node/a", "r"), row(1));
        t.put(Rows.REQUESTS, key("node/a", "r"), row(2));
        assertEquals(row(2), t.get(Rows.REQUESTS, key("node/a", "r")));
        t.inputDone();
        assertEquals(row(2), t.get(Rows.REQUESTS, key("node/a", "r")));
        t.delete(Rows.REQUESTS, key("node/a", "r"));
        assertNull(t.get(Rows.REQUESTS, key("node/a", "r")));
        t.delete(Rows.REQUESTS, key("node/a", "r"));
        t.inputDone();
        assertNull(t.get(Rows.REQUESTS, key("node/a", "r")));
    }

    @ParameterizedTest
    @MethodSource("tables")
    void aRangeStaysInItsTableAndAggregate(Supplier<Tables> make) {
        Tables t = make.get();
        for (String aggregate : List.of("node/a", "node/a\u0000", "node/a\u0001", "node/ab", "node/", "node/b")) {
            t.put(Rows.REQUESTS, key(aggregate, "x"), row(1));
            t.put(Rows.OPERATIONS, key(aggregate, "o"), OPERATION);
            t.put(Rows.MEMBERS, key(aggregate, "m"), new EntryRow(true));
        }
        t.put(Rows.REQUESTS, key("node/a", ""), row(2));
        t.put(Rows.REQUESTS, key("node/a", "w"), row(3));
        t.put(Rows.REQUESTS, key("node/a", "y"), row(4));

        assertEquals(List.of("node/a:2", "node/a:w3", "node/a:x1", "node/a:y4"), ids(t, key("node/a", ""), null));
        assertEquals(List.of("node/a:w3", "node/a:x1"), ids(t, key("node/a", "w"), key("node/a", "y")));
        assertEquals(List.of("node/a:x1", "node/a:y4"), ids(t, key("node/a", "wa"), null));
        assertEquals(List.of(), ids(t, key("node/a", "y"), key("node/a", "w")));
        assertEquals(List.of(), ids(t, key("node/none", ""), null));
    }

    @ParameterizedTest
    @MethodSource("tables")
    void aRangeSeesWhatWasJustChanged(Supplier<Tables> make) {
        Tables t = make.get();
        t.put(Rows.REQUESTS, key("node/a", "x"), row(1));
        t.inputDone();
        t.put(Rows.REQUESTS, key("node/a", "y"), row(2));
        t.delete(Rows.REQUESTS, key("node/a", "x"));

        assertEquals(List.of("node/a:y2"), ids(t, key("node/a", ""), null));
    }

    /** Ranges of any bounds between random changes, of which some are written to the store and some are not. */
    @ParameterizedTest
    @MethodSource("tables")
    void rangesShowStoredAndChangedRowsInOrder(Supplier<Tables> make) {
        checkRanges(make, Rows.REQUESTS, TablesContractTest::row, RequestRow::attempt);
    }

    /** The same of a queue, of which only changed rows are kept. */
    @ParameterizedTest
    @MethodSource("tables")
    void rangesOfQueuesShowStoredAndChangedRowsInOrder(Supplier<Tables> make) {
        checkRanges(make, Rows.MEMBERS, _ -> Rows.ENTRY, EntryRow::present);
    }

    private static <V extends WireRecord> void checkRanges(
            Supplier<Tables> make, Table<RowKey.Text, V> table, IntFunction<V> rows, Function<V, Object> shown) {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            Tables t = make.get();
            TreeMap<String, Object> expected = new TreeMap<>();
            for (int step = 1; step < 300; step++) {
                String aggregate = "node/" + random.nextInt(2);
                String id = String.valueOf((char) ('a' + random.nextInt(12)));
                switch (random.nextInt(6)) {
                    case 0, 1 -> {
                        t.put(table, key(aggregate, id), rows.apply(step));
                        expected.put(aggregate + ":" + id, shown.apply(rows.apply(step)));
                    }
                    case 2 -> {
                        t.delete(table, key(aggregate, id));
                        expected.remove(aggregate + ":" + id);
                        assertNull(t.get(table, key(aggregate, id)));
                    }
                    case 3 -> t.inputDone();
                    case 4 -> writeSome(t, random);
                    default -> {
                        String to = random.nextBoolean() ? null : String.valueOf((char) ('a' + random.nextInt(12)));
                        String last = aggregate + ":" + (to == null ? "zz" : to);
                        List<String> rest = new ArrayList<>();
                        expected.subMap(aggregate + ":" + id, last.compareTo(aggregate + ":" + id) < 0 ? aggregate + ":" + id : last)
                                .forEach((key, row) -> rest.add(key + row));
                        RowKey.Text end = to == null ? null : key(aggregate, to);
                        assertEquals(rest, found(t, table, key(aggregate, id), end, shown), "seed " + seed + ", step " + step);
                    }
                }
            }
        }
    }

    private static void writeSome(Tables t, Random random) {
        if (t instanceof WriteBehindTables kept) {
            if (random.nextInt(8) == 0) {
                kept.flush();
            } else {
                kept.writeBehind(1);
            }
        }
    }

    /** A range writes nothing, so rows that change again soon are not written before they rest. */
    @Test
    void rangesWriteNothing() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 100);
        t.put(Rows.REQUESTS, key("node/a", "r"), row(1));
        assertEquals(List.of("node/a:r1"), ids(t, key("node/a", ""), null));
        assertEquals(List.of(0, 1), List.of(store.puts, t.unwritten()));
    }

    /** The order of keys on the heap is that of their bytes; texts with 0, 1, letters, umlauts and characters of two halves. */
    @ParameterizedTest
    @MethodSource("tables")
    void keysHaveOneOrder(Supplier<Tables> make) {
        List<String> texts = List.of("", "\u0000", "\u0000\u0000", "\u0001", "\u0001\u0000", "\u0002", "a", "a\u0000", "aa", "\u00e4",
                "\uffee", "\ud83d\ude00", "\ud83d\ude00x");
        Tables t = make.get();
        for (String text : texts.reversed()) {
            t.put(Rows.REQUESTS, key("node/a", text), row(1));
        }
        assertEquals(texts.stream().map(text -> "node/a:" + text + 1).toList(), ids(t, key("node/a", ""), null));
    }

    @ParameterizedTest
    @MethodSource("tables")
    void namesOfNamespacesAreKept(Supplier<Tables> make) {
        Tables t = make.get();
        RowKey.Namespace key = new RowKey.Namespace("node/a", Namespaces.digest("n"));
        t.put(Rows.NAMESPACES, key, new NamespaceRow("n", 0, List.of(), 0));
        t.inputDone();
        assertEquals(new NamespaceRow("n", 0, List.of(), 0), t.get(Rows.NAMESPACES, key));
    }

    /** Keys of every kind, drawn at random: order on the heap equals order of bytes, and bytes give back the key. */
    @Test
    void bytesOfKeysKeepTheirOrderAndAreRead() {
        Random random = new Random(1);
        check(Rows.ORDER, () -> new RowKey.Order(text(random), tier(random), random.nextLong(-2, 3), text(random), random.nextInt(2),
                random.nextLong(), random.nextInt(), digest(random), bytes(random)));
        check(Rows.MARKS, () -> new RowKey.Mark(text(random), digest(random), bytes(random)));
        check(Rows.PLACEMENTS, () -> new RowKey.Placement(text(random), digest(random), tier(random), bytes(random)));
        RowKey.Timer.Kind[] kinds = RowKey.Timer.Kind.values();
        RowKey.Timer.Queue[] queues = RowKey.Timer.Queue.values();
        check(Rows.TIMERS, () -> new RowKey.Timer(
                text(random), queues[random.nextInt(queues.length)], random.nextLong(-3, 3),
                kinds[random.nextInt(kinds.length)], text(random), text(random)));
        check(Rows.SEALED, () -> new RowKey.Sealed(text(random), text(random), random.nextInt(-2, 3), random.nextInt()));
        check(Rows.LEASES, () -> new RowKey.Text(text(random), text(random)));
    }

    private static <K extends RowKey<K>, V extends WireRecord> void check(Table<K, V> table, Supplier<K> draw) {
        TreeMap<Bytes, K> byBytes = new TreeMap<>();
        for (int i = 0; i < 2_000; i++) {
            K key = draw.get();
            byte[] bytes = table.encodeKey(new KeyWriter(), key);
            assertEquals(key, table.decodeKey(bytes));
            byBytes.put(Bytes.wrapUnshared(bytes), key);
        }
        List<K> inOrder = new ArrayList<>(byBytes.values());
        inOrder.sort((a, b) -> a.order(b));
        // Ranges do not cross aggregates, so only the order within one has to agree.
        inOrder.sort((a, b) -> KeyWriter.compareTexts(a.aggregate(), b.aggregate()));
        assertEquals(inOrder, new ArrayList<>(byBytes.values()), table.name());
    }

    private static String text(Random random) {
        String alphabet = "\u0000\u0001\u0002ab\u00e4";
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

    private static Tier tier(Random random) {
        return List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE).get(random.nextInt(4));
    }

    private static Bytes digest(Random random) {
        return Namespaces.digest("n" + random.nextInt(3));
    }

    private static Bytes bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(8, 11)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (random.nextInt(3) - 1);
        }
        return Bytes.wrapUnshared(bytes);
    }

    /** One input reads and writes each row of the store once, however often it is changed. */
    @Test
    void rowsAreKeptUntilTheInputIsDone() {
        HeapBytes store = new HeapBytes();
        Tables t = new WriteBehindTables(new BytesTables(store), 0);
        for (int i = 1; i <= 5; i++) {
            assertEquals(i == 1, t.get(Rows.REQUESTS, key("node/a", "r")) == null);
            t.put(Rows.REQUESTS, key("node/a", "r"), row(i));
        }
        t.inputDone();
        assertEquals(List.of(1, 1), List.of(store.gets, store.puts));
        t.inputDone();
        assertEquals(1, store.puts);
    }

    /** Rows stay between inputs, missing ones too: the store is read once, and written when all is flushed. */
    @Test
    void keptRowsAreReadAndWrittenOnce() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 100);
        for (int i = 1; i <= 5; i++) {
            assertNull(t.get(Rows.REQUESTS, key("node/a", "none")));
            t.put(Rows.REQUESTS, key("node/a", "r"), row(i));
            assertEquals(row(i), t.get(Rows.REQUESTS, key("node/a", "r")));
            t.inputDone();
        }
        assertEquals(List.of(1, 0, 1), List.of(store.gets, store.puts, t.unwritten()));
        t.flush();
        t.flush();
        assertEquals(List.of(1, 0), List.of(store.puts, t.unwritten()));
        assertEquals(row(5), new BytesTables(store).get(Rows.REQUESTS, key("node/a", "r")));
    }

    /** The row that was not used for longest goes first, and is written if it was changed. */
    @Test
    void keptRowsHaveABound() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 3);
        for (int i = 1; i <= 4; i++) {
            t.put(Rows.REQUESTS, key("node/a", "r" + i), row(i));
            assertEquals(row(1), t.get(Rows.REQUESTS, key("node/a", "r1")));
        }
        t.inputDone();
        assertEquals(List.of(1, 3), List.of(store.puts, t.unwritten()));
        assertEquals(row(2), t.get(Rows.REQUESTS, key("node/a", "r2")));
        assertEquals(1, store.gets);
    }

    /** A row that lists blocks counts as so many more. */
    @Test
    void longRowsWeighMore() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 3);
        List<Block> blocks = IntStream.range(0, 3).mapToObj(i -> new Block(i, Namespaces.digest("b" + i), Bytes.EMPTY)).toList();
        t.put(Rows.OPERATIONS, key("node/a", "o"), new OperationRow(1, OperationKind.DROP, OperationState.ISSUED, Tier.HOST, Tier.UNKNOWN,
                null, 0, null, "n", Bytes.EMPTY, 0, blocks, 0, 0, 0, true, null));
        t.inputDone();
        assertEquals(List.of(1, 0), List.of(store.puts, t.unwritten()));
    }

    /** A row is written behind once it did not change for five calls, few at a time; one that changes all the time waits for the flush. */
    @Test
    void restingRowsAreWrittenBehind() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 100);
        for (int i = 0; i < 6; i++) {
            t.put(Rows.REQUESTS, key("node/a", "resting" + i), row(i + 1));
        }
        for (int call = 1; call <= 5; call++) {
            t.put(Rows.REQUESTS, key("node/a", "busy"), row(call));
            t.writeBehind(2);
            assertEquals(0, store.puts, "call " + call);
        }
        for (int call = 6; call <= 8; call++) {
            t.put(Rows.REQUESTS, key("node/a", "busy"), row(call));
            t.writeBehind(2);
            assertEquals((call - 5) * 2, store.puts, "call " + call);
        }
        t.put(Rows.REQUESTS, key("node/a", "busy"), row(9));
        t.writeBehind(2);
        assertEquals(List.of(6, 1), List.of(store.puts, t.unwritten()));
    }

    /** Changed rows of a queue are written behind like others, and not kept after that; those above the bound go with their input. */
    @Test
    void queuesAreWrittenBehind() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 3);
        for (int i = 0; i < 5; i++) {
            t.put(Rows.MEMBERS, key("node/a", "m" + i), Rows.ENTRY);
        }
        t.delete(Rows.MEMBERS, key("node/a", "m0"));
        assertEquals(List.of(0, 5), List.of(store.puts, t.unwritten()));
        t.inputDone();
        assertEquals(List.of(2, 0, 3), List.of(store.puts, store.deletes, t.unwritten()), "m1 and m2 did not change for longest");
        for (int call = 1; call <= 6; call++) {
            assertEquals(List.of(2, 0), List.of(store.puts, store.deletes), "call " + call);
            t.writeBehind(10);
        }
        assertEquals(List.of(4, 1, 0), List.of(store.puts, store.deletes, t.unwritten()));
        assertEquals(Rows.ENTRY, t.get(Rows.MEMBERS, key("node/a", "m4")));
        assertEquals(1, store.gets);
    }

    private static RowKey.Sealed sealed(String aggregate, int request, int ordinal) {
        return new RowKey.Sealed(aggregate, "r" + request, 1, ordinal);
    }

    private static SealedRow sealedRow(int step, int blocks) {
        return new SealedRow("n" + step, Bytes.EMPTY, IntStream.range(0, blocks)
                .mapToObj(i -> new PagedBlock(new Block(i, Namespaces.digest("b" + i), Bytes.EMPTY), i, 1, 0)).toList());
    }

    /** A short queue that fits, one that does not, and one that grows out of the bound: what is found and what is stored is the same. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 20, 1_000})
    void shortQueuesAreWhatTheStoreWouldBe(int bound) {
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            HeapBytes store = new HeapBytes();
            HeapTables expected = new HeapTables();
            WriteBehindTables t = new WriteBehindTables(new BytesTables(store), bound);
            for (int step = 1; step < 300; step++) {
                RowKey.Sealed key = sealed("node/" + random.nextInt(2), random.nextInt(3), random.nextInt(3));
                switch (random.nextInt(9)) {
                    case 0, 1 -> {
                        SealedRow row = sealedRow(step, random.nextInt(4));
                        t.put(Rows.SEALED, key, row);
                        expected.put(Rows.SEALED, key, row);
                    }
                    case 2, 3 -> {
                        t.delete(Rows.SEALED, key);
                        expected.delete(Rows.SEALED, key);
                    }
                    case 4 -> t.inputDone();
                    case 5 -> writeSome(t, random);
                    case 6 -> assertEquals(expected.get(Rows.SEALED, key), t.get(Rows.SEALED, key), "seed " + seed + ", step " + step);
                    case 7 -> {
                        if (random.nextInt(10) == 0) {
                            // The task begins again after a commit.
                            t.flush();
                            t = new WriteBehindTables(new BytesTables(store), bound);
                        }
                    }
                    default -> assertEquals(sealedFrom(expected, key), sealedFrom(t, key), "seed " + seed + ", step " + step);
                }
            }
            t.flush();
            assertEquals(HeapBytes.dump(expected), store.dump(), "seed " + seed);
        }
    }

    private static List<Object> sealedFrom(Tables t, RowKey.Sealed from) {
        List<Object> found = new ArrayList<>();
        RowKey.Sealed to = from.ordinal() == 0 ? null : new RowKey.Sealed(from.aggregate(), from.request(), 2, 0);
        try (Scan<RowKey.Sealed, SealedRow> scan = t.range(Rows.SEALED, from, to)) {
            while (scan.next()) {
                found.add(scan.key());
                found.add(scan.value());
            }
        }
        return found;
    }

    /** Once all rows of an aggregate were read, ranges read nothing, and what comes and goes between two writes is not written. */
    @Test
    void aShortQueueThatComesAndGoesIsNotWritten() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 100);
        t.put(Rows.SEALED, sealed("node/a", 1, 0), sealedRow(1, 2));
        assertEquals(2, sealedFrom(t, sealed("node/a", 1, 0)).size());
        t.delete(Rows.SEALED, sealed("node/a", 1, 0));
        t.put(Rows.SEALED, sealed("node/a", 2, 0), sealedRow(2, 2));
        t.delete(Rows.SEALED, sealed("node/a", 2, 0));
        t.flush();
        assertEquals(List.of(0, 0, 1), List.of(store.puts, store.deletes, store.ranges));

        t.put(Rows.SEALED, sealed("node/a", 3, 0), sealedRow(3, 2));
        t.flush();
        assertEquals(2, sealedFrom(t, sealed("node/a", 3, 0)).size());
        t.delete(Rows.SEALED, sealed("node/a", 3, 0));
        t.flush();
        assertEquals(List.of(1, 1, 1), List.of(store.puts, store.deletes, store.ranges));
    }

    /** A short queue that grows out of the bound is dropped, once it is written, and read from the store from then on. */
    @Test
    void aShortQueueThatDoesNotFitIsReadFromTheStore() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 6);
        t.put(Rows.SEALED, sealed("node/a", 1, 0), sealedRow(1, 2));
        assertEquals(2, sealedFrom(t, sealed("node/a", 1, 0)).size());
        t.flush();
        assertEquals(sealedRow(1, 2), t.get(Rows.SEALED, sealed("node/a", 1, 0)));
        assertEquals(List.of(1, 0, 1), List.of(store.puts, store.gets, store.ranges));
        // 1 + 2 blocks and 1 + 4 blocks: 8 of 6.
        t.put(Rows.SEALED, sealed("node/a", 2, 0), sealedRow(2, 4));
        t.inputDone();

        assertEquals(sealedRow(1, 2), t.get(Rows.SEALED, sealed("node/a", 1, 0)));
        assertEquals(4, sealedFrom(t, sealed("node/a", 1, 0)).size());
        assertEquals(2, sealedFrom(t, sealed("node/a", 2, 0)).size());
        assertEquals(List.of(2, 1, 3), List.of(store.puts, store.gets, store.ranges));
    }

    /** A row that cannot be read is not kept as missing. */
    @Test
    void anUnreadableRowStaysUnreadable() {
        HeapBytes store = new HeapBytes();
        store.put(Rows.REQUESTS.encodeKey(new KeyWriter(), key("node/a", "r")), new byte[] {99});
        WriteBehindTables t = new WriteBehindTables(new BytesTables(store), 100);
        for (int i = 0; i < 2; i++) {
            assertThrows(IllegalStateException.class, () -> t.get(Rows.REQUESTS, key("node/a", "r")));
        }
    }
}
