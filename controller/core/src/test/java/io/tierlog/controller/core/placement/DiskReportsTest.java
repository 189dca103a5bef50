/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What agents report of placements on their disk: late, twice, of other incarnations and other moves, and what they lack. */
class DiskReportsTest extends DiskScene {
    /** Two fetches of 9 blocks: the first one's blocks are being copied when the second one finds them there. They go on leaving. */
    @Test
    void aCopyGoesOnWhenTheBlockIsReportedAgain() {
        List<Bytes> p = Agent.path("p", 9);
        w.input(a.submit("r", p).store(0, 9).event());
        PrefetchBlocks first = w.command(PrefetchBlocks.class);
        w.input(a.submit("r", p).attempt(2).store(0, 9).event());
        PrefetchBlocks second = w.command(PrefetchBlocks.class);
        w.input(new PrefetchDone(a.envelope(), first.operation(), null, Agent.NAMESPACE, Agent.fetched(first.blocks(), 0), 0, 0));
        assertEquals(List.of("p8", "p7", "p6", "p5"), names(w.command(CopyBlocks.class).blocks()));

        w.input(new PrefetchDone(a.envelope(), second.operation(), null, Agent.NAMESPACE, Agent.fetched(second.blocks(), 0), 0, 0));

        assertEquals(PlacementState.COPYING, w.state(a, Tier.HOST, p.get(8)));
        assertEquals(4, w.host(a).leavingBlocks());
    }

    /** A block written again to another page is another placement: that the disk refused the last one does not matter for it. */
    @Test
    void aBlockThatWasWrittenAgainIsNotRefused() {
        w.policy(policy(true, false));
        CopyBlocks copy = crossing();
        w.input(failed(copy, OperationReason.IO));
        assertTrue(Objects.requireNonNull(w.copy(a, Tier.HOST, x.get(3))).refused());

        w.input(new WriteBackDone(a.envelope(), "node/a@5.0", Agent.NAMESPACE, Agent.arrived(List.of(Agent.block(x, 3)), 99), 0, 0));

        assertFalse(Objects.requireNonNull(w.copy(a, Tier.HOST, x.get(3))).refused());
    }

    /** The agent's disk does not have what a drop relied on: it is taken off the books, and the block is copied again. */
    @Test
    void whatTheDiskTurnsOutToLackIsTakenOffTheBooks() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);

        w.input(new DropFailed(a.envelope(), drop.operation(), Tier.HOST, OperationReason.LAST_COPY, Agent.NAMESPACE,
                Agent.failed(Blocks.of(drop.blocks()), OperationReason.LAST_COPY)));

        BlocksRemoved removed = w.fact(BlocksRemoved.class);
        assertEquals(List.of(Tier.DISK, 4, 0), List.of(removed.tier(), removed.blocks().size(), removed.lastCopiesLost()));
        assertEquals(List.of(), w.commands(CopyBlocks.class), "not before the next tick");
        w.tick();
        assertEquals(names(drop.blocks()), names(w.command(CopyBlocks.class).blocks()));
    }

    @Test
    void whatTheHostTurnsOutToLackIsTakenOffTheBooks() {
        w.input(failed(crossing(), OperationReason.STALE_GENERATION));

        BlocksRemoved removed = w.fact(BlocksRemoved.class);
        assertEquals(List.of(Tier.HOST, 4), List.of(removed.tier(), removed.blocks().size()));
        assertEquals(List.of(5L, 0L), List.of(w.host(a).usedBlocks(), w.tier(a, Tier.DISK).usedBlocks()));
    }

    /** Late: cancelled after its time, ended by the agent; then the bytes are reported after all, and nothing more comes of it. */
    @Test
    void aCopyThatIsLateIsCancelled() {
        CopyBlocks copy = crossing();
        w.tick();
        w.tick();
        assertEquals(OperationKind.COPY, w.command(CancelOperation.class).kind());

        w.input(new OperationCancelled(a.envelope(), copy.operation(), OperationReason.NEVER_STARTED, "", List.of()));

        assertEquals(OperationState.CANCELLED, w.fact(OperationEnded.class).state());
        assertEquals(Tier.STORE, w.command(DropBlocks.class).reliesOn());
        assertRefused(RefusalReason.OPERATION_ENDED, w.input(done(copy, 4)));
        assertEquals(0, w.tier(a, Tier.DISK).usedBlocks());
    }

    @Test
    void aCopyThatIsReportedTwiceCountsOnce() {
        CopyBlocks copy = crossing();
        CopyDone event = done(copy, 4);
        w.input(event);
        assertRefused(RefusalReason.OPERATION_ENDED, w.input(event.withEnvelope(a.envelope())));
        assertEquals("InputRefused", w.factNames());
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** A placement without a command: its bytes count, an older generation's do not. */
    @Test
    void anUnknownCopyIsAdopted() {
        List<BlockResult> results = Agent.blocks(x, 0, 2).stream().map(this::onDisk).toList();
        w.input(new CopyDone(a.envelope(), "node/a@5.0", Tier.HOST, Tier.DISK, Agent.NAMESPACE, results, 0, 0));
        assertEquals("BlocksPlaced OrphanAdopted", w.factNames());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, x.get(1)));

        w.input(found(a, x, 0, 4));
        assertEquals(List.of(2, 3), World.indexes(Blocks.of(w.fact(BlocksPlaced.class).blocks())), "of 0 and 1 a later copy is known");
    }

    /** While the copy runs, an unrecorded operation reports a later one of x3: the end of the first does not set it back. */
    @Test
    void anOlderGenerationNeverReplacesALaterOne() {
        CopyBlocks copy = crossing();
        CopyDone first = done(copy, 4);
        generation = 49;
        w.input(new CopyDone(a.envelope(), "node/a@5.0", Tier.HOST, Tier.DISK, Agent.NAMESPACE, List.of(onDisk(Agent.block(x, 3))), 0, 0));

        w.input(first.withEnvelope(a.envelope()));

        assertEquals(List.of("x2", "x1", "x0"), names(w.fact(BlocksPlaced.class).blocks()));
        assertEquals(50, Objects.requireNonNull(w.copy(a, Tier.DISK, x.get(3))).generation());
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** No command stored them, but the disk has what the host lost and the host has what the disk lost: no last copy was lost. */
    @Test
    void aCopyOnAnotherTierOfTheNodeIsNoLoss() {
        w.policy(policy(true, false));
        w.warm(a, "x", x, 0);
        w.input(found(a, x, 0, 4));
        w.input(a.evicted(Tier.DEVICE, RemovalReason.ENGINE_EVICTED, Agent.paged(x, 2, 4, 1_002)));
        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(x, 3, 4, 3)));
        assertEquals(List.of(Tier.HOST, 0), List.of(w.fact(BlocksRemoved.class).tier(), w.fact(BlocksRemoved.class).lastCopiesLost()));
        w.input(a.evicted(Tier.DISK, RemovalReason.CHECKSUM, List.of(new PagedBlock(Agent.block(x, 2), -1, 7, 0))));
        assertEquals(List.of(Tier.DISK, 0), List.of(w.fact(BlocksRemoved.class).tier(), w.fact(BlocksRemoved.class).lastCopiesLost()));

        w.input(a.stopping());

        BlocksRemoved host = w.facts(BlocksRemoved.class).stream().filter(f -> f.tier() == Tier.HOST).findFirst().orElseThrow();
        assertEquals(List.of(3, 1), List.of(host.blocks().size(), host.lastCopiesLost()), "x2 is neither in the store nor on the disk");
    }

    /** The same id and another move: a drop from the disk is not the end of a drop from the host, which the agent will never report. */
    @Test
    void anEndOfAnotherMoveIsNotTheEnd() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, List.of()));

        assertEquals(1, w.facts(OrphanAdopted.class).size());
        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(OperationState.FAILED, OperationReason.COMMAND_CONFLICT), List.of(ended.state(), ended.reason()));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, x.get(0)));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new DropDone(a.envelope(), "d", Tier.STORE, Agent.NAMESPACE, List.of())));
        assertRefused(RefusalReason.OVER_LIMIT,
                w.input(new CopyDone(a.envelope(), "c", Tier.DISK, Tier.HOST, Agent.NAMESPACE, List.of(), 0, 0)));
    }

    /** An old copy's removal is reported while the new one is being written: that one is not touched. */
    @Test
    void aRemovalOfAnEarlierCopyDoesNotReachTheOneBeingWritten() {
        crossing();
        PagedBlock old = new PagedBlock(Agent.block(x, 3), -1, 5, 77);

        w.input(a.evicted(Tier.DISK, RemovalReason.CHECKSUM, List.of(old)));

        assertEquals(PlacementState.WRITING, w.state(a, Tier.DISK, x.get(3)));
    }

    /** The disk outlives the agent: what it still holds serves in the new incarnation, what was not found again is cleaned up. */
    @Test
    void theDiskSurvivesARestart() {
        demoteX();
        w.input(a.stopping());
        Agent b = w.register(new Agent("a", "a-2", 10, 10));
        assertEquals(PlacementState.ABSENT, w.state(b, Tier.DISK, x.get(0)));

        w.input(found(b, x, 0, 3));

        BlocksPlaced placed = w.fact(BlocksPlaced.class);
        assertEquals(List.of(Tier.DISK, Tier.UNKNOWN, 3), List.of(placed.tier(), placed.heldAlso(), placed.blocks().size()));
        assertEquals(3, w.tier(b, Tier.DISK).usedBlocks());
        w.input(b.submit("r", x).event());
        assertEquals(List.of(0, 1, 2), World.indexes(w.command(PrefetchBlocks.class).blocks()));
    }

    /** 8 of 10 blocks, which is the mark of 0.8; 8 - 4 = 4 < 5, the mark of 0.5. */
    @Test
    void whatWasFoundMayLeaveTheDiskWhenTheStoreWasSeenToHaveIt() {
        List<Bytes> p = Agent.path("p", 8);
        w.input(found(a, p, 0, 8));
        w.tick();
        assertEquals(List.of(), w.commands, "each may be the last copy");

        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, Agent.blocks(p, 0, 8)));

        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.DISK, Tier.STORE), List.of(drop.tier(), drop.reliesOn()));
        assertEquals(List.of("p7", "p6", "p5", "p4"), names(drop.blocks()));
        w.input(gone(drop));
        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, Agent.blocks(p, 0, 8)));
        assertEquals(List.of(), w.facts(BlocksBackedUp.class), "nothing of it is news");
        assertRefused(RefusalReason.OVER_LIMIT,
                w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, Agent.blocks(Agent.path("q", 1_001), 0, 1_001))));
    }

    @Test
    void stepsOfARecoveryAreBounded() {
        assertRefused(RefusalReason.OVER_LIMIT, w.input(found(a, Agent.path("r", 1_001), 0, 1_001)));
        w.input(found(a, Agent.path("r", 1_000), 0, 1_000));
        assertEquals(1_000, w.tier(a, Tier.DISK).usedBlocks());
        Agent none = w.register("none", 10);
        assertRefused(RefusalReason.CONFIGURATION_MISMATCH, w.input(found(none, x, 0, 1)));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new BlocksRecovered(a.envelope(), Tier.DEVICE, Agent.NAMESPACE,
                List.of(), 0)));
    }

    @Test
    void whatAnAgentStillHoldsOnTheHostWhenItRegistersAgainServes() {
        List<PagedBlock> held = Agent.blocks(x, 0, 3).stream().map(b -> new PagedBlock(b, b.index() + 2, 9, 77)).toList();
        Agent back = w.register("back", 5);
        w.input(new BlocksRecovered(back.envelope(), Tier.HOST, Agent.NAMESPACE, held, 0));
        BlocksPlaced placed = w.fact(BlocksPlaced.class);
        assertEquals(List.of(Tier.HOST, held), List.of(placed.tier(), placed.blocks()));
        assertEquals(3, w.tier(back, Tier.HOST).usedBlocks());
        w.input(new BlocksSeenStored(back.envelope(), Agent.NAMESPACE, Blocks.of(held.subList(0, 2))));
        assertEquals(2, w.fact(BlocksBackedUp.class).blocks().size());
        for (int page : new int[] {-1, 5}) {
            PagedBlock wrong = new PagedBlock(held.getFirst().block(), page, 10, 77);
            assertRefused(RefusalReason.OVER_LIMIT,
                    w.input(new BlocksRecovered(back.envelope(), Tier.HOST, Agent.NAMESPACE, List.of(wrong), 0)));
        }
    }
}
