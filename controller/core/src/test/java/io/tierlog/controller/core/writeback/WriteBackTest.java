/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.writeback;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What sealed blocks become: written back once, backed up, or let go. */
class WriteBackTest {
    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 2);
    private Agent a = new Agent("a", "a-1", 31);

    @BeforeEach
    void register() {
        a = w.register("a", 31);
    }

    private void run(String request, List<Bytes> path, int sealedFrom) {
        w.input(a.submit(request, path).device(sealedFrom).answered().event());
        w.input(a.prefilled(request, 1));
        w.input(a.sealed(request, 1, Agent.paged(path, sealedFrom, path.size(), 50)));
    }

    private WriteBackDone done(WriteBackBlocks command, int firstPage) {
        List<BlockResult> results = new ArrayList<>();
        command.blocks().forEach(b -> results.addAll(Agent.arrived(List.of(b.block()), firstPage + results.size())));
        return new WriteBackDone(a.envelope(), command.operation(), Agent.NAMESPACE, results, 1, 1);
    }

    /** B14: r1 writes back 0, 1 and then 29 of 31 are free; r2, the same prompt, nothing; r3, longer by one, block 2 only: 28 are free. */
    @Test
    void everyBlockIsWrittenBackOnce() {
        run("r1", p, 0);
        assertEquals("SealedNoted BlocksPlaced", w.factNames());
        w.input(a.finished("r1", 1));
        WriteBackBlocks first = w.command(WriteBackBlocks.class);
        assertEquals(Agent.paged(p, 0, 2, 50), first.blocks());
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(1)));

        run("r2", p, 1);
        w.input(a.finished("r2", 1));
        assertEquals("r2", w.command(ReleaseRequest.class).request(), "block 1 is on its way to the host");

        w.input(done(first, 0));
        assertEquals(2, w.host(a).usedBlocks());
        assertEquals(2, w.input(a.submit("r2b", p).answered().event()).facts().stream()
                .mapToInt(f -> f instanceof RequestAdmitted r ? r.hostBlocks() : 0).sum());

        List<Bytes> longer = Agent.path("p", 3);
        run("r3", longer, 2);
        w.input(a.finished("r3", 1));
        assertEquals(List.of(2), World.indexes(Blocks.of(w.command(WriteBackBlocks.class).blocks())));
        assertEquals(3, w.host(a).usedBlocks());
    }

    /** B14's end: r1 = x y, r2 = x z finish together: 3 blocks in all, none twice. */
    @Test
    void twoRequestsWithOnePrefixWriteItOnce() {
        List<Bytes> q = List.of(p.get(0), Agent.key("z"));
        run("r1", p, 0);
        run("r2", q, 0);

        w.input(a.finished("r1", 1));
        assertEquals(Agent.blocks(p, 0, 2), w.fact(OperationIssued.class).blocks());
        w.input(a.finished("r2", 1));
        assertEquals(Agent.blocks(q, 1, 2), w.fact(OperationIssued.class).blocks());
        assertEquals(3, w.host(a).usedBlocks());
    }

    /**
     * r1 leaves x y on the device alone; r2 = x y z reuses them. Its engine keeps them, so all three are written; an engine that does not may have
     * given their pages to other blocks, so only z is.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reusedBlocksAreWrittenOnlyWhereTheEngineKeepsThem(boolean keeps) {
        run("r1", p, 0);
        List<Bytes> longer = List.of(p.get(0), p.get(1), Agent.key("z"));
        Agent.Submission submission = a.submit("r2", longer).device(2).pages(50, 1).answered();
        w.input((keeps ? submission : submission.keepsNoPages()).event());
        w.input(a.prefilled("r2", 1));
        w.input(a.sealed("r2", 1, Agent.paged(longer, 2, 3, 60)));

        w.input(a.finished("r2", 1));

        assertEquals(Agent.blocks(longer, keeps ? 0 : 2, 3), w.fact(OperationIssued.class).blocks());
    }

    /** What is written back goes on to the store; its source cannot leave by policy until that has ended. */
    @Test
    void whatIsWrittenBackIsBackedUp() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        WriteBackBlocks writeBack = w.command(WriteBackBlocks.class);

        w.input(done(writeBack, 7));

        assertEquals("BlocksPlaced OperationEnded OperationIssued", w.factNames());
        BackUpBlocks backUp = w.command(BackUpBlocks.class);
        assertEquals(writeBack.operation(), backUp.releases());
        assertEquals(Agent.paged(p, 0, 2, 7), backUp.blocks());
        assertEquals(p.getFirst(), backUp.root());
        assertEquals(1, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(1))).holds());
        assertEquals(0, ((HeapTables) w.tables).rows(Rows.ORDER).size());

        w.input(new BackUpDone(a.envelope(), backUp.operation(), Agent.NAMESPACE, List.of(
                new BlockResult(Agent.block(p, 0), BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, 7, 1, 77, Tier.UNKNOWN),
                new BlockResult(Agent.block(p, 1), BlockStatus.ARRIVED, OperationReason.COMPLETED, 8, 1, 77, Tier.DEVICE)), 1, 1));

        assertEquals("BlocksBackedUp OperationEnded", w.factNames());
        assertEquals(Agent.blocks(p, 0, 2), w.fact(BlocksBackedUp.class).blocks());
        assertTrue(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(1))).stored());
        assertEquals(1, ((HeapTables) w.tables).rows(Rows.ORDER).size(), "block 1 is a leaf now");
        assertEquals(List.of(), w.last.commands());
    }

    /** Block 0 did not reach the store, block 1 did: without block 0 the store serves none of the path. The next write-back makes up for it. */
    @Test
    void aBackUpFillsTheHoleThatAnEarlierOneHasLeft() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        w.input(done(w.command(WriteBackBlocks.class), 7));
        w.input(new BackUpDone(a.envelope(), w.command(BackUpBlocks.class).operation(), Agent.NAMESPACE, List.of(
                new BlockResult(Agent.block(p, 0), BlockStatus.FAILED, OperationReason.IO, 7, 1, 0, Tier.UNKNOWN),
                new BlockResult(Agent.block(p, 1), BlockStatus.ARRIVED, OperationReason.COMPLETED, 8, 1, 77, Tier.DEVICE)), 1, 1));
        List<Bytes> longer = List.of(p.get(0), p.get(1), Agent.key("z"));
        run("r2", longer, 2);
        w.input(a.finished("r2", 1));

        w.input(done(w.command(WriteBackBlocks.class), 9));

        assertEquals(List.of(0, 2), World.indexes(Blocks.of(w.command(BackUpBlocks.class).blocks())));
    }

    @Test
    void aBackUpThatFailsLeavesTheBlockOnTheHost() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        w.input(done(w.command(WriteBackBlocks.class), 0));
        String backUp = w.command(BackUpBlocks.class).operation();

        w.input(new BackUpFailed(a.envelope(), backUp, OperationReason.STORE_UNAVAILABLE, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(p, 0, 2), OperationReason.STORE_UNAVAILABLE)));

        assertEquals("OperationEnded", w.factNames());
        assertEquals(false, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(1))).stored());
        assertEquals(0, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(1))).holds());
    }

    @Test
    void withoutBackUpThePinsAreReleased() {
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, false, null, null));
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        WriteBackBlocks writeBack = w.command(WriteBackBlocks.class);

        w.input(done(writeBack, 0));

        assertEquals(writeBack.operation(), w.command(ReleasePins.class).pin());
        assertEquals("BlocksPlaced OperationEnded", w.factNames());
    }

    /** B8: the host destination is dropped, the device copy stays, nothing is backed up. */
    @Test
    void aWriteBackThatFailsLeavesTheDeviceCopy() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        String operation = w.command(WriteBackBlocks.class).operation();

        w.input(new WriteBackFailed(a.envelope(), operation, OperationReason.DEVICE_FAULT, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(p, 0, 2), OperationReason.DEVICE_FAULT)));

        assertEquals("OperationEnded", w.factNames());
        assertEquals(List.of(), w.last.commands());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(0)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DEVICE, p.get(0)));
        assertEquals(0, w.host(a).usedBlocks());
    }

    @Test
    void aWriteBackWithoutSpaceFreesItsPlacements() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        WriteBackBlocks command = w.command(WriteBackBlocks.class);

        w.input(new CommandRefused(a.envelope(), command.header().command(), command.header().commandSequence(), command.operation(),
                OperationReason.NO_ROOM, "full"));

        assertEquals(OperationReason.NO_ROOM, w.fact(OperationEnded.class).reason());
        assertEquals(0, w.host(a).usedBlocks());
    }

    /** B7: finish, then abort while the write-back runs: the completion is accepted, nothing throws. */
    @Test
    void anAbortWhileAWriteBackRunsChangesNothingForIt() {
        run("r1", p, 0);
        w.input(a.finished("r1", 1));
        WriteBackBlocks command = w.command(WriteBackBlocks.class);
        assertRefused(RefusalReason.REQUEST_ENDED, w.input(a.cancelled("r1", 1)));

        w.input(done(command, 0));

        assertEquals(OperationState.DONE, w.fact(OperationEnded.class).state());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(1)));
    }

    /** B7: finish and abort in every state, in every order, are answered. */
    @Test
    void finishAndAbortAreAnsweredInEveryState() {
        for (int upTo = 0; upTo < 4; upTo++) {
            for (boolean finish : List.of(true, false)) {
                String request = "r" + upTo + finish;
                if (upTo > 0) {
                    w.input(a.submit(request, p).answered().event());
                }
                if (upTo > 1) {
                    w.input(a.prefilled(request, 1));
                }
                if (upTo > 2) {
                    w.input(a.finished(request, 1));
                }
                DecideResult decided = w.input(finish ? a.finished(request, 1) : a.cancelled(request, 1));
                if (upTo == 0) {
                    assertRefused(RefusalReason.REQUEST_UNKNOWN, decided);
                } else if (upTo == 3) {
                    assertRefused(RefusalReason.REQUEST_ENDED, decided);
                } else {
                    assertEquals(Outcome.APPLIED, decided.outcome());
                    RequestState end = finish ? RequestState.FINISHED : RequestState.CANCELLED;
                    assertEquals(end, Objects.requireNonNull(w.request(a, request)).state());
                }
            }
        }
    }

    @Test
    void aCancelledRequestWritesNothingBack() {
        run("r1", p, 0);
        w.input(a.cancelled("r1", 1));

        assertEquals(List.of(), w.last.commands());
        assertEquals(0, ((HeapTables) w.tables).rows(Rows.SEALED).size());
    }

    /** C4: 35 blocks in batches of 10: three batches and a tail of 5, one after the other. */
    @Test
    void moreThanOneDecisionMayHoldIsCarriedOn() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(10));
        small.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.8, 0.9, 0.8, true, 10, 1_000, 5_000, 3, false, null, null));
        Agent b = small.register("b", 1_000);
        List<Bytes> path = Agent.path("x", 35);
        small.input(b.submit("r", path).answered().event());
        small.input(b.sealed("r", 1, Agent.paged(path, 0, 12, 0)));
        small.input(b.sealed("r", 1, Agent.paged(path, 12, 35, 12)));
        small.input(b.finished("r", 1));

        List<Integer> written = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        while (!small.commands(WriteBackBlocks.class).isEmpty()) {
            WriteBackBlocks command = small.command(WriteBackBlocks.class);
            sizes.add(command.blocks().size());
            written.addAll(World.indexes(Blocks.of(command.blocks())));
            List<BlockResult> results = Agent.arrived(Blocks.of(command.blocks()), command.blocks().getFirst().page());
            small.input(new WriteBackDone(b.envelope(), command.operation(), Agent.NAMESPACE, results, 0, 0));
        }

        assertEquals(List.of(10, 10, 10, 5), sizes);
        assertEquals(World.indexes(Agent.blocks(path, 0, 35)), written);
        assertEquals(0, ((HeapTables) small.tables).rows(Rows.SEALED).size());
    }

    @Test
    void writeThroughDoesNotWaitForTheEnd() {
        w.policy(new Policy(2, WritePolicy.WRITE_THROUGH, 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, true, null, null));
        run("r1", p, 0);
        assertEquals(2, w.command(WriteBackBlocks.class).blocks().size());

        w.input(a.finished("r1", 1));
        assertEquals("r1", w.command(ReleaseRequest.class).request());
    }

    @Test
    void selectiveWriteThroughWaitsForTheSecondUse() {
        w.policy(new Policy(2, WritePolicy.WRITE_THROUGH_SELECTIVE, 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, true, null, null));
        run("r1", p, 0);
        assertEquals(List.of(), w.last.commands());
        w.input(a.finished("r1", 1));
        assertEquals("r1", w.command(ReleaseRequest.class).request());

        w.input(a.submit("r2", p).device(2).pages(50, 1).answered().event());
        assertEquals(Agent.blocks(p, 0, 2), Blocks.of(w.command(WriteBackBlocks.class).blocks()));
        assertEquals(50, w.command(WriteBackBlocks.class).blocks().getFirst().page());
    }

    /** The blocks are in two pages each; the engine has reused the second ones, which were reported last, and keeps the first ones for r2. */
    @Test
    void aReusedBlockIsWrittenFromThePageThatItsEngineKeeps() {
        run("r1", p, 0);
        w.input(a.sealed("other", 1, Agent.paged(p, 0, 2, 90)));
        w.input(a.evicted(Tier.DEVICE, RemovalReason.ENGINE_EVICTED, Agent.paged(p, 0, 1, 90)));

        w.input(a.submit("r2", p).device(2).pages(50, 7).answered().event());
        w.input(a.finished("r2", 1));

        List<PagedBlock> blocks = w.command(WriteBackBlocks.class).blocks();
        assertEquals(Agent.blocks(p, 0, 2), Blocks.of(blocks));
        assertEquals(List.of(50, 51), blocks.stream().map(PagedBlock::page).toList());
        assertEquals(List.of(7L, 7L), blocks.stream().map(PagedBlock::generation).toList());
    }

    @Test
    void devicePagesAreAsManyAsDeviceBlocks() {
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("r", p).device(2).pages(50, 1).device(1).event()));
    }

    @Test
    void bytesSealedForAnUnknownRequestStillCount() {
        assertRefused(RefusalReason.REQUEST_UNKNOWN, w.input(a.sealed("gone", 1, Agent.paged(p, 0, 2, 50))));

        assertEquals(Tier.DEVICE, w.fact(BlocksPlaced.class).tier());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DEVICE, p.get(1)));
    }

    @Test
    void preemptionIsLikeFinishing() {
        run("r1", p, 0);
        w.input(new RequestFinished(a.envelope(), "r1", 1, RequestReason.PREEMPTED, 0));
        assertEquals(2, w.command(WriteBackBlocks.class).blocks().size());
        w.input(a.submit("r1", p).attempt(2).answered().event());
        assertEquals(Outcome.APPLIED, w.last.outcome());
    }
}
