/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.ops.audit.history.RecordFields;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.state.GroupRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.SharesRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random histories of the simulator, with crashes and aborted transactions: the tables at an offset are those that its controller had then. */
class StateFoldTest {
    private static final Codec CODEC = new Codec(Schemas.bundled());

    private static void requireEqual(HeapTables expected, HeapTables found, String where) {
        for (Table<?, ?> table : Rows.ALL) {
            assertEquals(expected.rows(table), found.rows(table), where + ", " + table);
        }
    }

    /** The fold stops at each offset; where an event leads to three decisions, the simulator has tables to compare with after the third. */
    @ParameterizedTest
    @ValueSource(longs = {11, 12})
    void theStateAtEveryOffsetIsWhatTheSimulatorHad(long seed) throws Exception {
        SimulatedLog simulated = SimulatedLog.of(seed);
        MemoryLog log = simulated.log();
        StateReader reader = new StateReader(log, SimulatedLog.TOPICS, simulated.codec, 1);
        long compared = 0;
        for (int p = 0; p < simulated.partitions(); p++) {
            HeapTables expected = new HeapTables();
            try (StateFold fold = new StateFold(new StateFold.Job(log, SimulatedLog.TOPICS, simulated.codec, p, Optional.empty()))) {
                for (int offset = 0; offset < simulated.decisions(p); offset++) {
                    fold.advance(new Moment.Decision(p, offset));
                    assertEquals(offset, fold.last().offset());
                    if (!simulated.isLast(p, offset)) {
                        continue;
                    }
                    List<SimulatedLog.Written<?, ?>> written = simulated.written(p, simulated.cause(p, offset));
                    written.forEach(row -> row.write(expected));
                    for (SimulatedLog.Written<?, ?> row : written) {
                        assertTrue(Objects.equals(row.row(), row.in(fold.tables())), () -> row + " at " + fold.last());
                    }
                    compared++;
                    if (compared % 100 == 0) {
                        requireEqual(expected, fold.tables(), "partition " + fold.partition() + " at " + offset);
                    }
                    if (compared % 1_000 == 0) {
                        requireEqual(expected, tables(reader, new Moment.Decision(p, offset)), "from the beginning to " + offset);
                        requireEqual(expected, tables(reader, new Moment.Input(p, simulated.cause(p, offset))), "to its event");
                    }
                }
                requireEqual(expected, fold.tables(), "the end of partition " + p);
                requireEqual(expected, tables(reader, new Moment.Decision(p, simulated.decisions(p) - 1)), "all of partition " + p);
            }
        }
        assertTrue(compared > 1_000, "only " + compared + " states were compared");
    }

    /** Stretches of every length: a row differs in the difference when it differs between the two states, and never else. */
    @Test
    void theDifferenceIsWhatTheTwoStatesDifferIn() throws Exception {
        SimulatedLog simulated = SimulatedLog.of(13);
        StateReader reader = new StateReader(simulated.log(), SimulatedLog.TOPICS, simulated.codec, 1);
        int end = simulated.decisions(0) - 1;
        for (int length = 1; length < end / 2; length = length * 2 + 1) {
            Moment.Decision from = new Moment.Decision(0, end / 3);
            Moment.Decision to = new Moment.Decision(0, end / 3 + length);
            StateDiff diff = reader.difference(from, to, Optional.empty());

            assertEquals(differing(tables(reader, from), tables(reader, to)), diff.changes().size(), from + " to " + to);
            assertEquals(length, diff.decisions());
            for (StateDiff.Change change : diff.changes()) {
                assertTrue(!change.fields().isEmpty() && !change.decisions().isEmpty(), change.toString());
                assertTrue(change.decisions().stream().allMatch(by -> by.offset() > from.offset() && by.offset() <= to.offset()), change.toString());
            }
            if (length < 40) {
                requireNamed(reader, diff);
            }
        }
    }

    /** Each decision that a field names changed this field: the state after it differs there from the one before it. */
    private static void requireNamed(StateReader reader, StateDiff diff) throws InterruptedException {
        Map<Long, StateDiff> steps = new HashMap<>();
        for (StateDiff.Change change : diff.changes()) {
            for (StateDiff.Field field : change.fields()) {
                assertTrue(!field.by().isEmpty() && change.decisions().containsAll(field.by()), change.toString());
                for (StateDiff.By by : field.by()) {
                    StateDiff step = steps.get(by.offset());
                    if (step == null) {
                        step = reader.difference(new Moment.Decision(0, by.offset() - 1), new Moment.Decision(0, by.offset()), Optional.empty());
                        steps.put(by.offset(), step);
                    }
                    assertTrue(step.changes().stream().anyMatch(one -> one.table().equals(change.table())
                            && one.aggregate().equals(change.aggregate()) && one.row().equals(change.row())
                            && one.fields().stream().anyMatch(same -> same.path().equals(field.path()))), () -> field + " of " + change);
                }
            }
        }
    }

    /** 60 ticks write the row of the clock, and one policy: the fields of the policy name it, and those of the time the first and the last tick. */
    @Test
    void aFieldNamesTheDecisionsThatChangedIt() throws Exception {
        Envelope clock = new Envelope("clock/0", "controller/0", 0, 1, 0, 5, null, null, null, null);
        Policy policy = new Policy(7, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 1, 1, 1, 1, true, null, null);
        List<Fact> facts = new ArrayList<>(List.of(new PartitionOpened(clock, 1, "")));
        for (int tick = 1; tick <= 60; tick++) {
            facts.add(new TimeAdvanced(clock, 1_000L * tick, tick));
            if (tick == 30) {
                facts.add(new PolicyAdopted(clock, 3, policy));
            }
        }
        StateReader reader = new StateReader(log(facts), SimulatedLog.TOPICS, CODEC, 1);
        StateDiff.Change change = reader.difference(new Moment.Decision(0, 0), new Moment.End(), Optional.empty()).changes().getFirst();

        StateDiff.By adopted = new StateDiff.By(31, "PolicyAdopted");
        List<StateDiff.By> ticks = List.of(new StateDiff.By(1, "TimeAdvanced"), new StateDiff.By(61, "TimeAdvanced"));
        assertEquals(List.of(new StateDiff.Field("logTimeMs", "0", "60000", ticks), new StateDiff.Field("ticks", "0", "60", ticks),
                new StateDiff.Field("policyVersion", "0", "3", List.of(adopted))), change.fields().subList(0, 3));
        assertTrue(change.fields().stream().anyMatch(field -> field.path().startsWith("policy.") && field.by().equals(List.of(adopted))),
                change.toString());
        assertEquals(List.of(ticks.getFirst(), adopted, ticks.getLast()), change.decisions());
        assertEquals(61, change.decisionCount());
    }

    private static MemoryLog log(List<Fact> facts) {
        List<LogEntry> entries = new ArrayList<>();
        facts.forEach(fact -> entries.add(
                new LogEntry.Data(entries.size(), 1_000 + entries.size(), null, CODEC.encode(SimulatedLog.TOPICS.decisions(), fact))));
        return new MemoryLog().with(SimulatedLog.TOPICS.decisions(), entries).with(SimulatedLog.TOPICS.events(), List.of());
    }

    /** What comes after a moment may be unreadable or damaged. */
    @Test
    void aMomentNeedsOnlyWhatIsBeforeIt() throws Exception {
        Envelope clock = new Envelope("clock/0", "controller/0", 0, 1, 0, 5, null, null, null, null);
        String topic = SimulatedLog.TOPICS.decisions();
        LogEntry opened = new LogEntry.Data(0, 1_000, null, CODEC.encode(topic, new PartitionOpened(clock, 1, "")));
        LogEntry unreadable = new LogEntry.Data(1, 1_001, null, new byte[] {9});
        for (LogEntry next : List.of(unreadable, new LogEntry.Damaged(1, 1, "torn"))) {
            MemoryLog log = new MemoryLog().with(topic, List.of(opened, next)).with(SimulatedLog.TOPICS.events(), List.of());
            StateReader reader = new StateReader(log, SimulatedLog.TOPICS, CODEC, 1);

            assertEquals(1, tables(reader, new Moment.Decision(0, 0)).rows(Rows.CLOCK).size());
            assertThrows(AuditException.class, () -> tables(reader, new Moment.End()));
            if (next == unreadable) {
                assertEquals(1, tables(reader, new Moment.Time(1_000)).rows(Rows.CLOCK).size());
            }
        }
    }

    /** A group may have several routes from and to different tiers; what has no name of its own has its place besides. */
    @Test
    void twoElementsOfAListAreTwo() {
        Map<String, String> fields = RecordFields.flat(new SharesRow(List.of(new GroupRow("g", List.of()), new GroupRow("g", List.of())),
                List.of(new RouteRow("g", Tier.HOST, Tier.DISK, 1, 10), new RouteRow("g", Tier.HOST, Tier.STORE, 2, 20),
                        new RouteRow("", Tier.HOST, Tier.STORE, 3, 30)),
                1, 1, Bytes.EMPTY, false, false, List.of(), "", 0, Bytes.EMPTY, 0, 0, 0, 0));

        assertEquals(List.of("10", "20", "30"), Stream.of("g HOST DISK", "g HOST STORE", "- HOST STORE")
                .map(route -> fields.get("routes[" + route + "].blocks")).toList());
        assertEquals(List.of("groups[g].group", "groups[g 1].group"), fields.keySet().stream().filter(path -> path.startsWith("groups[")).toList());
    }

    @Test
    void aStretchThatEndsBeforeItBeginsIsRefused() {
        for (List<Moment> pair : List.<List<Moment>>of(List.of(new Moment.Time(2_000), new Moment.Time(1_000)),
                List.of(new Moment.Decision(1, 8), new Moment.Decision(1, 7)), List.of(new Moment.Input(1, 8), new Moment.Input(1, 7)),
                List.of(new Moment.Bare(8), new Moment.Bare(7)), List.of(new Moment.End(), new Moment.Time(1_000)))) {
            AuditException refused = assertThrows(AuditException.class,
                    () -> new Stretch(Optional.of(pair.getFirst()), Optional.of(pair.getLast())), pair.toString());
            assertTrue(refused.getMessage().contains(" is after "), refused.getMessage());
            assertEquals("write the earlier moment first", refused.hint());
        }
        Optional<Moment> moment = Optional.of(new Moment.Time(1_000));
        assertEquals(moment, new Stretch(moment, moment).to());
    }

    private static HeapTables tables(StateReader reader, Moment moment) throws InterruptedException {
        return reader.read(moment, Optional.empty()).partitions().getFirst().tables();
    }

    private static long differing(HeapTables before, HeapTables after) {
        long differing = 0;
        for (Table<?, ?> table : Rows.ALL) {
            var was = before.rows(table);
            var is = after.rows(table);
            if (!ChangedTables.INDEXES.contains(table)) {
                differing += is.entrySet().stream().filter(row -> !row.getValue().equals(was.get(row.getKey()))).count();
                differing += was.keySet().stream().filter(key -> !is.containsKey(key)).count();
            }
        }
        return differing;
    }

    @Test
    void aRowThatIsAsItWasIsNoDifference() {
        HeapTables heap = new HeapTables();
        RowKey.Namespace chat = new RowKey.Namespace("node/a", Namespaces.digest("chat"));
        RowKey.Namespace other = new RowKey.Namespace("node/a", Namespaces.digest("other"));
        heap.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 1, List.of(), 0));
        ChangedTables changed = new ChangedTables(heap);
        StateDiff.By placed = new StateDiff.By(7, "BlocksPlaced");
        changed.by(placed);
        changed.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 2, List.of(), 0));
        changed.put(Rows.NAMESPACES, other, new NamespaceRow("other", 2, List.of(), 0));

        assertEquals(List.of(new StateDiff.Field("incarnation", "1", "2", List.of(placed))), changed.changes(0).getFirst().fields());
        assertEquals(List.of("chat", "other"), changed.changes(0).stream().map(StateDiff.Change::row).toList());

        changed.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 1, List.of(), 0));
        changed.delete(Rows.NAMESPACES, other);

        assertEquals(List.of(), changed.changes(0));
    }

    @Test
    void aMomentThatTheLogDoesNotHaveSaysWhatToWrite() {
        SimulatedLog simulated = SimulatedLog.of(14);
        StateReader reader = new StateReader(simulated.log(), SimulatedLog.TOPICS, simulated.codec, 1);
        int end = simulated.decisions(0);

        refused(reader, new Moment.Decision(0, end), "there is no offset " + end + " in partition 0", "0 to " + (end - 1));
        refused(reader, new Moment.Decision(simulated.partitions(), 0), "and the log has", "write a partition of 0 to");
        assertEquals("offset 5 may be one of 3 partitions",
                assertThrows(AuditException.class, () -> new Moment.Bare(5).in(3, OptionalInt.empty())).getMessage());
        assertEquals(new Moment.Decision(2, 5), new Moment.Bare(5).in(3, OptionalInt.of(2)));
        assertThrows(AuditException.class, () -> new Moment.Decision(1, 5).in(3, OptionalInt.of(2)));
        AuditException back = assertThrows(AuditException.class,
                () -> reader.difference(new Moment.Decision(0, 9), new Moment.Decision(0, 8), Optional.empty()));
        assertEquals("0:8 is before 0:9", back.getMessage());
    }

    private static void refused(StateReader reader, Moment moment, String message, String hint) {
        AuditException refused = assertThrows(AuditException.class, () -> reader.read(moment, Optional.empty()));
        assertTrue(refused.getMessage().contains(message), refused.getMessage());
        assertTrue(refused.hint().contains(hint), refused.hint());
    }

    @Test
    void aTimeEndsBeforeTheFirstLaterDecision() throws Exception {
        SimulatedLog simulated = SimulatedLog.of(14);
        StateReader reader = new StateReader(simulated.log(), SimulatedLog.TOPICS, simulated.codec, 1);

        LogState state = reader.read(new Moment.Time(1_007), Optional.empty()); // the decision at offset n was appended at 1,000 + n

        for (LogState.Partition partition : state.partitions()) {
            assertEquals(Math.min(7, simulated.decisions(partition.at().partition()) - 1), partition.at().offset());
        }
    }

    @Test
    void aLogWhoseBeginningWasDeletedHasNoState() {
        SimulatedLog simulated = SimulatedLog.of(14);
        MemoryLog cut = new MemoryLog().with(SimulatedLog.TOPICS.decisions(), List.of(new LogEntry.Passed(7, 8)));
        StateReader reader = new StateReader(cut, SimulatedLog.TOPICS, simulated.codec, 1);

        refused(reader, new Moment.End(), "begins at offset 7", "--snapshot");
    }

    @Test
    void momentsAreReadAsOtherCommandsPrintThem() {
        assertEquals(new Moment.End(), Moment.parse("--at", "end", SimulatedLog.TOPICS));
        assertEquals(new Moment.Decision(1, 12), Moment.parse("--at", "1:12", SimulatedLog.TOPICS));
        assertEquals(new Moment.Decision(1, 12), Moment.parse("--at", "tierlog.decisions-1@12", SimulatedLog.TOPICS));
        assertEquals(new Moment.Input(1, 12), Moment.parse("--at", "tierlog.events-1@12", SimulatedLog.TOPICS));
        assertEquals(new Moment.Time(1_000), Moment.parse("--at", "1970-01-01T01:00:01+01:00", SimulatedLog.TOPICS));
        for (String wrong : List.of("", "yesterday", "2026-01-31T12:00:00", "-1", "1:-2", "tierlog.commands-0@1", "1:2:3")) {
            assertThrows(AuditException.class, () -> Moment.parse("--at", wrong, SimulatedLog.TOPICS), wrong);
        }
    }
}
