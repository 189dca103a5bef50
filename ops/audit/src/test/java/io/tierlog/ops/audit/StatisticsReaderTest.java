/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogDetail;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.Percentiles;
import io.tierlog.ops.audit.stats.StatisticsReader;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** A log of one partition in memory, read into statistics; a real broker's log is read in the tests of the command. */
class StatisticsReaderTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final Envelope NODE = new Envelope("node/a", "controller/0", 0, 1, 0, 5, null, null, null, null);

    private final Codec codec = new Codec(Schemas.bundled());

    private LogEntry.Data record(String topic, long offset, long atMs, WireRecord value) {
        return new LogEntry.Data(offset, atMs, null, codec.encode(topic, value));
    }

    private MemoryLog log() {
        Tick tick = new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null), 5);
        TimeAdvanced advanced = new TimeAdvanced(new Envelope("clock/0", "controller/0", 0, 1, 0, 5, null, null, null), 5, 1);
        return new MemoryLog()
                .with(TOPICS.events(), List.of(record(TOPICS.events(), 0, 100, tick), new LogEntry.Passed(1, 2),
                        new LogEntry.Data(3, 300, null, "not an event".getBytes(StandardCharsets.UTF_8)), new LogEntry.Damaged(4, 5, "torn")))
                .with(TOPICS.commands(), List.of())
                .with(TOPICS.decisions(), List.of(record(TOPICS.decisions(), 0, 200, advanced)));
    }

    /** Four events: a tick, one that cannot be decoded, and two in a damaged batch; what was aborted does not count. */
    @Test
    void damagedAndUndecodableRecordsCountAsUnreadable() throws Exception {
        LogSummary.Records records = new StatisticsReader(log(), TOPICS, codec, 1).read().records();

        assertEquals(4, records.events());
        assertEquals(1, records.facts());
        assertEquals(0, records.commands());
        assertEquals(3, records.unreadable());
        assertEquals(100, records.firstMs());
        assertEquals(200, records.lastMs());
    }

    /**
     * The stretch begins at 150. Before it: a policy with a group, an agent whose host blocks have 100 bytes, two blocks on the host, a crossed
     * watermark, and a request whose prompt has three blocks: one on the host, one that a fetch brings from the disk, one that is computed. In it:
     * the fetch ends, the request is loaded, prefilled and finished, one block leaves, and the level is relieved. An operation that was issued and
     * ended before does not count, nor does a request that finished before.
     */
    @Test
    void aStretchKnowsWhatWasBeforeIt() throws Exception {
        List<LogEntry> events = new ArrayList<>();
        List<LogEntry> decisions = new ArrayList<>();
        BiConsumer<Long, WireRecord> event = (at, value) -> events.add(record(TOPICS.events(), events.size(), at, value));
        BiConsumer<Long, WireRecord> decision = (at, value) -> decisions.add(record(TOPICS.decisions(), decisions.size(), at, value));
        MigrationPolicy groups = new MigrationPolicy(1, MarkClearing.ON_WRITE, 1, 1, List.of(new GroupPolicy("g", List.of("chat"), null, List.of(),
                List.of())));
        decision.accept(90L, new PolicyAdopted(NODE, 2, new Policy(1, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 1, 1, 1, 1, true, groups,
                null)));
        decision.accept(91L, new AgentAccepted(NODE, "a", "p", 1, List.of(new TierCapacity(Tier.HOST, 9, 100)), Bytes.EMPTY, Bytes.EMPTY, 0,
                Policies.INITIAL, null, false));
        decision.accept(92L, new BlocksPlaced(NODE, Tier.HOST, "chat",
                List.of(new PagedBlock(block(0), 0, 1, 0), new PagedBlock(block(9), 1, 1, 0)), null, Tier.UNKNOWN, 1));
        decision.accept(93L, new WaterLevelCrossed(NODE, Tier.HOST, "", 2, 0, 9, 0.2, 1));
        decision.accept(94L, issued("before", 0));
        decision.accept(95L, ended("before"));
        decision.accept(96L, new RequestAdmitted(NODE, "q", 1, "chat", 1, 1, 0, 0, false, null));
        decision.accept(97L, new RequestTransitioned(NODE, "q", 1, RequestState.SUBMITTED, RequestState.FINISHED, RequestReason.COMPLETED));
        event.accept(100L, new RequestSubmitted(NODE, "r", 1, "chat", List.of(block(0).key(), block(1).key(), block(2).key()), 49, 16, 0, List.of(0),
                List.of(1), 0, 0, true, false, false, List.of(), null, null));
        decision.accept(101L, new RequestAdmitted(NODE, "r", 1, "chat", 3, 3, 0, 1, false, null));
        decision.accept(102L, issued("fetch", 1));

        event.accept(150L, new PrefetchDone(NODE, "fetch", null, "chat", List.of(arrived(1, Tier.DISK)), 100, 1));
        decision.accept(152L, ended("fetch"));
        event.accept(160L, new LoadBackDone(NODE, "l", "r", 1, "chat", List.of(arrived(0, Tier.HOST), arrived(1, Tier.HOST)), 200, 1));
        event.accept(170L, new RequestPrefilled(NODE, "r", 1, 0, 2, 2));
        decision.accept(180L, new RequestTransitioned(NODE, "r", 1, RequestState.SUBMITTED, RequestState.FINISHED, RequestReason.COMPLETED));
        decision.accept(190L, new BlocksRemoved(NODE, Tier.HOST, "chat", RemovalReason.WATER_LEVEL, List.of(block(9)), 0));
        decision.accept(193L, new WaterLevelRelieved(NODE, Tier.HOST, "", 1, 0, 9, 0.1, 1));
        MemoryLog log = new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions).with(TOPICS.commands(), List.of());
        LogDetail detail = new LogDetail(0);
        LogSummary found = new StatisticsReader(log, TOPICS, codec, 1)
                .read(new Stretch(Optional.of(new Moment.Time(150)), Optional.empty()), Optional.of(detail));

        assertEquals(0, found.operations().breaches());
        assertEquals(List.of(1L, 0L, 1L, 0L), List.of(found.operations().unfinishedBefore(), found.operations().started(),
                found.operations().ended(OperationState.DONE), found.operations().unfinished()));
        assertEquals(new Percentiles(1, 50, 50, 50, 50), found.operations().durations().get(OperationKind.PREFETCH));
        HitCounts hits = new HitCounts(1, 0, 1, 1, 0, 0, 2);
        assertEquals(Map.of("chat", hits), found.requests().byNamespace());
        assertEquals(Map.of("g", hits), found.requests().byGroup());
        assertEquals(0, found.requests().submitted());
        assertEquals(Map.of(RequestState.FINISHED, 1L), found.requests().states());
        assertEquals(new Percentiles(1, 50, 50, 50, 50), found.requests().submitToReady());
        assertEquals(Map.of("last_block", 1L, "unknown", 1L), found.requests().misses());
        assertEquals(Map.of(new LogSummary.Watermark(NODE.aggregate(), Tier.HOST, ""), new LogSummary.TimeAbove(0, 43, 43)),
                found.watermarks().above());
        LogSummary.Place host = new LogSummary.Place("chat", NODE.aggregate(), Tier.HOST);
        assertEquals(Map.of(host, 2L), found.placements().most());
        assertEquals(Map.of(host, 1L), found.placements().end());
        assertEquals(List.of(3L, 4L, 150L, 193L), List.of(found.records().events(), found.records().facts(), found.records().firstMs(),
                found.records().lastMs()));
        assertEquals(List.of(new LogDetail.Prefix("chat", block(0).key().hex(), 1, 2, 200)), detail.summary().topPrefixes());
        assertEquals(0, detail.summary().firstUses());
    }

    /** Events at 100, 160 (its sender's clock is behind) and two hours later; then damaged ones, which would count. */
    @Test
    void whatIsLongAfterAStretchIsNotRead() throws Exception {
        Tick tick = new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null), 5);
        MemoryLog log = new MemoryLog().with(TOPICS.decisions(), List.of()).with(TOPICS.commands(), List.of())
                .with(TOPICS.events(), List.of(record(TOPICS.events(), 0, 100, tick), record(TOPICS.events(), 1, 200 + Moment.CLOCKS_DIFFER_MS, tick),
                        record(TOPICS.events(), 2, 160, tick), record(TOPICS.events(), 3, 201 + Moment.CLOCKS_DIFFER_MS, tick),
                        new LogEntry.Damaged(4, 5, "torn")));
        LogSummary.Records records = new StatisticsReader(log, TOPICS, codec, 1)
                .read(new Stretch(Optional.empty(), Optional.of(new Moment.Time(200))), Optional.empty()).records();

        assertEquals(List.of(2L, 0L), List.of(records.events(), records.unreadable()));
    }

    private static Block block(int index) {
        return new Block(index, Bytes.copyOf(new byte[] {(byte) index, 0, 0, 0, 0, 0, 0, 0}), Bytes.EMPTY);
    }

    private static BlockResult arrived(int index, Tier source) {
        return new BlockResult(block(index), BlockStatus.ARRIVED, OperationReason.COMPLETED, index, 1, 7, source);
    }

    private static OperationIssued issued(String operation, int index) {
        return new OperationIssued(NODE, operation, OperationKind.PREFETCH, Tier.DISK, Tier.HOST, "r", 1, "chat", Bytes.EMPTY, List.of(block(index)),
                1, 9, null, null, Tier.UNKNOWN);
    }

    private static OperationEnded ended(String operation) {
        return new OperationEnded(NODE, operation, OperationKind.PREFETCH, OperationState.DONE, OperationReason.COMPLETED, 1, 0, 100);
    }

    @Test
    void aFailingSourceIsAnError() {
        AuditException failed = assertThrows(AuditException.class, () -> new StatisticsReader(log().broken(), TOPICS, codec, 1).read());

        assertTrue(failed.getMessage().contains("is broken"), failed.getMessage());
    }

    @Test
    void aMissingTopicIsAnError() {
        MemoryLog events = new MemoryLog().with(TOPICS.events(), List.of());

        assertThrows(AuditException.class, () -> new StatisticsReader(events, TOPICS, codec, 1).read());
    }
}
