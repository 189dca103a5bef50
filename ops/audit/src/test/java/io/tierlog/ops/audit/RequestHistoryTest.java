/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.history.History;
import io.tierlog.ops.audit.history.HistoryReader;
import io.tierlog.ops.audit.history.Subject;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.EngineLeft;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A request of a prompt of 50 tokens in blocks of 16: three whole blocks, all of which may be reused. The host has block 0, the store has block 1,
 * block 2 left the host before. A second request later goes on after block 1 with another block.
 */
class RequestHistoryTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final String NODE = "node/a";
    private static final String FETCH = "node/a@1.0";
    private static final Bytes ZERO = Bytes.ofHex("00000000000000a0");
    private static final Bytes ONE = Bytes.ofHex("00000000000000a1");
    private static final Bytes TWO = Bytes.ofHex("00000000000000a2");
    private static final Bytes OTHER = Bytes.ofHex("00000000000000b2");

    private final Codec codec = new Codec(Schemas.bundled());
    private final List<LogEntry> events = new ArrayList<>();
    private final List<LogEntry> decisions = new ArrayList<>();

    private static Envelope envelope(String aggregate, long cause) {
        return new Envelope(aggregate, "controller/0", 0, 1, 0, 5, cause < 0 ? null : aggregate + "@" + cause, null, null, null);
    }

    private static Block block(int index, Bytes key) {
        return new Block(index, key, Bytes.EMPTY);
    }

    private static BlockResult arrived(int index, Bytes key) {
        return new BlockResult(block(index, key), BlockStatus.ARRIVED, OperationReason.COMPLETED, index, 1, 0, Tier.STORE);
    }

    private void event(long timeMs, WireRecord value) {
        events.add(new LogEntry.Data(events.size(), timeMs, null, codec.encode(TOPICS.events(), value)));
    }

    private void decision(long timeMs, WireRecord value) {
        decisions.add(new LogEntry.Data(decisions.size(), timeMs, null, codec.encode(TOPICS.decisions(), value)));
    }

    private static RequestSubmitted submitted(String request, List<Bytes> keys, List<Integer> host, int storeBlocks) {
        String trace = request.equals("r-1") ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=7" : null;
        Envelope envelope = new Envelope(NODE, "agent/a/p", 1, 1, 0, 5, null, trace, null, null);
        return new RequestSubmitted(envelope, request, 1, "m/chat", keys, 50, 16, 0, host, List.of(), 1, storeBlocks, true, false, false,
                List.of(), null, null);
    }

    @BeforeEach
    void writeLog() {
        event(900, new Tick(envelope("clock/0", -1), 5));
        decision(1_000, new BlocksPlaced(envelope(NODE, 0), Tier.HOST, "m/chat",
                List.of(new PagedBlock(block(0, ZERO), 7, 3, 0), new PagedBlock(block(2, TWO), 8, 3, 0)), null, Tier.UNKNOWN, 0));
        decision(1_010, new BlocksRemoved(envelope(NODE, 0), Tier.HOST, "m/chat", RemovalReason.WATER_LEVEL, List.of(block(2, TWO)), 0));
        event(2_000, submitted("r-1", List.of(ZERO, ONE, TWO), List.of(0), 1));
        decision(2_004, new RequestAdmitted(envelope(NODE, 1), "r-1", 1, "m/chat", 3, 3, 0, 1, false, null));
        decision(2_005, new OperationIssued(envelope(NODE, 1), FETCH, OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r-1", 1, "m/chat", ZERO,
                List.of(block(1, ONE)), 1, 9, null, null, Tier.UNKNOWN));
        event(2_030, new PrefetchDone(envelope(NODE, -1), FETCH, null, "m/chat", List.of(arrived(1, ONE)), 4_096, 20_000));
        event(2_040, new LoadBackDone(envelope(NODE, -1), "a/load/1/1", "r-1", 1, "m/chat", List.of(arrived(0, ZERO), arrived(1, ONE)), 8_192,
                3_000));
        event(2_070, new RequestPrefilled(envelope(NODE, -1), "r-1", 1, 0, 2, 2));
        event(2_200, new RequestFinished(envelope(NODE, -1), "r-1", 1, RequestReason.COMPLETED, 40));
        decision(2_210, new RequestTransitioned(envelope(NODE, 5), "r-1", 1, RequestState.DECODING, RequestState.FINISHED, RequestReason.COMPLETED));
        decision(2_211, new EngineLeft(envelope(NODE, 5), "engine"));
        event(3_000, submitted("r-2", List.of(ZERO, ONE, OTHER), List.of(0, 1), 0));
    }

    private History read(Subject subject, Stretch stretch) throws InterruptedException {
        MemoryLog log = new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions);
        return new HistoryReader(log, TOPICS, codec, 1).read(subject, stretch);
    }

    private History read(Subject subject) throws InterruptedException {
        return read(subject, Stretch.ALL);
    }

    @Test
    void aRequestHasItsStepsWithWhatWasWaitedFor() throws Exception {
        History.Attempt attempt = read(new Subject.Request("r-1")).attempts().getFirst();

        assertEquals(List.of(
                "+0 submitted <- -: 3 whole blocks: device 0, host 1, disk 0, store 1; waits",
                "+5 fetch issued <- the controller's decision: 1 blocks, operation node/a@1.0",
                "+25 fetch done <- the fetch: 1 of 1 blocks arrived, 4096 bytes in 20 ms",
                "+10 loaded <- the load to the device: 2 blocks, 8192 bytes in 3 ms",
                "+30 prefilled <- loading and computing: 0 blocks reused on the device, 2 loaded, 2 computed",
                "+130 finished <- decoding: completed, 40 tokens",
                "+10 recorded: finished <- the controller's decision: completed"),
                attempt.steps().stream().map(s -> "+" + s.afterMs() + " " + s.step() + " <- " + s.waitedFor() + ": " + s.detail()).toList());
    }

    @Test
    void aTracedRequestHasItsTraceId() throws Exception {
        assertEquals("0af7651916cd43dd8448eb211c80319c", read(new Subject.Request("r-1")).attempts().getFirst().trace());
        assertEquals("", read(new Subject.Request("r-2")).attempts().getFirst().trace());
    }

    @Test
    void eachBlockOfAPromptSaysWhereItWasAndWhyItWasComputed() throws Exception {
        History.Attempt attempt = read(new Subject.Request("r-1")).attempts().getFirst();

        assertEquals(List.of(
                "0 host loaded; an earlier request at 1970-01-01T00:00:01Z (0:0); ",
                "1 store fetched and loaded; operation node/a@1.0; ",
                "2 nowhere computed; ; it left the host at 1970-01-01T00:00:01.010Z (0:1): water level"),
                attempt.blocks().stream().map(b -> b.index() + " " + b.found() + " " + b.became() + "; " + b.broughtBy() + "; " + b.why()).toList());
    }

    /**
     * Node a is in partition 0, node b, which backed block 1 up, in partition 1, and the store's shard in partition 2. The first object was deleted,
     * the second came with the second backup, and that of the third, which had begun before the request, came after it.
     */
    @Test
    void aBlockOfTheStoreNamesTheBackupOfAnotherNode() throws Exception {
        assertEquals(List.of(0, 1, 2), Stream.of(NODE, "node/b", "store/2").map(aggregate -> Partitions.of(aggregate, 3)).toList());
        List<LogEntry> backups = new ArrayList<>();
        List<LogEntry> reports = new ArrayList<>();
        List<LogEntry> placements = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long timeMs = i == 2 ? 1_900 : 1_100 + 100 * i;
            backups.add(data(TOPICS.decisions(), i, timeMs, new OperationIssued(envelope("node/b", i), "node/b@" + i + ".0", OperationKind.BACK_UP,
                    Tier.HOST, Tier.STORE, null, 0, "m/chat", ONE, List.of(block(1, ONE)), 1, 9, null, null, Tier.UNKNOWN)));
            reports.add(data(TOPICS.events(), i, timeMs + 50, new BlocksStored(envelope("store/2", -1), "b", "m/chat",
                    List.of(new PagedBlock(block(1, ONE), -1, 3, 0)))));
        }
        placements.add(data(TOPICS.decisions(), 0, 1_151, stored(0, 1, ONE)));
        placements.add(data(TOPICS.decisions(), 1, 1_160,
                new BlocksRemoved(envelope("store/2", 0), Tier.STORE, "m/chat", RemovalReason.QUOTA, List.of(block(1, ONE)), 0)));
        placements.add(data(TOPICS.decisions(), 2, 1_251, stored(1, 1, ONE)));
        placements.add(data(TOPICS.decisions(), 3, 2_060, stored(2, 1, ONE)));
        MemoryLog log = new MemoryLog()
                .withPartition(TOPICS.events(), events).withPartition(TOPICS.events(), List.of()).withPartition(TOPICS.events(), reports)
                .withPartition(TOPICS.decisions(), decisions).withPartition(TOPICS.decisions(), backups)
                .withPartition(TOPICS.decisions(), placements);

        assertEquals("operation node/a@1.0; to the store operation node/b@1.0 at 1970-01-01T00:00:01.251Z (2:2)", broughtOne(log));
        backups.clear();
        assertEquals("operation node/a@1.0; to the store node/b at 1970-01-01T00:00:01.251Z (2:2)", broughtOne(log));
        reports.subList(0, 2).clear(); // Trimmed.
        assertEquals("operation node/a@1.0; to the store a backup at 1970-01-01T00:00:01.251Z (2:2)", broughtOne(log));
    }

    /** Who brought block 1 of the first request. */
    private String broughtOne(MemoryLog log) throws InterruptedException {
        History history = new HistoryReader(log, TOPICS, codec, 1).read(new Subject.Request("r-1"), Stretch.ALL);
        return history.attempts().getFirst().blocks().get(1).broughtBy();
    }

    private static BlocksPlaced stored(int cause, int index, Bytes key) {
        return new BlocksPlaced(envelope("store/2", cause), Tier.STORE, "m/chat", List.of(new PagedBlock(block(index, key), -1, 3, 0)), null,
                Tier.UNKNOWN, 0);
    }

    private LogEntry data(String topic, long offset, long timeMs, WireRecord value) {
        return new LogEntry.Data(offset, timeMs, null, codec.encode(topic, value));
    }

    /** The fetch of blocks 0 and 1 is cancelled with one of them on the host; that of block 2 fails. */
    @Test
    void aFetchThatIsCancelledOrFailsHasAStepAndItsBlocks() throws Exception {
        BlockResult cancelled = new BlockResult(block(1, ONE), BlockStatus.FAILED, OperationReason.CANCELLED, -1, 0, 0, Tier.UNKNOWN);
        BlockResult lost = new BlockResult(block(2, TWO), BlockStatus.FAILED, OperationReason.CHECKSUM, -1, 0, 0, Tier.STORE);
        event(4_000, new RequestSubmitted(envelope(NODE, -1), "r-3", 1, "m/chat", List.of(ZERO, ONE, TWO), 50, 16, 0, List.of(), List.of(), 0, 3,
                true, false, false, List.of(), null, null));
        decision(4_001, new OperationIssued(envelope(NODE, 7), "node/a@7.0", OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r-3", 1, "m/chat", ZERO,
                List.of(block(0, ZERO), block(1, ONE)), 1, 9, null, null, Tier.UNKNOWN));
        decision(4_002, new OperationIssued(envelope(NODE, 7), "node/a@7.1", OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r-3", 1, "m/chat", ZERO,
                List.of(block(2, TWO)), 1, 9, null, null, Tier.UNKNOWN));
        event(4_010, new OperationCancelled(envelope(NODE, -1), "node/a@7.0", OperationReason.CANCELLED, "m/chat",
                List.of(arrived(0, ZERO), cancelled)));
        event(4_020, new PrefetchFailed(envelope(NODE, -1), "node/a@7.1", OperationReason.CHECKSUM, "m/chat", List.of(lost)));
        event(4_030, new RequestPrefilled(envelope(NODE, -1), "r-3", 1, 0, 0, 4));
        History.Attempt attempt = read(new Subject.Request("r-3")).attempts().getFirst();

        assertEquals(List.of(
                "fetch cancelled: cancelled, 1 of 2 blocks arrived, operation node/a@7.0",
                "fetch failed: checksum, operation node/a@7.1"),
                attempt.steps().stream().filter(s -> s.waitedFor().equals("the fetch")).map(s -> s.step() + ": " + s.detail()).toList());
        assertEquals(List.of("operation node/a@7.0; ", "; the fetch did not bring it: cancelled", "; the fetch did not bring it: checksum"),
                attempt.blocks().stream().map(b -> b.broughtBy() + "; " + (b.broughtBy().isEmpty() ? b.why() : "")).toList());
    }

    @Test
    void aBlockSaysWhichRequestsFoundItWhere() throws Exception {
        History history = read(new Subject.Block("m/chat", ONE.toArray()));

        assertEquals(List.of("store", "host"), history.entries().stream().filter(entry -> entry.type().equals("RequestSubmitted"))
                .map(entry -> entry.fields().getLast().substring("block.found=".length())).toList());
    }

    /** Two prompts share blocks 0 and 1 and part after them. */
    @Test
    void thePrefixOfABlockHasItsForks() throws Exception {
        assertEquals(List.of("0 a0 x2 forks 0", "1 a1 x2 forks 0", "2 a2 x1 forks 1", "2 b2 x1 forks 1"),
                read(new Subject.Block("m/chat", ONE.toArray())).prefix().stream()
                        .map(b -> b.index() + " " + b.key().substring(14) + " x" + b.requests() + " forks " + b.forks()).toList());
        assertEquals(3, read(new Subject.Block("m/chat", TWO.toArray())).prefix().size());
    }

    @Test
    void aNodeHasItsOwnRecordsAndATenantThoseOfItsNamespaces() throws Exception {
        assertEquals(List.of("EngineLeft"), types(new Subject.Node("a", false)));
        assertEquals(12, read(new Subject.Node("a", true)).entries().size()); // 13 records, one of them a tick
        assertEquals(List.of("BlocksPlaced", "BlocksRemoved", "RequestAdmitted", "OperationIssued"), types(new Subject.Tenant("chat", false)));
        assertEquals(types(new Subject.Tenant("chat", false)), types(new Subject.Tenant("m/chat", false)));
        assertEquals(List.of(), types(new Subject.Tenant("hat", false)));
    }

    private List<String> types(Subject subject) throws InterruptedException {
        return read(subject).entries().stream().map(History.Entry::type).toList();
    }

    @Test
    void aStretchHasOnlyItsRecords() throws Exception {
        Subject all = new Subject.Node("a", true);
        assertEquals(10, read(all, stretch(new Moment.Decision(0, 2), new Moment.End())).entries().size()); // decisions 2 to 5, events 1 to 6
        assertEquals(3, read(all, stretch(new Moment.Input(0, 1), new Moment.Input(0, 1))).entries().size()); // the event and its two decisions
        assertEquals(2, read(all, stretch(new Moment.Time(2_005), new Moment.Time(2_030))).entries().size());
        assertEquals(2, read(all, stretch(new Moment.Decision(0, 0), new Moment.Decision(0, 1))).entries().size());
        assertThrows(AuditException.class, () -> read(all, stretch(new Moment.Decision(0, 6), new Moment.End())));
    }

    private static Stretch stretch(Moment from, Moment to) {
        return new Stretch(Optional.of(from), Optional.of(to));
    }

    @Test
    void anUnknownIdNamesNearOnesTheNearestFirst() throws Exception {
        assertEquals(List.of("r-1"), read(new Subject.Request("r1")).similar());
        assertEquals(List.of("m/chat"), read(new Subject.Tenant("chatt", false)).similar());
        assertEquals(List.of(ZERO.hex(), TWO.hex()), read(new Subject.Block("m/chat", Bytes.ofHex("00000000000000a9").toArray())).similar());
        assertEquals(List.of("m/chat " + ZERO.hex()), read(new Subject.Block("m/cat", ZERO.toArray())).similar());
        assertEquals(List.of(), read(new Subject.Request("something-else")).similar());
    }
}
