/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.PlacementState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** When the host is too full, and what leaves it: capacity 10, high mark 0.9 (9 blocks), low mark 0.6 (6 blocks). */
public class WatermarkEvictionTest {
    private final World w = new World().policy(policy(100));
    private final Agent a = w.register("a", 10);

    private static Policy policy(int batch) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.9, 0.8, true, batch, 1_000, 5_000, 3, true, null, null);
    }

    public static List<String> names(List<Block> blocks) {
        return blocks.stream().map(b -> new String(b.key().unshared(), StandardCharsets.UTF_8).trim()).toList();
    }

    private static List<String> names(DropBlocks command) {
        return names(Blocks.of(command.blocks()));
    }

    private List<DropBlocks> drops() {
        return w.commands(DropBlocks.class);
    }

    private DropDone done(DropBlocks command) {
        return new DropDone(a.envelope(), command.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(command));
    }

    /** Fills to 8 of 10: nothing. The ninth: 9 >= 0.9 * 10, so relief begins, and 4 go: 9 - 4 = 5 < 6. */
    private DropBlocks cross() {
        w.warm(a, "x", Agent.path("x", 4), 0);
        w.warm(a, "y", Agent.path("y", 4), 10);
        assertEquals(0, w.facts.stream().filter(WaterLevelCrossed.class::isInstance).count(), "8 of 10 are not 9");
        w.input(a.submit("z", Agent.path("z", 1)).answered().event());
        w.input(a.sealed("z", 1, Agent.paged(Agent.path("z", 1), 0, 1, 500)));
        w.input(a.finished("z", 1));
        return w.command(DropBlocks.class);
    }

    @Test
    void theHighMarkIsReachedByAsManyAsItSays() {
        DropBlocks drop = cross();

        assertEquals("RequestTransitioned OperationIssued WaterLevelCrossed OperationIssued WaterLevelRelieved", w.factNames());
        WaterLevelCrossed crossed = w.fact(WaterLevelCrossed.class);
        assertEquals(List.of(9L, 0L, 10L), List.of(crossed.usedBlocks(), crossed.leavingBlocks(), crossed.capacityBlocks()));
        WaterLevelRelieved relieved = w.fact(WaterLevelRelieved.class);
        assertEquals(List.of(9L, 4L), List.of(relieved.usedBlocks(), relieved.leavingBlocks()), "what is on its way out counts as gone");
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(drop), "the coldest prompt, from its end");
        assertEquals(Tier.STORE, drop.reliesOn());
        assertEquals(PlacementState.LEAVING, w.state(a, Tier.HOST, Agent.key("x0")));
    }

    /** Without marks all 10 of 10 stay, also when the marks go while relief is on: with one drop of one block in flight it is after one. */
    @Test
    void withoutMarksNothingLeaves() {
        Policy none = new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 1, 1_000, 5_000, 3, true, null, null);
        World narrow = new World(new HeapTables(), new Limits(1, 1_000, 65_536, 1, 1_000, 1_024, 64)).policy(none);
        Agent b = narrow.register("b", 10);
        narrow.warm(b, "x", Agent.path("x", 6), 0);
        narrow.warm(b, "y", Agent.path("y", 4), 10);
        narrow.tick();
        assertEquals(0, narrow.facts.stream().filter(WaterLevelCrossed.class::isInstance).count());

        narrow.policy(policy(1)).tick();
        assertEquals(1, narrow.facts(WaterLevelCrossed.class).size());
        assertEquals(1, narrow.commands(DropBlocks.class).size());
        narrow.policy(none).tick();
        assertEquals(1, narrow.facts(WaterLevelRelieved.class).size());
        assertEquals(0, narrow.commands(DropBlocks.class).size());
    }

    /** The node has space for 10 blocks of 4,096 bytes, and policy lets it hold 5 and a bit: 5 >= 0.9 * 5, and 5 - 3 = 2 < 3. */
    @Test
    void aTierHoldsNoMoreThanPolicySays() {
        Policy p = policy(100);
        w.policy(new Policy(0, p.writePolicy(), p.hostHighMark(), p.hostLowMark(), 0, 0, true, 100, 1_000, 5_000, 3, true, null, null,
                List.of(new TierBound(Tier.HOST, 5 * 4_096 + 100))));
        w.warm(a, "x", Agent.path("x", 4), 0);
        w.input(a.submit("f", Agent.path("f", 3)).store(0, 2).event());
        assertEquals(1, w.command(PrefetchBlocks.class).blocks().size(), "4 of 5 are taken");
        QuotaExceeded exceeded = w.fact(QuotaExceeded.class);
        assertEquals(List.of(2L, 4L, 5L), List.of((long) exceeded.wantedBlocks(), exceeded.usedBlocks(), exceeded.quotaBlocks()));
        assertEquals(3, w.command(DropBlocks.class).blocks().size());
        assertEquals(5, w.fact(WaterLevelCrossed.class).capacityBlocks());
        w.input(a.submit("g", Agent.path("g", 1)).answered().event());
        w.input(a.sealed("g", 1, Agent.paged(Agent.path("g", 1), 0, 1, 500)));
        w.input(a.finished("g", 1));
        assertEquals(List.of(), w.commands(WriteBackBlocks.class), "what leaves is still there");
    }

    /** A node that is smaller than the policy's limit keeps its capacity, and is reported. */
    @Test
    void aCapacityAboveWhatANodeHasIsWarnedOf() {
        Policy p = policy(100);
        w.policy(new Policy(2, p.writePolicy(), 0.9, 0.6, 0, 0, true, 100, 1_000, 5_000, 3, true, null, null,
                List.of(new TierBound(Tier.HOST, 11 * 4_096))));
        ConfigWarning warning = w.fact(ConfigWarning.class);
        assertEquals(ConfigWarningKind.CAPACITY_ABOVE_REGISTERED, warning.kind());
        assertEquals(List.of("node/a", Tier.HOST), List.of(warning.envelope().aggregate(), warning.source()));
        w.input(new Agent("b", "b-1", 11).registering());
        assertEquals(List.of(), w.facts(ConfigWarning.class), "as much as policy says is not less");
        w.input(new Agent("c", "c-1", 10).registering());
        assertEquals("node/c", w.fact(ConfigWarning.class).envelope().aggregate());
    }

    @Test
    void oneCrossingDropsOnce() {
        cross();

        w.tick();
        assertEquals(List.of(), drops());
        assertEquals(List.of(), w.facts(WaterLevelCrossed.class));
    }

    @Test
    void whatIsGoneIsGone() {
        DropBlocks drop = cross();

        w.input(done(drop));

        assertEquals("BlocksRemoved OperationEnded", w.factNames());
        BlocksRemoved removed = w.fact(BlocksRemoved.class);
        assertEquals(List.of(RemovalReason.WATER_LEVEL, 0), List.of(removed.reason(), removed.lastCopiesLost()));
        assertEquals(5, w.host(a).usedBlocks());
        assertEquals(0, w.host(a).drops());
    }

    /** What is pinned stays, as used just now: the next drop names something else, and comes with the next tick. */
    @Test
    void whatIsPinnedStaysAndIsNotNamedAgainAtOnce() {
        DropBlocks drop = cross();

        w.input(new DropFailed(a.envelope(), drop.operation(), Tier.HOST, OperationReason.PINNED, Agent.NAMESPACE,
                Agent.failed(Blocks.of(drop.blocks()), OperationReason.PINNED)));

        // Nothing is dropped by the failure of a drop: where all are pinned that would never end.
        assertEquals("OperationEnded BlocksTouched WaterLevelCrossed", w.factNames());
        assertEquals(drop.blocks().size(), w.fact(BlocksTouched.class).deepest().size());
        // Nor does the beginning of another operation: of two drops each would set the other going.
        w.input(new OperationStarted(a.envelope(), "node/a@1.0", OperationKind.DROP, Agent.NAMESPACE, drop.blocks()));
        assertEquals(0, w.commands(DropBlocks.class).size());
        // Nor what leaves another tier.
        w.input(new DropDone(a.envelope(), "node/a@2.0", Tier.DISK, Agent.NAMESPACE, Agent.gone(drop)));
        assertEquals(0, w.commands(DropBlocks.class).size());
        w.tick();
        assertEquals(List.of("y3", "y2", "y1", "y0"), names(w.command(DropBlocks.class)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, Agent.key("x0")));
    }

    /** A transaction was undone after its drop had run on the disk; decided again, it is one from the host, which the agent refuses. */
    @Test
    void anOperationThatTheAgentRanWithOtherContentFails() {
        DropBlocks drop = cross();

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, Agent.gone(drop)));

        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(OperationState.FAILED, OperationReason.COMMAND_CONFLICT), List.of(ended.state(), ended.reason()));
        assertEquals(List.of(0, 4), List.of(ended.doneBlocks(), ended.failedBlocks()));
        assertEquals(4, w.fact(OrphanAdopted.class).doneBlocks(), "what became of bytes counts");
        assertEquals(0, w.host(a).drops());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, Agent.key("x0")));
    }

    /** The same with other blocks: 1 of the 4 was done, the agent does not name the other 3. */
    @Test
    void blocksThatTheAgentDoesNotNameWereNotDone() {
        DropBlocks drop = cross();

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(drop.blocks().subList(0, 1))));

        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(1, 3), List.of(ended.doneBlocks(), ended.failedBlocks()));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, Agent.key("x0")));
    }

    /** Four other blocks went: the four of the operation are there, and may go another time. */
    @Test
    void otherBlocksThanThoseOnRecordDoNotEndTheirs() {
        DropBlocks drop = cross();
        List<PagedBlock> others = Agent.paged(Agent.path("y", 4), 0, 4, 10);

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(others)));

        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(4, 4), List.of(ended.doneBlocks(), ended.failedBlocks()));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, Agent.key("x0")));
    }

    @Test
    void whatTheAgentDoesNotHaveIsTakenOffTheBooks() {
        DropBlocks drop = cross();

        w.input(new DropFailed(a.envelope(), drop.operation(), Tier.HOST, OperationReason.NOT_SERVING, Agent.NAMESPACE,
                Agent.failed(Blocks.of(drop.blocks()), OperationReason.NOT_SERVING)));

        assertEquals(5, w.host(a).usedBlocks());
    }

    /** C5: a drop without a command has run: the block serves nowhere. */
    @Test
    void aDropFromATransactionThatWasAbortedCounts() {
        w.warm(a, "x", Agent.path("x", 2), 0);
        PagedBlock k = Agent.paged(Agent.path("x", 2), 1, 2, 1).getFirst();

        w.input(new DropDone(a.envelope(), "node/a@5.0", Tier.HOST, Agent.NAMESPACE, Agent.gone(List.of(k))));

        assertEquals("BlocksRemoved OrphanAdopted", w.factNames());
        assertFalse(w.fact(OrphanAdopted.class).agentsOwn());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, k.block().key()));
    }

    /** C6: the page has been given to other content since: an old report does not take the new copy away. */
    @Test
    void aDropOfAnOlderGenerationIsTooLate() {
        w.warm(a, "x", Agent.path("x", 2), 0);
        PagedBlock old = Agent.paged(Agent.path("x", 2), 1, 2, 1).getFirst();
        PagedBlock older = new PagedBlock(old.block(), old.page(), 0, 77);

        w.input(new DropDone(a.envelope(), "node/a@5.0", Tier.HOST, Agent.NAMESPACE, Agent.gone(List.of(older))));

        assertEquals("OrphanAdopted", w.factNames());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, old.block().key()));
    }

    @Test
    void aRepeatedDropDoneDropsNothingMore() {
        DropBlocks drop = cross();
        w.input(done(drop));

        assertRefused(RefusalReason.OPERATION_ENDED, w.input(done(drop)));
        assertEquals(5, w.host(a).usedBlocks());
    }

    /** Batches of 2: as many as are needed, in one decision; 9 - 2 - 2 = 5. */
    @Test
    void theLastBatchBringsItBelowTheLowMark() {
        w.policy(policy(3));
        w.warm(a, "x", Agent.path("x", 4), 0);
        w.warm(a, "y", Agent.path("y", 4), 10);
        w.input(a.submit("z", Agent.path("z", 1)).answered().event());
        w.input(a.sealed("z", 1, Agent.paged(Agent.path("z", 1), 0, 1, 500)));
        w.input(a.finished("z", 1));

        assertEquals(List.of(List.of("x3", "x2", "x1"), List.of("x0")), drops().stream().map(WatermarkEvictionTest::names).toList());
    }

    @Test
    void noMoreDropsAreInFlightThanAllowed() {
        World small = new World(new HeapTables(), new Limits(1, 100, 100, 2, 10, 64, 4)).policy(policy(1));
        Agent b = small.register("b", 10);
        small.warm(b, "x", Agent.path("x", 9), 0);
        small.tick();

        assertEquals(2, small.host(b).drops());
        assertTrue(small.host(b).inRelief());
        DropBlocks first = firstDrop(small);
        small.input(new DropDone(b.envelope(), first.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(first)));
        assertEquals(2, small.host(b).drops(), "one has ended and the next one follows");
    }

    private static DropBlocks firstDrop(World world) {
        return world.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast).findFirst().orElseThrow();
    }

    /** A lookup is not a use: 100 submissions that are not eligible, or that match nothing, change no order. */
    @Test
    void looksChangeNothing() {
        w.warm(a, "x", Agent.path("x", 3), 0);
        w.warm(a, "y", Agent.path("y", 3), 10);
        for (int i = 0; i < 100; i++) {
            w.input(a.submit("look" + i, Agent.path("x", 3)).notEligible().event());
            w.input(a.submit("else" + i, Agent.path("e", 3)).event());
        }

        assertEquals(List.of("x2", "x1", "x0"), order(3));
    }

    /** A hit moves the whole path, though it is written at its deepest block only. */
    @Test
    void aHitMovesTheWholePath() {
        w.warm(a, "x", Agent.path("x", 3), 0);
        w.warm(a, "y", Agent.path("y", 3), 10);
        w.input(a.submit("hit", Agent.path("x", 3)).answered().event());
        assertEquals(List.of(Agent.block(Agent.path("x", 3), 2)), w.fact(BlocksTouched.class).deepest());

        assertEquals(List.of("y2", "y1", "y0", "x2", "x1", "x0"), order(6));
    }

    /** The prompt x0 x1 was used last; x2 was not: it goes first, then all of y, then x1 and x0. */
    @Test
    void aHitOfAPrefixLeavesItsEndCold() {
        w.warm(a, "x", Agent.path("x", 3), 0);
        w.warm(a, "y", Agent.path("y", 3), 10);
        w.input(a.submit("hit", Agent.path("x", 2)).answered().event());

        assertEquals(List.of("x2", "y2", "y1", "y0", "x1", "x0"), order(6));
    }

    /** A trunk with two ends stays until both have left, with the later of their uses. */
    @Test
    void aTrunkStaysForItsHotterEnd() {
        List<Bytes> left = List.of(Agent.key("t0"), Agent.key("t1"), Agent.key("l2"));
        List<Bytes> right = List.of(Agent.key("t0"), Agent.key("t1"), Agent.key("r2"));
        w.warm(a, "l", left, 0);
        w.warm(a, "y", Agent.path("y", 1), 10);
        w.warm(a, "r", right, 2, 20);

        assertEquals(List.of("l2", "y0", "r2", "t1", "t0"), order(5));
    }

    /** Of equally cold leaves, the deeper one goes first. */
    @Test
    void theDeeperIsColder() {
        List<Bytes> p = Agent.path("p", 1);
        List<Bytes> q = Agent.path("q", 3);
        w.input(a.submit("r", p).answered().event());
        w.input(a.sealed("r", 1, Agent.paged(p, 0, 1, 100)));
        w.input(a.sealed("r", 1, Agent.paged(q, 0, 3, 101)));
        w.input(a.finished("r", 1));
        WriteBackBlocks write = w.command(WriteBackBlocks.class);
        List<BlockResult> arrived = Agent.arrived(Blocks.of(write.blocks()), 0);
        w.input(new WriteBackDone(a.envelope(), write.operation(), Agent.NAMESPACE, arrived, 0, 0));
        BackUpBlocks backUp = w.command(BackUpBlocks.class);
        w.input(new BackUpDone(a.envelope(), backUp.operation(), Agent.NAMESPACE, arrived, 0, 0));

        assertEquals(List.of("q2", "q1", "p0", "q0"), order(4));
    }

    /** What the store has too goes before what only the host has. */
    @Test
    void whatIsHeldElsewhereGoesFirst() {
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.9, 0.8, true, 100, 1_000, 5_000, 3, false, null, null));
        w.warm(a, "x", Agent.path("x", 2), 0);
        w.policy(policy(100));
        w.warm(a, "y", Agent.path("y", 2), 10);

        assertEquals(List.of("y1", "y0", "x1", "x0"), order(4));
    }

    /** B9, B5: what was fetched for a waiting request is not dropped before it was used, nor is the prefix above it. */
    @Test
    void whatIsLeasedStays() {
        List<Bytes> p = Agent.path("p", 5);
        w.warm(a, "p", p.subList(0, 2), 0);
        w.input(a.submit("r", p).store(2, 3).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, Agent.fetched(fetch.blocks(), 10), 0, 0));
        w.warm(a, "y", Agent.path("y", 4), 20);

        // 9 of 10: relief wants 4, and 4 of y are all there is that may leave.
        assertEquals(List.of("y3", "y2", "y1", "y0"), names(firstDrop(w)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(4)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(0)));
    }

    @Test
    void whenNothingCanLeaveTheNextTickTriesAgain() {
        List<Bytes> p = Agent.path("p", 9);
        w.input(a.submit("r", p).store(0, 9).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertTrue(w.host(a).inRelief(), "9 of 10 are being written");
        assertEquals(List.of(), drops());
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, Agent.fetched(fetch.blocks(), 0), 0, 0));
        assertEquals(List.of(), drops());
        w.tick();
        assertEquals(List.of(), drops());

        w.input(a.prefilled("r", 1));

        assertEquals(List.of("p8", "p7", "p6", "p5"), names(w.command(DropBlocks.class)));
    }

    /** Marks count in whole blocks: 7 of 100 reach 0.07, which in binary is a little more than 0.07. */
    @Test
    void marksAreExact() {
        assertTrue(Policies.reaches(7, 0.07, 100));
        assertFalse(Policies.reaches(6, 0.07, 100));
        assertEquals(4, Policies.excess(9, 0.6, 10));
        assertEquals(0, Policies.excess(5, 0.6, 10));
        assertEquals(1, Policies.excess(6, 0.6, 10));
        assertEquals(2, Policies.excess(9, 0.75, 10), "7.5 blocks: 8 reach it, 7 do not");
    }

    /** The order in which single drops would take everything. */
    private List<String> order(int most) {
        List<String> names = new ArrayList<>();
        NodeContext n = Objects.requireNonNull(DecisionContext.of(w.tables, w.limits, w.log.getLast(), Evolve::apply).node("node/a"));
        Watermark level = Watermark.of(n.policy()).getFirst();
        EvictionRules rules = new EvictionRules.ForWatermark(n, level);
        for (EvictionPicker.Batch batch : EvictionPicker.pick(n, rules, level, new EvictionPicker.Most(most, 8, true))) {
            names.addAll(names(Blocks.of(batch.blocks())));
        }
        return names;
    }
}
