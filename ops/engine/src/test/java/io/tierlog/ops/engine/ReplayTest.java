/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ReplayTest {
    static final int BLOCK_BYTES = 1_024;
    private static final int PAGES = 300;

    private static final ReplayConfig.Pacing ONE_BY_ONE = new ReplayConfig.Pacing(1, OptionalDouble.empty(), 20);
    private static final ReplayConfig.Pacing FOUR = new ReplayConfig.Pacing(4, OptionalDouble.empty(), 20);

    @TempDir
    private Path directory;

    private final FakeAgent agent = new FakeAgent("agent-" + System.identityHashCode(this));
    private final Workload workload = ConversationWorkload.of(ConversationParameters.defaults().withRequests(400));
    private final WorkloadProfile profile = WorkloadProfile.of(workload);

    @AfterEach
    void allMemoryIsGone() throws IOException {
        agent.close();
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
        assertEquals(List.of(), agent.wrongs);
    }

    private ReplayConfig config(int pages, boolean retention, AgentAddress... agents) {
        List<EngineNode> nodes = Stream.iterate(0, i -> i + 1).limit(agents.length).map(i -> new EngineNode("n" + i, agents[i])).toList();
        return ReplayConfig.of(
                        "test",
                        workload,
                        nodes,
                        new ReplayConfig.Device(directory, pages, BLOCK_BYTES, retention),
                        new ReplayConfig.Identity("model", ByteString.copyFrom(new byte[32])))
                .withTimeouts(new Timeouts(2_000, 1_000, 2_000, 5_000, 5_000, 5_000, 5_000, 5, 50));
    }

    private RunReport run(ReplayConfig config) throws Exception {
        RunReport report = Replay.run(config, ProgressListener.none());
        assertTrue(report.addsUp(), report.toJson()::toPrettyString);
        assertEquals(profile.requests(), report.requests() + report.rejected());
        return report;
    }

    private long misses(RunReport report, MissCause cause) {
        return report.ideal().misses().getOrDefault(cause, 0L);
    }

    @Test
    void hitsOnDeviceAndHostComeNearTheIdeal() throws Exception {
        RunReport report = run(config(PAGES, true, agent.address()));
        assertEquals(profile.blockAccesses(), report.blockAccesses());
        assertEquals(profile.idealHits(), report.ideal().hits());
        assertEquals(0, report.wrongContent());
        assertTrue(report.hits().device() > 0 && report.hits().host() > 0, report.toJson()::toPrettyString);
        // An agent that keeps everything leaves nothing to miss but what was being made at that moment, and what may never be reused.
        assertEquals(
                report.ideal().hits() + report.ideal().beyond() - report.hits().total(),
                misses(report, MissCause.IN_FLIGHT)
                        + misses(report, MissCause.PARTIAL_BLOCK)
                        + misses(report, MissCause.NOT_REUSE_ELIGIBLE)
                        + misses(report, MissCause.NOTHING_BELOW));
        assertEquals(profile.idealHits() - profile.reusableHits(),
                misses(report, MissCause.PARTIAL_BLOCK) + misses(report, MissCause.NOT_REUSE_ELIGIBLE));
        assertTrue(report.hits().total() > 0.9 * profile.reusableHits(), report.toJson()::toPrettyString);
        assertEquals(report.hits().host() * BLOCK_BYTES, report.loadedBytes());
        assertEquals(0, report.nodes().getFirst().pool().held());
        assertEquals(workload.size(), agent.finished.size());
    }

    @Test
    void everyEvictedBlockWasReportedBeforeWithItsPageAndGeneration() throws Exception {
        run(config(PAGES, true, agent.address()));
        // FakeAgent.wrongs has those it did not know.
        assertTrue(agent.evicted.stream().mapToInt(e -> e.getBlocksCount()).sum() > PAGES);
    }

    @Test
    void waitingRequestsLoadWhatTheNoticeOffers() throws Exception {
        agent.answer = FakeAgent.Answer.BY_NOTICE;
        agent.source = Offer.Source.SOURCE_STORE;
        RunReport report = run(config(PAGES, true, agent.address()));
        assertTrue(report.hits().store() > 0 && report.hits().host() == 0, report.toJson()::toPrettyString);
        assertEquals(workload.size(), report.latencies().waited().count());
    }

    @Test
    void pagesAreNotReusedBeforeTheyAreReleased() throws Exception {
        // The agent saves the bytes when it releases, 12 requests later, and compares them with what was sealed: see FakeAgent.wrongs.
        agent.releaseAfter = 12;
        FutureTask<RunReport> run = new FutureTask<>(() -> run(config(PAGES, true, agent.address())));
        Thread thread = Thread.ofVirtual().start(run);
        while (!run.isDone()) {
            agent.releaseAll();
            thread.join(Duration.ofMillis(20));
        }
        assertEquals(0, run.get().wrongContent());
    }

    @Test
    void withoutRetentionOnlyLowerTiersHit() throws Exception {
        RunReport report = run(config(PAGES, false, agent.address()).withPacing(ONE_BY_ONE));
        assertEquals(0, report.hits().device());
        assertTrue(report.hits().host() > 0.9 * profile.reusableHits());
        assertEquals(0, report.nodes().getFirst().pool().cached());
    }

    @Test
    void oneFlippedBitIsOneBlockWithWrongContent() throws Exception {
        agent.lieAtBlock = 100;
        RunReport report = run(config(PAGES, true, agent.address()).withPacing(ONE_BY_ONE));
        assertEquals(1, report.wrongContent());
        assertTrue(report.firstWrong().orElseThrow().contains("first wrong byte at " + (BLOCK_BYTES - 3)), report.firstWrong()::toString);
        assertEquals(1, misses(report, MissCause.WRONG_CONTENT));
    }

    /** The agent ends as scheduled and comes back; the last fifty requests come when the engine has found it again. */
    private RunReport runWithOneRestart() throws Exception {
        CountDownLatch back = new CountDownLatch(1);
        ReplayConfig config = config(PAGES, true, agent.address()).withPacing(FOUR);
        ReplayConfig gated = ReplayConfig.of(config.run(), gated(back), config.nodes(), config.device(), config.identity())
                .withPacing(FOUR)
                .withTimeouts(config.timeouts());
        FutureTask<RunReport> run = new FutureTask<>(() -> run(gated));
        Thread thread = Thread.ofVirtual().start(run);
        agent.awaitDeath();
        agent.restart();
        while (agent.opened.get() < 2 && !run.isDone()) {
            thread.join(Duration.ofMillis(5));
        }
        back.countDown();
        return run.get();
    }

    private Workload gated(CountDownLatch gate) {
        return new Workload() {
            @Override
            public String name() {
                return workload.name();
            }

            @Override
            public int blockTokens() {
                return workload.blockTokens();
            }

            @Override
            public List<String> tenants() {
                return workload.tenants();
            }

            @Override
            public int size() {
                return workload.size();
            }

            @Override
            public Request request(int index) {
                if (index == workload.size() - 50) {
                    try {
                        assertTrue(gate.await(30, TimeUnit.SECONDS));
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                return workload.request(index);
            }
        };
    }

    @Test
    void anAgentThatDiesInALoadCostsNothingButHits() throws Exception {
        agent.dieAtLoad = 20;
        RunReport report = runWithOneRestart();
        assertEquals(0, report.wrongContent());
        assertEquals(1, report.nodes().getFirst().lostSessions());
        assertEquals(2, agent.opened.get());
        assertTrue(misses(report, MissCause.NO_AGENT) > 0, report.toJson()::toPrettyString);
    }

    @Test
    void anAgentThatNeverComesBackLeavesTheDeviceCache() throws Exception {
        agent.dieAtLoad = 20;
        RunReport report = run(config(PAGES, true, agent.address()));
        assertEquals(0, report.wrongContent());
        assertTrue(report.hits().device() > 0);
        assertEquals(0, report.nodes().getFirst().pool().held());
    }

    @Test
    void anAgentThatDiesInAFinishCostsNothingButHits() throws Exception {
        agent.dieAtFinish = 50;
        assertEquals(0, runWithOneRestart().wrongContent());
        assertEquals(2, agent.opened.get());
    }

    @Test
    void anAgentThatNeverAnswersAWaitBlocksNoRequest() throws Exception {
        agent.answer = FakeAgent.Answer.NEVER_READY;
        Timeouts impatient = new Timeouts(2_000, 5, 2_000, 5_000, 5_000, 5_000, 5_000, 5, 50);
        RunReport report = run(config(PAGES, true, agent.address()).withTimeouts(impatient));
        assertTrue(misses(report, MissCause.WAIT_EXPIRED) > 0, report.toJson()::toPrettyString);
        assertEquals(0, report.hits().host());
    }

    @Test
    void anAgentThatHangsLosesItsSession() throws Exception {
        agent.answer = FakeAgent.Answer.HANGING;
        // Long enough for calls that are answered on a machine that does much else.
        Timeouts impatient = new Timeouts(1_000, 1_000, 1_000, 5_000, 30_000, 30_000, 5_000, 5, 50);
        RunReport report = run(config(PAGES, true, agent.address()).withTimeouts(impatient));
        assertTrue(report.nodes().getFirst().lostSessions() > 0);
        assertTrue(misses(report, MissCause.NO_AGENT) > 0, report.toJson()::toPrettyString);
    }

    @Test
    void anAgentThatReleasesNothingLosesItsSession() throws Exception {
        agent.releaseAfter = Integer.MAX_VALUE;
        Timeouts impatient = new Timeouts(2_000, 1_000, 2_000, 300, 5_000, 5_000, 100, 5, 50);
        RunReport report = run(config(PAGES, true, agent.address()).withTimeouts(impatient));
        assertTrue(report.nodes().getFirst().lostSessions() > 0);
        assertEquals(0, report.wrongContent());
    }

    @Test
    void refusedSubmitsAreCountedAndServedWithoutTiers() throws Exception {
        agent.answer = FakeAgent.Answer.REFUSED;
        // So small a pool that few prefixes stay.
        RunReport report = run(config(profile.maxPages(), true, agent.address()).withPacing(ONE_BY_ONE));
        assertTrue(report.refusals().getOrDefault("Submit INVALID_ARGUMENT", 0L) > 0, report.refusals()::toString);
        assertTrue(misses(report, MissCause.AGENT_BUSY) > 0);
    }

    @Test
    void noFinishOvertakesTheReportThatABlockHasMoved() throws Exception {
        // Two requests load the same block; the page of the second is free again, and reused, before its request ends. See FakeAgent.wrongs.
        agent.evictedMs = 50;
        run(config(PAGES, true, agent.address()).withPacing(new ReplayConfig.Pacing(32, OptionalDouble.empty(), 20)));
    }

    @Test
    void aShortLoadEndsThePrefix() throws Exception {
        agent.loadAtMost = 2;
        RunReport report = run(config(PAGES, true, agent.address()));
        assertTrue(misses(report, MissCause.LOAD_FAILED) > 0, report.toJson()::toPrettyString);
        assertEquals(report.hits().host(), agent.loadedBlocks.get());
    }

    @Test
    void twoNodesWithoutAgentsHaveTheirDeviceCaches() throws Exception {
        RunReport report = run(config(PAGES, true, new AgentAddress.None(), new AgentAddress.None()).withRouter(RouterKind.ROUND_ROBIN));
        assertEquals(profile.requests() / 2, report.nodes().get(1).requests());
        assertEquals(report.hits().device(), report.hits().total());
        assertTrue(misses(report, MissCause.NO_AGENT) > 0);
    }

    @Test
    void aRequestLargerThanThePoolIsRejectedOnRecord() throws Exception {
        int pages = profile.maxPages() - 1;
        RunReport report = run(config(pages, true, agent.address()));
        assertTrue(report.rejected() > 0);
        assertEquals(
                report.rejected(),
                agent.finished.stream().filter(f -> f.getOutcome() == FinishRequest.Outcome.OUTCOME_REJECTED_KV_BUDGET).count());
    }

    @Test
    void theHistoryOfTheStoreTellsMissesApart() throws Exception {
        StoredAt never = new StoredAt() {
            @Override
            public boolean known() {
                return true;
            }

            @Override
            public OptionalLong storedAtMs(String namespace, BlockKey key) {
                assertTrue(namespace.startsWith("model/tenant-"));
                return OptionalLong.empty();
            }
        };
        agent.answer = FakeAgent.Answer.NEVER_READY;
        Timeouts impatient = new Timeouts(2_000, 1, 2_000, 5_000, 5_000, 5_000, 5_000, 5, 50);
        RunReport report = run(config(PAGES, true, agent.address()).withTimeouts(impatient).withStoredAt(never));
        assertEquals(0, misses(report, MissCause.WAIT_EXPIRED));
        assertTrue(misses(report, MissCause.EVICTED_BEFORE_BACKUP) > 0);
    }

    @Test
    void anInterruptClosesEverything() throws Exception {
        agent.answer = FakeAgent.Answer.NEVER_READY;
        FutureTask<RunReport> run = new FutureTask<>(() -> Replay.run(
                config(PAGES, true, agent.address()).withTimeouts(new Timeouts(2_000, 60_000, 2_000, 60_000, 5_000, 5_000, 60_000, 5, 50)),
                ProgressListener.none()));
        Thread thread = Thread.ofPlatform().start(run);
        while (agent.submitted.isEmpty()) {
            thread.join(5);
        }
        thread.interrupt();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> run.get(10, TimeUnit.SECONDS));
        assertInstanceOf(InterruptedException.class, failed.getCause());
    }

    @Test
    void anAgentWithOtherBlocksIsAnErrorAtTheStart() {
        agent.blockBytes = 2 * BLOCK_BYTES;
        ReplayError error = assertThrows(ReplayError.class, () -> run(config(PAGES, true, agent.address())));
        assertTrue(error.toString().contains("blocks of 2048 bytes"), error::toString);
    }

    @Test
    void aMissingAgentIsAnErrorAtTheStart() {
        Timeouts impatient = new Timeouts(50, 50, 50, 50, 100, 100, 100, 5, 50);
        ReplayError error =
                assertThrows(ReplayError.class, () -> run(config(PAGES, true, AgentAddress.parse("localhost:1")).withTimeouts(impatient)));
        assertTrue(error.toString().contains("no agent of node n0"), error::toString);
    }

    @Test
    void errorsNameTheFlag() {
        ReplayConfig good = config(PAGES, true, agent.address());
        assertEquals("--device", flag(config(0, true, agent.address())));
        assertEquals("--nodes", flag(config(PAGES, true)));
        assertEquals("--concurrency", flag(good.withPacing(new ReplayConfig.Pacing(0, OptionalDouble.empty(), 20))));
        assertEquals("--speed", flag(good.withPacing(new ReplayConfig.Pacing(1, OptionalDouble.of(-1), 20))));
        assertEquals("--prefill-us-per-token", flag(good.withPacing(new ReplayConfig.Pacing(1, OptionalDouble.empty(), -1))));
        assertEquals("--prefill-us-per-token", flag(good.withPacing(new ReplayConfig.Pacing(1, OptionalDouble.empty(), 1_000_001))));
    }

    private static String flag(ReplayConfig config) {
        return assertThrows(ConfigurationError.class, config::validate).flag();
    }

    @Test
    void progressIsReportedAndEndsComplete() throws Exception {
        CountDownLatch complete = new CountDownLatch(1);
        AtomicBoolean sane = new AtomicBoolean(true);
        Replay.run(config(PAGES, true, agent.address()), progress -> {
            sane.compareAndSet(true, progress.requestsDone() <= progress.requestsTotal() && progress.wrongContent() == 0);
            if (progress.requestsDone() == workload.size()) {
                complete.countDown();
            }
        });
        assertEquals(0, complete.getCount());
        assertTrue(sane.get());
    }

    @Test
    void promptsAreAnnouncedInOrderWithTheirNode() throws Exception {
        record Replayed(String node, String namespace, List<BlockKey> keys) {}
        List<Replayed> replayed = new CopyOnWriteArrayList<>();
        AtomicLong arrived = new AtomicLong();
        AtomicLong late = new AtomicLong();
        ReplayConfig config = config(PAGES, true, new AgentAddress.None(), new AgentAddress.None())
                .withRouter(RouterKind.ROUND_ROBIN)
                .withPacing(new ReplayConfig.Pacing(4, OptionalDouble.of(100_000), 20))
                .withProbes(new ProbeAhead.Plan((node, namespace, keys) -> {
                    late.addAndGet(arrived.get() > replayed.size() ? 1 : 0);
                    replayed.add(new Replayed(node, namespace, keys));
                }, 3_000));
        Replay.run(config, now -> arrived.set(now.requestsDone()));
        List<Replayed> expected = new ArrayList<>();
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            if (!request.wholeKeys().isEmpty()) {
                expected.add(new Replayed("n" + i % 2, "model/" + workload.tenants().get(request.tenant()), request.wholeKeys()));
            }
        }
        assertEquals(expected, replayed);
        assertEquals(0, late.get());
    }

    @Test
    void promptsOfAWorkloadWithoutAPaceCannotBeAnnounced() {
        ReplayConfig config = config(PAGES, true, new AgentAddress.None()).withProbes(new ProbeAhead.Plan((node, namespace, keys) -> {}, 10));
        ConfigurationError refused = assertThrows(ConfigurationError.class, () -> Replay.run(config, ProgressListener.none()));
        assertTrue(String.valueOf(refused.getMessage()).contains("--probe-ahead"), refused.toString());
    }
}
