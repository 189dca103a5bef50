/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.history.History;
import io.tierlog.ops.audit.history.HistoryReader;
import io.tierlog.ops.audit.history.Subject;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The histories of two blocks, of an operation and of a migration in a log that a test wrote, line by line. */
class HistoryReaderTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final String NODE = "node/a";
    private static final String MIGRATION = "migration/m-1";
    private static final byte[] FIRST = HexFormat.of().parseHex("00000000000000aa");
    private static final byte[] SECOND = HexFormat.of().parseHex("00000000000000bb");

    private final Codec codec = new Codec(Schemas.bundled());
    private final List<LogEntry> events = new ArrayList<>();
    private final List<LogEntry> decisions = new ArrayList<>();

    private static Envelope envelope(String aggregate, long cause) {
        return new Envelope(aggregate, "controller/0", 0, 1, 0, 5, aggregate + "@" + cause, null, null, null);
    }

    private static Block block(byte[] key) {
        return new Block(0, Bytes.copyOf(key), Bytes.copyOf(new byte[0]));
    }

    private void event(WireRecord value) {
        events.add(new LogEntry.Data(events.size(), 100L * events.size(), null, codec.encode(TOPICS.events(), value)));
    }

    private void decision(WireRecord value) {
        decisions.add(new LogEntry.Data(decisions.size(), 1_000L + 10L * decisions.size(), null, codec.encode(TOPICS.decisions(), value)));
    }

    private History read(Subject subject) throws InterruptedException {
        return reader(log()).read(subject, Stretch.ALL);
    }

    private HistoryReader reader(MemoryLog log) {
        return new HistoryReader(log, TOPICS, codec, 1);
    }

    /** Both blocks come to the host; a watermark drops the first, and the second goes with its node. */
    private MemoryLog log() {
        for (int i = 0; i < 4; i++) {
            event(new Tick(new Envelope("clock/0", "clock/0", 0, i + 1, 0, 5, null, null, null, null), 5));
        }
        decision(new TimeAdvanced(envelope("clock/0", 0), 5, 1));
        decision(new BlocksPlaced(envelope(NODE, 0), Tier.HOST, "chat",
                List.of(new PagedBlock(block(FIRST), 7, 3, 0), new PagedBlock(block(SECOND), 8, 4, 0)), null, Tier.UNKNOWN, 0));
        decision(new WaterLevelCrossed(envelope(NODE, 1), Tier.HOST, "", 9, 1, 10, 0.9, 4));
        decision(new OperationIssued(envelope(NODE, 1), "node/a@1.0", OperationKind.DROP, Tier.HOST, Tier.UNKNOWN, null, 0, "chat",
                Bytes.copyOf(new byte[0]), List.of(block(FIRST)), 1, 9, null, null, Tier.DISK));
        decision(new OperationEnded(envelope(NODE, 2), "node/a@1.0", OperationKind.DROP, OperationState.DONE, OperationReason.COMPLETED, 1, 0, 0));
        decision(new BlocksRemoved(envelope(NODE, 2), Tier.HOST, "chat", RemovalReason.WATER_LEVEL, List.of(block(FIRST)), 0));
        decision(new NodeEnded(envelope(NODE, 3), 1, RemovalReason.NODE_LOST));
        return new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions);
    }

    private static List<String> lines(History history) {
        return history.entries().stream()
                .map(e -> e.timeMs() + " " + e.offset() + " " + e.type() + " <- " + e.cause() + (e.departure() ? " leaves" : "")
                        + e.level().map(level -> ": " + level).orElse(""))
                .toList();
    }

    @Test
    void aBlockThatWasDroppedSaysWhichWatermarkDroppedIt() throws Exception {
        History history = read(new Subject.Block("chat", FIRST));
        String level = "HOST had 9 of 10 blocks in use, 1 of them leaving, when it reached its high mark of 0.9 (policy version 4)";

        assertEquals(List.of(
                "1010 1 BlocksPlaced <- Tick at 0",
                "1030 3 OperationIssued <- Tick at 1 leaves: " + level,
                "1050 5 BlocksRemoved <- Tick at 2 leaves: " + level), lines(history));
        assertEquals(List.of(), history.placements());
        assertEquals(List.of("tier=HOST", "namespace=chat", "blocks=2 of them", "heldAlso=UNKNOWN", "touch=0", "block.index=0",
                "block.key=00000000000000aa", "block.page=7", "block.generation=3", "block.crc32c=0"), history.entries().getFirst().fields());
    }

    /** The levels of the host and of two groups on it are crossed; the block is of one group. What a route drops left by no mark. */
    @Test
    void aLevelIsThatOfTheTierOrOfTheGroupOfTheBlock() throws Exception {
        GroupPolicy mine = new GroupPolicy("mine", List.of("chat"), null, List.of(), List.of());
        GroupPolicy other = new GroupPolicy("other", List.of("*"), null, List.of(), List.of());
        MigrationPolicy groups = new MigrationPolicy(1, MarkClearing.ON_WRITE, 1, 1, List.of(mine, other));
        event(new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null, null), 5));
        decision(new PolicyAdopted(envelope("clock/0", 0), 4,
                new Policy(1, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 1, 1, 1, 1, true, groups, null)));
        decision(new WaterLevelCrossed(envelope(NODE, 0), Tier.HOST, "other", 5, 0, 5, 0.9, 4));
        decision(new WaterLevelCrossed(envelope(NODE, 0), Tier.HOST, "mine", 4, 0, 5, 0.8, 4));
        MoveCause route = new MoveCause(MoveTrigger.ROUTE, null, "mine", 0.7, 0.5, 4, Retention.DELETE_SOURCE);
        decision(new OperationIssued(envelope(NODE, 0), "node/a@0.0", OperationKind.DROP, Tier.HOST, Tier.UNKNOWN, null, 0, "chat",
                Bytes.copyOf(new byte[0]), List.of(block(FIRST)), 1, 9, route, null, Tier.DISK));
        List<History.Entry> left = read(new Subject.Block("chat", FIRST)).entries().stream().filter(History.Entry::departure).toList();

        String ofGroup = "HOST group mine had 4 of 5 blocks in use, 0 of them leaving, when it reached its high mark of 0.8 (policy version 4)";
        String ofTier = "HOST had 9 of 10 blocks in use, 1 of them leaving, when it reached its high mark of 0.9 (policy version 4)";
        String ofRoute = "route of group mine: HOST at 0.7, threshold 0.5 (policy version 4)";
        assertEquals(List.of("node/a@0.0: " + ofRoute, "node/a@1.0: " + ofTier + "; " + ofGroup),
                left.stream().filter(entry -> entry.type().equals("OperationIssued"))
                        .map(entry -> entry.fields().getFirst().substring("operation=".length()) + ": " + entry.level().orElse("")).toList());
    }

    /** Copies stay, so no mark shows beside them: their own cause does, whatever is asked about. */
    @Test
    void aMoveSaysWhatLedToIt() throws Exception {
        event(new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null, null), 5));
        copy(new MoveCause(MoveTrigger.ROUTE, null, "G", 0.81666, 0.7, 4, Retention.KEEP_BOTH));
        copy(new MoveCause(MoveTrigger.WATER_LEVEL, null, "", 0.9, 0.9, 4, Retention.DELETE_SOURCE));
        copy(new MoveCause(MoveTrigger.OPERATOR, "m-1", "G", 0, 0, 5, Retention.KEEP_BOTH));
        copy(new MoveCause(MoveTrigger.DRAIN, null, "G", 0, 0, 6, Retention.KEEP_BOTH));
        copy(null);
        List<String> causes = List.of("route of group G: HOST at 0.817, threshold 0.7 (policy version 4)",
                "high mark: HOST at 0.9, mark 0.9 (policy version 4)", "migration m-1 of an operator (policy version 5)",
                "drain (policy version 6)", "");
        MemoryLog log = new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions);
        for (Subject subject : List.of(new Subject.Block("chat", FIRST), new Subject.Tenant("chat", true))) {
            List<History.Entry> found = reader(log).read(subject, Stretch.ALL).entries();
            assertEquals(causes, found.stream().map(entry -> entry.level().orElse("")).toList(), subject.toString());
        }
    }

    private void copy(@Nullable MoveCause cause) {
        copy(0, cause);
    }

    private void copy(long event, @Nullable MoveCause cause) {
        decision(new OperationIssued(envelope(NODE, event), "node/a@0." + decisions.size(), OperationKind.COPY, Tier.HOST, Tier.DISK, null, 0, "chat",
                Bytes.copyOf(new byte[0]), List.of(block(FIRST)), 1, 9, cause, null, Tier.UNKNOWN));
    }

    @Test
    void theEndOfItsNodeEndsABlockOnTheHost() throws Exception {
        History history = read(new Subject.Block("chat", SECOND));

        assertEquals(List.of("1010 1 BlocksPlaced <- Tick at 0", "1060 6 NodeEnded <- Tick at 3 leaves"), lines(history));
        assertEquals(List.of(), history.placements());
    }

    /** What follows the stretch is damaged, which would stop the reading. The block serves at its end, and leaves after it. */
    @Test
    void whatIsAfterAStretchOfOffsetsIsNotRead() throws Exception {
        log();
        for (Moment to : List.of(new Moment.Decision(0, 1), new Moment.Input(0, 0))) {
            int decided = to instanceof Moment.Input ? 3 : 2; // That the decision at 2 answers the event at 1 takes a look at it.
            MemoryLog cut = new MemoryLog().with(TOPICS.events(), torn(events, 1)).with(TOPICS.decisions(), torn(decisions, decided));
            History history = reader(cut).read(new Subject.Block("chat", FIRST), until(to));

            assertEquals(List.of("1010 1 BlocksPlaced <- Tick at 0"), lines(history), to.toString());
            assertEquals(List.of(new History.Location(NODE, "HOST", 7, 3, 1_010)), history.placements(), to.toString());
        }
    }

    private static List<LogEntry> torn(List<LogEntry> entries, int from) {
        List<LogEntry> torn = new ArrayList<>(entries.subList(0, from));
        torn.add(new LogEntry.Damaged(from, from + 5, "torn"));
        return torn;
    }

    private static Stretch until(Moment to) {
        return new Stretch(Optional.empty(), Optional.of(to));
    }

    /** Of 200 decisions that say nothing about the block, each answers its own event; those after the moment are damaged from the 129th on. */
    @Test
    void aStretchToAnEventEndsWithoutARecordOfTheSubject() throws Exception {
        decision(new BlocksPlaced(envelope(NODE, 0), Tier.HOST, "chat", List.of(new PagedBlock(block(FIRST), 7, 3, 0)), null, Tier.UNKNOWN, 0));
        for (int i = 0; i < 200; i++) {
            event(new Tick(new Envelope("clock/0", "clock/0", 0, i + 1, 0, 5, null, null, null, null), 5));
            decision(new TimeAdvanced(envelope("clock/0", i), 5, i + 1));
        }
        MemoryLog log = new MemoryLog().with(TOPICS.events(), torn(events, 101)).with(TOPICS.decisions(), torn(decisions, 129));
        assertEquals(1, reader(log).read(new Subject.Block("chat", FIRST), until(new Moment.Input(0, 100))).entries().size());
    }

    /** Senders' clocks differ by less than an hour: what bears a time an hour after the stretch ends it. */
    @Test
    void aStretchToATimeEndsAnHourAfterIt() throws Exception {
        log();
        long hour = Moment.CLOCKS_DIFFER_MS;
        List<LogEntry> late = new ArrayList<>(decisions);
        LogEntry.Data left = (LogEntry.Data) decisions.get(5);
        late.set(4, at(decisions.get(4), 1_050 + hour)); // A controller with another clock decided it.
        late.add(at(new LogEntry.Data(7, 0, null, left.value()), 1_051 + hour));
        late.add(new LogEntry.Damaged(8, 9, "torn"));
        List<LogEntry> inputs = new ArrayList<>(events);
        inputs.add(at(new LogEntry.Data(4, 0, null, ((LogEntry.Data) events.getFirst()).value()), 1_051 + hour));
        inputs.add(new LogEntry.Damaged(5, 6, "torn"));
        MemoryLog log = new MemoryLog().with(TOPICS.events(), inputs).with(TOPICS.decisions(), late);
        History history = reader(log).read(new Subject.Block("chat", FIRST), until(new Moment.Time(1_050)));

        assertEquals(List.of(1L, 3L, 5L), history.entries().stream().map(History.Entry::offset).toList());
    }

    /** Without the first three decisions and the first event: a stretch may begin where the log does, and not before. */
    @Test
    void anOffsetThatWasTrimmedIsRefused() throws Exception {
        log();
        MemoryLog trimmed = new MemoryLog().with(TOPICS.events(), events.subList(1, 4)).with(TOPICS.decisions(), decisions.subList(3, 7));
        Subject block = new Subject.Block("chat", FIRST);
        for (Moment first : List.of(new Moment.Decision(0, 3), new Moment.Input(0, 1))) {
            History history = reader(trimmed).read(block, new Stretch(Optional.of(first), Optional.empty()));
            assertEquals(List.of(3L, 5L), history.entries().stream().map(History.Entry::offset).toList(), first.toString());
        }
        assertTrimmed(trimmed, new Moment.Decision(0, 2), "there is no offset 2 in partition 0 of tierlog.decisions: it begins at 3", 3);
        assertTrimmed(trimmed, new Moment.Input(0, 0), "there is no offset 0 in partition 0 of tierlog.events: it begins at 1", 1);
    }

    private void assertTrimmed(MemoryLog log, Moment moment, String message, int begin) {
        for (Stretch stretch : List.of(new Stretch(Optional.of(moment), Optional.empty()), until(moment))) {
            AuditException refused = assertThrows(AuditException.class, () -> reader(log).read(new Subject.Block("chat", FIRST), stretch));
            assertEquals(message + ", what was before was trimmed", refused.getMessage());
            assertTrue(refused.hint().startsWith("write an offset from " + begin + " on"), refused.hint());
        }
    }

    private static LogEntry at(LogEntry entry, long timeMs) {
        return new LogEntry.Data(entry.offset(), timeMs, null, ((LogEntry.Data) entry).value());
    }

    @Test
    void aBlockThatStaysHasItsPlacement() throws Exception {
        event(new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null, null), 5));
        decision(new BlocksPlaced(envelope("store/1", 0), Tier.STORE, "chat", List.of(new PagedBlock(block(FIRST), 7, 3, 0)), null, Tier.UNKNOWN, 0));

        assertEquals(List.of(new History.Location("store/1", "STORE", 7, 3, 1_000)), read(new Subject.Block("chat", FIRST)).placements());
    }

    @Test
    void theSameKeyInAnotherNamespaceIsAnotherBlock() throws Exception {
        History history = read(new Subject.Block("other", FIRST));

        assertEquals(List.of(), history.entries());
        assertEquals(List.of("chat 00000000000000aa"), history.similar());
    }

    @Test
    void anOperationHasItsOrderAndItsEnd() throws Exception {
        assertEquals(List.of("1030 3 OperationIssued <- Tick at 1", "1040 4 OperationEnded <- Tick at 2"),
                lines(read(new Subject.Operation("node/a@1.0"))));
    }

    /** It is opened, assigned to node a, which copies a block for it, is recalled and reports, and it ends. Other operations and m-10 are not it. */
    @Test
    void aMigrationHasItsRequestsItsOperationsAndItsEnd() throws Exception {
        MigrationOrder order = new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.KEEP_BOTH,
                List.of(new BlockName("chat", Bytes.copyOf(FIRST))), null, null, false);
        MigrationAnswer copies = new MigrationAnswer(order.blocks(), List.of(), List.of(), List.of());
        event(new MigrationRequested(envelope(MIGRATION, 0), List.of("a"), order));
        decision(new MigrationOpened(envelope(MIGRATION, 0), List.of("a"), order, 0));
        decision(new MigrationOpened(envelope("migration/m-10", 0), List.of("a"), order, 0));
        event(new MigrationAssigned(new Envelope(NODE, MIGRATION, 0, 1, 0, 3, null, null, null, null), order, 0));
        event(new MigrationAssigned(new Envelope(NODE, "migration/m-10", 0, 1, 0, 4, null, null, null, null), order, 0));
        decision(new MigrationTaken(envelope(NODE, 1), "m-1", order, copies, 0));
        copy(1, new MoveCause(MoveTrigger.OPERATOR, "m-1", "", 0, 0, 4, Retention.KEEP_BOTH));
        copy(2, new MoveCause(MoveTrigger.OPERATOR, "m-10", "", 0, 0, 4, Retention.KEEP_BOTH));
        event(new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null, null), 5));
        decision(new OperationEnded(envelope(NODE, 3), "node/a@0.3", OperationKind.COPY, OperationState.DONE, OperationReason.COMPLETED, 1, 0, 8));
        decision(new OperationEnded(envelope(NODE, 3), "node/a@0.4", OperationKind.COPY, OperationState.DONE, OperationReason.COMPLETED, 1, 0, 8));
        MigrationProgress done = new MigrationProgress(0, 1, 0, 8);
        event(new MigrationRecalled(new Envelope(NODE, MIGRATION, 0, 2, 0, 6, null, null, null, null), 0));
        event(new MigrationReported(envelope(MIGRATION, 1), "a", null, done, 0));
        decision(new MigrationNoted(envelope(MIGRATION, 5), "a", 2, null, done));
        decision(new MigrationChanged(envelope(MIGRATION, 5), MigrationState.RUNNING, MigrationState.DONE));
        MemoryLog log = new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions);

        assertEquals(List.of(
                "0 0 MigrationRequested <- ",
                "100 1 MigrationAssigned <- ",
                "400 4 MigrationRecalled <- ",
                "500 5 MigrationReported <- ",
                "1000 0 MigrationOpened <- MigrationRequested at 0",
                "1020 2 MigrationTaken <- MigrationAssigned at 1",
                "1030 3 OperationIssued <- MigrationAssigned at 1: migration m-1 of an operator (policy version 4)",
                "1050 5 OperationEnded <- Tick at 3",
                "1070 7 MigrationNoted <- MigrationReported at 5",
                "1080 8 MigrationChanged <- MigrationReported at 5"), lines(reader(log).read(new Subject.Migration("m-1"), Stretch.ALL)));
        assertEquals(List.of("m-1", "m-10"), reader(log).read(new Subject.Migration("m-2"), Stretch.ALL).similar());
    }

    @Test
    void anUnknownOperationNamesSimilarOnes() throws Exception {
        History history = read(new Subject.Operation("node/a@1"));

        assertEquals(List.of(), history.entries());
        assertEquals(List.of("node/a@1.0"), history.similar());
    }
}
