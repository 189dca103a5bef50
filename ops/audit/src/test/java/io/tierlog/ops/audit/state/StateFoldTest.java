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
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.audit.Moment;
import io.tierlog.schemas.state.NamespaceRow;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random histories of the simulator, with crashes and aborted transactions: the tables at an offset are those that its controller had then. */
class StateFoldTest {
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
            try (StateFold fold = new StateFold(new StateFold.Job(log, SimulatedLog.TOPICS, simulated.codec, p, new LongAdder()))) {
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
        }
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
        heap.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 1, List.of()));
        ChangedTables changed = new ChangedTables(heap);
        changed.by(new StateDiff.By(7, "BlocksPlaced"));
        changed.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 2, List.of()));
        changed.put(Rows.NAMESPACES, other, new NamespaceRow("other", 2, List.of()));

        assertEquals(List.of(new StateDiff.Field("incarnation", "1", "2")), changed.changes(0).getFirst().fields());
        assertEquals(List.of("chat", "other"), changed.changes(0).stream().map(StateDiff.Change::row).toList());

        changed.put(Rows.NAMESPACES, chat, new NamespaceRow("chat", 1, List.of()));
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

        refused(reader, new Moment.End(), "begins at offset 7", "nothing was deleted from");
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
