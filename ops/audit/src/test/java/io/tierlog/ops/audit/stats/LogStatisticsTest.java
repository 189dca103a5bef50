/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.audit.stats.LogSummary.Eviction;
import io.tierlog.ops.audit.stats.LogSummary.Place;
import io.tierlog.ops.audit.stats.LogSummary.Watermark;
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
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionReply;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Scripted logs of node a. Every expected number is derived in a comment. */
class LogStatisticsTest {
    private static final Envelope NODE = envelope("node/a");
    private static final String M = "m/tenant-0";

    private final LogStatistics statistics = new LogStatistics();

    private static Envelope envelope(String aggregate) {
        return new Envelope(aggregate, "sender", 1, 0, 0, 0, null, null, null);
    }

    // --- requests

    /** A prompt of 81 tokens in blocks of 8: 11 blocks, of which (81 - 1) / 8 = 10 may be reused. */
    private void submit(String request, String namespace, boolean answered, long atMs) {
        statistics.event(new RequestSubmitted(
                NODE, request, 1, namespace, List.of(), 81, 8, 0, List.of(), List.of(), 0, 0, true, answered, false, List.of(), null, null), atMs);
    }

    private void prefetchCommand(String request, String operation, long atMs) {
        statistics.command(new PrefetchBlocks(NODE, new CommandHeader("c", 1), operation, "lease", 1, request, 1, M, Bytes.EMPTY, blocks(1),
                List.of(Tier.DISK), List.of(), null), atMs);
    }

    private void fetched(String operation, long atMs) {
        statistics.event(new PrefetchDone(NODE, operation, "lease", M,
                List.of(result(2, BlockStatus.ARRIVED, Tier.DISK), result(3, BlockStatus.ARRIVED, Tier.DISK),
                        result(4, BlockStatus.ARRIVED, Tier.STORE), result(5, BlockStatus.ARRIVED, Tier.HOST),
                        result(6, BlockStatus.FAILED, Tier.STORE)), 4, 1), atMs);
    }

    private void loaded(String request, int from, int to) {
        statistics.event(new LoadBackDone(NODE, "l", request, 1, M,
                IntStream.range(from, to).mapToObj(i -> result(i, BlockStatus.ARRIVED, Tier.HOST)).toList(), 1, 1), 50);
    }

    private void prefilled(String request, int device, int loaded, int computed) {
        statistics.event(new RequestPrefilled(NODE, request, 1, device, loaded, computed), 60);
    }

    private void went(String request, RequestState from, RequestState to, RequestReason reason) {
        statistics.fact(new RequestTransitioned(NODE, request, 1, from, to, reason), 70);
    }

    /**
     * One request that waits for a fetch. Of 11 blocks: 1 on the device, 5 loaded (index 1 to 5), 5 computed. Of the loaded ones, 2 and 3 were
     * fetched from disk, 4 from the store, 5 from another node's host, and 1 was on the host: 6 hits. Block 6 failed. Of the 5 computed, 1 holds the
     * last token, and 4 are beyond the fetch.
     */
    private void requestWithAFetch() {
        submit("r", M, false, 10);
        statistics.fact(new RequestAdmitted(NODE, "r", 1, M, 10, 10, 1, 1, false, null), 10);
        prefetchCommand("r", "op", 13);
        went("r", RequestState.SUBMITTED, RequestState.PREFETCHING, RequestReason.FETCH_ISSUED);
        fetched("op", 30);
        went("r", RequestState.PREFETCHING, RequestState.PREFILLING, RequestReason.FETCH_ARRIVED);
        loaded("r", 1, 6);
        prefilled("r", 1, 5, 5);
        went("r", RequestState.PREFILLING, RequestState.FINISHED, RequestReason.COMPLETED);
    }

    @Test
    void loadedBlocksCountForTheTierTheyWereFetchedFrom() {
        requestWithAFetch();
        LogSummary.Requests requests = statistics.summary(100).requests();

        HitCounts expected = new HitCounts(1, 1, 1, 2, 1, 1, 5);
        assertEquals(expected, requests.hits());
        assertEquals(Map.of("node/a", expected), requests.byNode());
        assertEquals(Map.of(M, expected), requests.byNamespace());
        assertEquals(6, expected.hits());
        assertEquals(6 / 11.0, expected.ratio());
        assertEquals(Map.of("last_block", 1L, "fetch_arrived", 4L), requests.misses());
        assertEquals(Map.of(RequestState.FINISHED, 1L), requests.states());
        assertEquals(Map.of(RequestReason.COMPLETED, 1L), requests.ends());
        // The command came at 13 and the blocks at 30; the submit was at 10.
        assertEquals(new Percentiles(1, 3, 3, 3, 3), requests.submitToCommand());
        assertEquals(new Percentiles(1, 20, 20, 20, 20), requests.submitToReady());
    }

    /** Topics are read side by side: the command after the fetch, and the fact after the prefill, give the same numbers. */
    @Test
    void whatBelongsTogetherIsJoinedInEitherOrder() {
        prefetchCommand("r", "op", 13);
        submit("r", M, false, 10);
        fetched("op", 30);
        loaded("r", 1, 6);
        prefilled("r", 1, 5, 5);
        statistics.fact(new RequestAdmitted(NODE, "r", 1, M, 10, 10, 1, 1, false, null), 10);
        went("r", RequestState.SUBMITTED, RequestState.PREFETCHING, RequestReason.FETCH_ISSUED);
        went("r", RequestState.PREFETCHING, RequestState.PREFILLING, RequestReason.FETCH_ARRIVED);
        went("r", RequestState.PREFILLING, RequestState.FINISHED, RequestReason.COMPLETED);
        LogSummary.Requests joined = statistics.summary(100).requests();

        LogStatisticsTest inOrder = new LogStatisticsTest();
        inOrder.requestWithAFetch();
        assertEquals(inOrder.statistics.summary(100).requests(), joined);
    }

    /** The wait ran out, the engine loaded what was there and ended the request; the rest of the fetch came later. */
    @Test
    void aFetchThatEndsAfterItsRequestNamesTheTiersAllTheSame() {
        submit("r", M, false, 10);
        prefetchCommand("r", "op", 13);
        loaded("r", 1, 6);
        prefilled("r", 1, 5, 5);
        went("r", RequestState.PREFETCHING, RequestState.PREFILLING, RequestReason.WAIT_EXPIRED);
        went("r", RequestState.PREFILLING, RequestState.FINISHED, RequestReason.COMPLETED);
        fetched("op", 30);

        assertEquals(new HitCounts(1, 1, 1, 2, 1, 1, 5), statistics.summary(100).requests().hits());
    }

    /** Blocks 1 on the host, 2 on disk, 3 and 4 in the store at the submit; another request brings 2 to 4 before this one's fetch begins. */
    @Test
    void whatAnotherRequestBroughtMeanwhileCountsForTheTierItWasOn() {
        statistics.event(new RequestSubmitted(
                NODE, "r", 1, M, List.of(), 81, 8, 0, List.of(1), List.of(2), 3, 2, true, false, false, List.of(), null, null), 10);
        prefetchCommand("r", "op", 13);
        statistics.event(new PrefetchDone(NODE, "op", "lease", M, List.of(result(3, BlockStatus.ALREADY_THERE, Tier.UNKNOWN)), 0, 1), 30);
        loaded("r", 1, 6);
        prefilled("r", 1, 5, 5);

        assertEquals(new HitCounts(1, 1, 2, 1, 2, 0, 5), statistics.summary(100).requests().hits());
    }

    /** Of two requests one is answered at once and one waits in vain: 5 ms until the command, which resumes it. 11 blocks each are computed. */
    @Test
    void requestsWithoutAFetchMissForTheirReason() {
        submit("now", M, true, 10);
        went("now", RequestState.SUBMITTED, RequestState.PREFILLING, RequestReason.ANSWERED_AT_ONCE);
        prefilled("now", 0, 0, 11);
        submit("later", "other", false, 10);
        statistics.command(new ResumeRequest(NODE, new CommandHeader("c", 1), "later", 1, RequestReason.NOTHING_BELOW), 15);
        went("later", RequestState.SUBMITTED, RequestState.PREFILLING, RequestReason.NOTHING_BELOW);
        prefilled("later", 0, 0, 11);
        LogSummary.Requests requests = statistics.summary(100).requests();

        assertEquals(2, requests.submitted());
        assertEquals(1, requests.answeredAtOnce());
        // 11 blocks: 1 holds the last token, 10 are missed.
        assertEquals(Map.of("last_block", 2L, "answered_at_once", 10L, "nothing_below", 10L), requests.misses());
        assertEquals(new Percentiles(1, 5, 5, 5, 5), requests.submitToCommand());
        assertEquals(new Percentiles(1, 5, 5, 5, 5), requests.submitToReady());
        assertEquals(new HitCounts(2, 0, 0, 0, 0, 0, 22), requests.hits());
        assertEquals(2, requests.byNamespace().size());
    }

    /** The wait runs out after 40 ms; the command comes at 60 and does not make the request ready again. */
    @Test
    void anExpiredWaitMakesARequestReady() {
        submit("r", M, false, 10);
        statistics.event(new WaitExpired(NODE, "r", 1, 40), 50);
        prefetchCommand("r", "op", 60);
        LogSummary.Requests requests = statistics.summary(100).requests();

        assertEquals(1, requests.waitsExpired());
        assertEquals(40, requests.submitToReady().max());
        assertEquals(50, requests.submitToCommand().max());
    }

    /** Loads that the engine discarded do not count: 5 were loaded, and the engine used 2 of them; fetched ones count first. */
    @Test
    void noMoreBlocksCountThanTheEngineUsed() {
        submit("r", M, false, 10);
        prefetchCommand("r", "op", 13);
        fetched("op", 30);
        loaded("r", 1, 6);
        prefilled("r", 0, 2, 9);

        assertEquals(new HitCounts(1, 0, 0, 2, 0, 0, 9), statistics.summary(100).requests().hits());
    }

    /** The log may begin after the submit: the blocks count, without namespace and reason. */
    @Test
    void aPrefillWithoutItsSubmitCounts() {
        prefilled("r", 1, 2, 3);
        LogSummary.Requests requests = statistics.summary(100).requests();

        assertEquals(new HitCounts(1, 1, 2, 0, 0, 0, 3), requests.hits());
        assertEquals(Map.of("unknown", 3L), requests.misses());
    }

    /** The last policy has one group, for m/*; namespace n has none. */
    @Test
    void namespacesBelongToTheGroupsOfTheLastPolicy() {
        submit("r", M, true, 10);
        prefilled("r", 1, 0, 10);
        submit("s", "n", true, 10);
        prefilled("s", 2, 0, 9);
        GroupPolicy group = new GroupPolicy("g", List.of("m/*"), null, List.of(), List.of());
        MigrationPolicy migration = new MigrationPolicy(1, MarkClearing.ON_WRITE, 1, 1, List.of(group));
        statistics.fact(new PolicyAdopted(envelope("clock/0"), 2,
                new Policy(1, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 1, 1, 1, 1, true, migration, null)), 1);

        assertEquals(Map.of("g", new HitCounts(1, 1, 0, 0, 0, 0, 10), "(none)", new HitCounts(1, 2, 0, 0, 0, 0, 9)),
                statistics.summary(100).requests().byGroup());
    }

    // --- operations

    private void issued(String operation, OperationKind kind, long atMs) {
        statistics.fact(new OperationIssued(
                NODE, operation, kind, Tier.HOST, Tier.DISK, null, 0, M, Bytes.EMPTY, blocks(2), 1, 1, null, null, Tier.UNKNOWN), atMs);
    }

    private void ended(String operation, OperationKind kind, OperationState state, OperationReason reason, long bytes, long atMs) {
        statistics.fact(new OperationEnded(NODE, operation, kind, state, reason, 1, 1, bytes), atMs);
    }

    /** started 4 = done 1 + failed 1 + adopted, done 1 + unfinished 1; the copy took 7 ms and the drop 9 ms, which is the longest batch. */
    @Test
    void operationsAddUp() {
        issued("a", OperationKind.COPY, 10);
        issued("b", OperationKind.DROP, 10);
        issued("c", OperationKind.COPY, 10);
        ended("a", OperationKind.COPY, OperationState.DONE, OperationReason.COMPLETED, 100, 17);
        ended("b", OperationKind.DROP, OperationState.FAILED, OperationReason.PINNED, 0, 19);
        statistics.fact(new OrphanAdopted(NODE, "d", OperationKind.LOAD_BACK, OperationState.DONE, true, 3, 0, 5), 20);
        LogSummary.Operations operations = statistics.summary(100).operations();

        assertEquals(4, operations.started());
        assertEquals(2, operations.ended(OperationState.DONE));
        assertEquals(1, operations.ended(OperationState.FAILED));
        assertEquals(1, operations.unfinished());
        assertEquals(0, operations.breaches());
        OperationCounts copies = operations.byKind().get(OperationKind.COPY);
        assertEquals(new OperationCounts(2, Map.of(OperationState.DONE, 1L), Map.of(OperationReason.COMPLETED, 1L), 1, 1, 100), copies);
        assertEquals(3, operations.byKind().getOrDefault(OperationKind.LOAD_BACK, OperationCounts.NONE).doneBlocks());
        assertEquals(operations.byKind(), operations.byNode().get("node/a"));
        assertEquals(105, operations.ofNode("node/a").movedBytes());
        assertEquals(2, operations.batches());
        assertEquals(9, operations.longestBatchMs());
        assertEquals(new Percentiles(1, 7, 7, 7, 7), operations.durations().get(OperationKind.COPY));
        assertEquals(1, statistics.unfinishedOperations());
    }

    /** An end without a start, and a second start. */
    @Test
    void endsWithoutAStartAndSecondStartsAreBreaches() {
        ended("a", OperationKind.COPY, OperationState.DONE, OperationReason.COMPLETED, 1, 1);
        issued("b", OperationKind.COPY, 1);
        issued("b", OperationKind.COPY, 2);

        assertEquals(2, statistics.summary(100).operations().breaches());
    }

    // --- tiers

    private void crossed(String group, long atMs) {
        statistics.fact(new WaterLevelCrossed(NODE, Tier.HOST, group, 9, 0, 10, 0.9, 1), atMs);
    }

    private void relieved(String group, long atMs) {
        statistics.fact(new WaterLevelRelieved(NODE, Tier.HOST, group, 7, 0, 10, 0.8, 1), atMs);
    }

    /** The tier is above from 10 to 30 and from 50 to 55: 25 ms, at most 20. The group is above from 60 on, which counts until 100: 40 ms. */
    @Test
    void timeAboveWatermarksCounts() {
        crossed("", 10);
        relieved("", 30);
        crossed("", 50);
        relieved("", 55);
        crossed("g", 60);

        assertEquals(
                Map.of(new Watermark("node/a", Tier.HOST, ""), new LogSummary.TimeAbove(2, 25, 20),
                        new Watermark("node/a", Tier.HOST, "g"), new LogSummary.TimeAbove(1, 40, 40)),
                statistics.summary(100).watermarks().above());
    }

    /** 10 blocks of which 3 are free, then 6: 7 and then 4 are used. */
    @Test
    void useOfTiersIsSampled() {
        for (long free : new long[] {3, 6}) {
            statistics.fact(new NodeSeen(NODE, List.of(new TierUsage(Tier.HOST, 10, free, 0, 0, 10 - free, 0, 0, 2))), free);
        }
        LogSummary.Watermarks watermarks = statistics.summary(100).watermarks();

        assertEquals(Map.of(new LogSummary.NodeTier("node/a", Tier.HOST), new LogSummary.Use(4, 7, 10)), watermarks.use());
        assertEquals(List.of(new LogSummary.Sample(3, "node/a", Tier.HOST, 7, 2, 10), new LogSummary.Sample(6, "node/a", Tier.HOST, 4, 2, 10)),
                watermarks.samples());
    }

    private void placed(Tier tier, int... indexes) {
        List<PagedBlock> blocks = IntStream.of(indexes).mapToObj(i -> new PagedBlock(block(i), i, 1, 0)).toList();
        statistics.fact(new BlocksPlaced(NODE, tier, M, blocks, null, Tier.UNKNOWN, 1), 1);
    }

    private void removed(Tier tier, RemovalReason reason, int lastCopies, int... indexes) {
        statistics.fact(new BlocksRemoved(NODE, tier, M, reason, IntStream.of(indexes).mapToObj(LogStatisticsTest::block).toList(), lastCopies), 1);
    }

    /** Blocks 0, 1, 2 come to the host, 2 again, and 0 leaves twice: at most 3, 2 at the end. The device is not counted. */
    @Test
    void aBlockCountsOnceOnATier() {
        placed(Tier.HOST, 0, 1, 2);
        placed(Tier.HOST, 2);
        placed(Tier.DISK, 0);
        placed(Tier.DEVICE, 0, 1);
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        LogSummary.Placements placements = statistics.summary(100).placements();

        Place host = new Place(M, "node/a", Tier.HOST);
        Place disk = new Place(M, "node/a", Tier.DISK);
        assertEquals(Map.of(host, 3L, disk, 1L), placements.most());
        assertEquals(Map.of(host, 2L, disk, 1L), placements.end());
        assertTrue(placements.complete());
    }

    /** With its node everything on host and disk is gone; what comes afterwards counts from 0. */
    @Test
    void aNodeThatEndsHoldsNothing() {
        placed(Tier.HOST, 0, 1, 2);
        placed(Tier.DISK, 0);
        statistics.fact(new NodeEnded(NODE, 1, RemovalReason.NODE_LOST), 1);
        placed(Tier.HOST, 7);
        LogSummary.Placements placements = statistics.summary(100).placements();

        assertEquals(Map.of(new Place(M, "node/a", Tier.HOST), 1L), placements.end());
        assertEquals(3L, placements.most().get(new Place(M, "node/a", Tier.HOST)));
    }

    /** By pressure 3 blocks leave the host, 2 of them without another copy; by watermark 1 leaves the host and 1 the device. */
    @Test
    void evictionsCountByTierAndReason() {
        removed(Tier.HOST, RemovalReason.WATER_LEVEL, 0, 0);
        removed(Tier.HOST, RemovalReason.PRESSURE, 1, 1);
        removed(Tier.HOST, RemovalReason.PRESSURE, 1, 1, 2);
        removed(Tier.DEVICE, RemovalReason.ENGINE_EVICTED, 0, 1);

        assertEquals(
                Map.of(new Eviction(Tier.HOST, RemovalReason.WATER_LEVEL), new LogSummary.Evicted(1, 0),
                        new Eviction(Tier.HOST, RemovalReason.PRESSURE), new LogSummary.Evicted(3, 2),
                        new Eviction(Tier.DEVICE, RemovalReason.ENGINE_EVICTED), new LogSummary.Evicted(1, 0)),
                statistics.summary(100).placements().evictionsOfAll());
    }

    // --- promotions and peer reads

    /** 3 blocks start and 1 is resident; of the 2 that an operation brings, 1 is read. Of the 5 read in all, 1 was in memory: 4 were fetched. */
    @Test
    void promotionsCountInBlocks() {
        statistics.fact(new PromotionAnswered(NODE, "probe", M,
                List.of(new PromotionAnswer(PromotionReply.STARTED, blocks(3), 0), new PromotionAnswer(PromotionReply.RESIDENT, blocks(1), 0)),
                1), 1);
        issued("p", OperationKind.PROMOTE, 1);
        statistics.fact(new OperationEnded(NODE, "p", OperationKind.PROMOTE, OperationState.DONE, OperationReason.COMPLETED, 2, 0, 2), 2);
        statistics.fact(new PromotionSettled(NODE, M, PromotionOutcome.PROMOTED_HIT, OperationReason.COMPLETED, blocks(1)), 3);
        LogSummary.Promotions promotions = statistics.summary(100).promotions();

        assertEquals(Map.of(PromotionReply.STARTED, 3L, PromotionReply.RESIDENT, 1L), promotions.replies());
        assertEquals(Map.of(PromotionOutcome.PROMOTED_HIT, 1L), promotions.outcomes());
        assertEquals(2, promotions.begun());
        assertEquals(2, promotions.done());
        assertEquals(1, promotions.promoted());
        assertEquals(0.2, promotions.inMemory(4));
    }

    /** 2 reads of 3 blocks each are requested, 1 is granted and 1 refused; 2 blocks are sent, and the fetch reports 1 from another host. */
    @Test
    void peerReadsCountOnBothSides() {
        for (String grant : List.of("g", "h")) {
            statistics.event(new PeerReadRequested(NODE, grant, "b", M, blocks(3)), 1);
        }
        statistics.fact(new PeerReadGranted(NODE, "g", "b", M, blocks(3), null, 10_000, 1), 1);
        statistics.fact(new PeerReadRefused(NODE, "h", "b", PeerReadReason.BUSY, "busy", 1), 1);
        statistics.fact(new PeerReadClosed(NODE, "g", PeerReadReason.COMPLETED, 2, 2_000), 1);
        fetched("op", 1);

        assertEquals(new LogSummary.PeerReads(2, 6, 1, Map.of(PeerReadReason.BUSY, 1L), Map.of(PeerReadReason.COMPLETED, 1L), 1, 2, 2_000),
                statistics.summary(100).peerReads());
    }

    // --- records

    @Test
    void recordsCountByTopic() {
        submit("r", M, true, 10);
        prefetchCommand("r", "op", 25);
        Fact refused = new InputRefused(NODE, "PrefetchDone", RefusalReason.REPEATED, "again");
        statistics.fact(refused, 20);
        statistics.unreadableEvent();
        statistics.unreadableFact();
        statistics.unreadableCommand();

        assertEquals(new LogSummary.Records(2, 2, 2, 3, 10, 25, Map.of(RefusalReason.REPEATED, 1L), Map.of()),
                statistics.summary(100).records());
        assertEquals(2, statistics.events());
    }

    private static BlockResult result(int index, BlockStatus status, Tier source) {
        OperationReason reason = status == BlockStatus.FAILED ? OperationReason.CHECKSUM : OperationReason.COMPLETED;
        return new BlockResult(block(index), status, reason, index, 1, 77, source);
    }

    private static List<Block> blocks(int number) {
        return IntStream.range(0, number).mapToObj(LogStatisticsTest::block).toList();
    }

    private static Block block(int index) {
        return new Block(index, Bytes.copyOf(new byte[] {(byte) index, 0, 0, 0, 0, 0, 0, 0}), Bytes.EMPTY);
    }
}
