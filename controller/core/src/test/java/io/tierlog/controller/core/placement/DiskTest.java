/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.eviction.EvictionPicker;
import io.tierlog.controller.core.eviction.EvictionRules;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What leaves the host goes to the disk first, what is fetched comes from it, and what leaves the disk. */
class DiskTest extends DiskScene {
    @Test
    void whatLeavesTheHostIsCopiedFirst() {
        CopyBlocks copy = crossing();

        assertEquals(List.of("x3", "x2", "x1", "x0"), names(copy.blocks()), "the coldest prompt, from its end");
        assertEquals(List.of(Tier.HOST, Tier.DISK), List.of(copy.source(), copy.target()));
        OperationIssued issued = w.facts.stream().filter(OperationIssued.class::isInstance).map(OperationIssued.class::cast)
                .filter(f -> f.kind() == OperationKind.COPY).findFirst().orElseThrow();
        assertEquals(List.of(Tier.HOST, Tier.DISK, copy.operation()), List.of(issued.from(), issued.to(), issued.operation()));
        assertEquals(List.of(9L, 4L, 1), List.of(w.host(a).usedBlocks(), w.host(a).leavingBlocks(), w.host(a).copies()));
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
        assertEquals(List.of(PlacementState.COPYING, PlacementState.WRITING),
                List.of(w.state(a, Tier.HOST, x.get(3)), w.state(a, Tier.DISK, x.get(3))));
        assertTrue(w.host(a).inRelief(), "nothing has left yet");
        w.input(a.heartbeat());
        assertEquals("NodeSeen", w.factNames(), "one crossing takes once");
    }

    @Test
    void afterTheCopyItIsDropped() {
        CopyBlocks copy = crossing();

        w.input(done(copy, 4));

        assertEquals("BlocksPlaced OperationEnded OperationIssued WaterLevelRelieved", w.factNames());
        BlocksPlaced placed = w.fact(BlocksPlaced.class);
        assertEquals(List.of(Tier.DISK, Tier.STORE, -1), List.of(placed.tier(), placed.heldAlso(), placed.blocks().getFirst().page()));
        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(names(copy.blocks()), names(drop.blocks()));
        assertEquals(List.of(Tier.HOST, Tier.DISK), List.of(drop.tier(), drop.reliesOn()));

        w.input(gone(drop));

        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());
        assertEquals(List.of(5L, 4L), List.of(w.host(a).usedBlocks(), w.tier(a, Tier.DISK).usedBlocks()));
        assertFalse(w.host(a).inRelief());
    }

    /** 2 of 4 arrive: those go relying on the disk, the others relying on the store; nothing is copied again. */
    @Test
    void whatTheDiskDidNotTakeIsDroppedRelyingOnTheStore() {
        w.input(done(crossing(), 2));

        assertEquals(List.of(List.of("x3", "x2"), List.of("x1", "x0")),
                w.commands(DropBlocks.class).stream().map(d -> names(d.blocks())).toList());
        assertEquals(List.of(Tier.DISK, Tier.STORE), w.commands(DropBlocks.class).stream().map(DropBlocks::reliesOn).toList());
        assertEquals(List.of(), w.commands(CopyBlocks.class));
        assertEquals(2, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** The disk has x3 and x1: x1 may not join the drop of x3, for x2 goes between the two. */
    @Test
    void aBlockNeverGoesBeforeOneThatExtendsIt() {
        CopyBlocks copy = crossing();
        CopyDone all = done(copy, 4);
        List<BlockResult> results = new ArrayList<>(all.blocks());
        for (int i = 1; i < 4; i += 2) {
            results.set(i, Agent.failed(List.of(copy.blocks().get(i).block()), OperationReason.NO_ROOM).getFirst());
        }
        w.input(new CopyDone(all.envelope(), copy.operation(), Tier.HOST, Tier.DISK, Agent.NAMESPACE, results, 0, 0));

        assertEquals(List.of(List.of("x3"), List.of("x2"), List.of("x1"), List.of("x0")),
                w.commands(DropBlocks.class).stream().map(d -> names(d.blocks())).toList());
    }

    @Test
    void aCopyThatIsRefusedIsNotTriedAgain() {
        CopyBlocks copy = crossing();

        w.input(new CommandRefused(a.envelope(), copy.header().command(), copy.header().commandSequence(), copy.operation(),
                OperationReason.QUEUE_FULL, ""));

        assertEquals(Tier.STORE, w.command(DropBlocks.class).reliesOn());
        assertEquals(0, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** A reader has pinned the whole host, and the disk takes nothing: of copies and drops that are refused in turn, each begins no next one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whereNothingMayLeaveItIsTriedOnceATick(boolean oldestFirst) {
        Deque<Command> open = new ArrayDeque<>(List.of(crossing()));
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.3, 0.2, 0.8, 0.5, true, 1, 1_000, 5_000, 0, true, null, null));
        for (int ticks = 0; ticks < 5; ticks++) {
            int refused = 0;
            while (!open.isEmpty()) {
                Command command = oldestFirst ? open.removeFirst() : open.removeLast();
                w.input(command instanceof CopyBlocks copy ? failed(copy, OperationReason.NO_ROOM) : pinned((DropBlocks) command));
                open.addAll(w.last.commands());
                assertTrue(++refused < 30, "it comes to rest in tick " + ticks);
            }
            assertTrue(refused > 0, "it is tried in tick " + ticks);
            w.tick();
            open.addAll(w.last.commands());
        }
    }

    /** Without a store: x cannot be copied and stays, as the last copy; the next coldest are tried once each, and then nothing more. */
    @Test
    void aLastCopyThatTheDiskDoesNotTakeStays() {
        w.policy(policy(true, false));
        CopyBlocks copy = crossing();
        List<String> tried = new ArrayList<>();
        for (int i = 0; i < 10 && copy != null; i++) {
            tried.addAll(names(copy.blocks()));
            w.input(failed(copy, OperationReason.IO));
            assertEquals(List.of(), w.commands(DropBlocks.class));
            copy = w.commands(CopyBlocks.class).isEmpty() ? null : w.command(CopyBlocks.class);
        }
        assertEquals(List.of("x3", "x2", "x1", "x0", "y3", "y2", "y1", "y0", "z0"), tried);
        assertTrue(w.host(a).inRelief());

        // The next use is another chance: x3 is used, and is the one that may be copied.
        w.input(a.submit("hit", x).answered().event());
        assertEquals(List.of("x3"), names(w.command(CopyBlocks.class).blocks()));
    }

    /** Without a store, what was copied is still dropped: the disk has it. */
    @Test
    void aCopyOnTheDiskIsEnough() {
        w.policy(policy(true, false));
        w.input(done(crossing(), 4));

        assertEquals(Tier.DISK, w.command(DropBlocks.class).reliesOn());
        assertEquals(Tier.HOST, w.fact(BlocksPlaced.class).heldAlso());
    }

    /** The disk has space for 3 of the 4. */
    @Test
    void withoutSpaceNothingIsCopied() {
        World small = new World().policy(policy(true, true));
        Agent b = small.register(new Agent("b", "b-1", 10, 3));
        small.warm(b, "x", x, 0);
        small.warm(b, "y", Agent.path("y", 4), 10);
        small.input(b.submit("z", Agent.path("z", 1)).answered().event());
        small.input(b.sealed("z", 1, Agent.paged(Agent.path("z", 1), 0, 1, 500)));
        small.input(b.finished("z", 1));

        assertEquals(List.of("x3", "x2", "x1"), names(small.command(CopyBlocks.class).blocks()));
        assertEquals(List.of("y3"), names(small.command(DropBlocks.class).blocks()), "x0 cannot go before x1 has");
        assertEquals(Tier.STORE, small.command(DropBlocks.class).reliesOn());
    }

    @Test
    void withoutADiskOrThePolicyNothingIsCopied() {
        w.policy(policy(false, true));
        cross();

        assertEquals(0, w.commands.stream().filter(CopyBlocks.class::isInstance).count());
        assertEquals(Tier.STORE, w.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast).findFirst().orElseThrow()
                .reliesOn());
    }

    /** A hit while the copy runs: x serves, is used, and stays; y goes in its place, with whatever happens next. */
    @Test
    void whatIsUsedWhileItIsCopiedStays() {
        CopyBlocks copy = crossing();
        w.input(a.submit("hit", x).answered().event());
        assertEquals(List.of(Tier.HOST, Tier.DISK), w.facts(BlocksTouched.class).stream().map(BlocksTouched::tier).toList());

        w.input(done(copy, 4));
        assertEquals(List.of(), w.commands(CopyBlocks.class));
        w.input(a.heartbeat());

        assertEquals(List.of("y3", "y2", "y1", "y0"), names(w.command(CopyBlocks.class).blocks()));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, x.get(0)));
    }

    /** x comes back from the disk, which keeps it: when it leaves again, no bytes move. */
    @Test
    void whatComesBackFromTheDiskLeavesWithoutACopy() {
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 1, 1, true, 100, 1_000, 5_000, 0, true, null, null));
        demoteX();
        w.input(a.submit("r", x).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertEquals(List.of(Agent.blocks(x, 0, 4), List.of(Tier.DISK, Tier.DISK, Tier.DISK, Tier.DISK)),
                List.of(fetch.blocks(), fetch.sources()));
        List<BlockResult> read = Agent.arrived(fetch.blocks(), 30).stream()
                .map(r -> new BlockResult(r.block(), r.status(), r.reason(), r.page(), 2, r.crc32c(), Tier.DISK)).toList();
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, read, 0, 0));
        assertEquals(Tier.STORE, w.facts(BlocksPlaced.class).getFirst().heldAlso(), "the disk's copy is known to be stored");
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, x.get(3)));
        CopyBlocks y = w.commands.stream().filter(CopyBlocks.class::isInstance).map(CopyBlocks.class::cast).reduce((p, q) -> q).orElseThrow();
        assertEquals(List.of("y3", "y2", "y1", "y0"), names(y.blocks()), "y is colder now");
        w.input(a.prefilled("r", 1));
        w.input(gone(dropAfter(y)));

        w.warm(a, "u", Agent.path("u", 4), 40);

        DropBlocks drop = w.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast)
                .filter(d -> d.tier() == Tier.HOST).reduce((p, q) -> q).orElseThrow();
        assertEquals(List.of("x3", "x2", "x1"), names(drop.blocks()), "z0 is copied, and these go at once");
        assertEquals(Tier.DISK, drop.reliesOn());
    }

    private DropBlocks dropAfter(CopyBlocks copy) {
        w.input(done(copy, copy.blocks().size()));
        return w.commands(DropBlocks.class).stream().filter(d -> d.tier() == Tier.HOST).findFirst().orElseThrow();
    }

    /** The disk has x0 and x1. They cannot leave the host before x2 and x3, so they go with them, and will be ALREADY_THERE. */
    @Test
    void whatIsAboveACopyGoesWithIt() {
        w.input(found(a, x, 0, 2));
        CopyBlocks copy = crossing();

        assertEquals(List.of("x3", "x2", "x1", "x0"), names(copy.blocks()));
        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** The host has p0 and p1, the disk p0..p4, the store was probed from 5 on and has two. */
    @Test
    void aFetchReadsFromDiskAndStore() {
        List<Bytes> p = Agent.path("p", 8);
        w.warm(a, "p", p.subList(0, 2), 0);
        w.input(found(a, p, 0, 5));

        w.input(a.submit("r", p).store(5, 2).event());

        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertEquals(List.of(2, 3, 4, 5, 6), World.indexes(fetch.blocks()));
        assertEquals(List.of(Tier.DISK, Tier.DISK, Tier.DISK, Tier.STORE, Tier.STORE), fetch.sources());
        assertEquals(Tier.UNKNOWN, w.fact(OperationIssued.class).from());
        List<BlocksTouched> touched = w.facts(BlocksTouched.class);
        assertEquals(List.of(1), World.indexes(touched.get(0).deepest()));
        assertEquals(List.of(4), World.indexes(touched.get(1).deepest()));
    }

    /** Below the threshold nothing is fetched from the disk: a lookup there is not a use; the hit of the host is one. */
    @Test
    void whatIsOnlySeenOnTheDiskIsNotUsed() {
        List<Bytes> p = Agent.path("p", 4);
        w.warm(a, "p", p.subList(0, 2), 0);
        w.input(found(a, p, 0, 4));

        w.input(a.submit("r", p).event());

        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        assertEquals(List.of(List.of(1), List.of(1)), w.facts(BlocksTouched.class).stream().map(f -> World.indexes(f.deepest())).toList());
    }

    /** The store was probed from 4 on, for the disk had 0..3; now x is leaving the disk, and is recorded as stored. */
    @Test
    void whatIsLeavingTheDiskIsReadFromTheStore() {
        demoteX();
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.4, 0.1, true, 100, 1_000, 5_000, 0, true, null, null));
        w.tick();
        assertEquals(PlacementState.LEAVING, w.state(a, Tier.DISK, x.get(0)));

        w.input(a.submit("r", x).store(4, 0).event());

        assertEquals(List.of(Tier.STORE, Tier.STORE, Tier.STORE, Tier.STORE), w.command(PrefetchBlocks.class).sources());
    }

    /** Disk: x0..x3, y0..y3 are 8 of 10; 4 go, for 8 - 4 = 4 < 5: those that are coldest and stored, from their end. */
    @Test
    void theDiskHasItsOwnLevel() {
        demoteX();
        w.warm(a, "u", Agent.path("u", 4), 40);
        CopyBlocks y = w.commands.stream().filter(CopyBlocks.class::isInstance).map(CopyBlocks.class::cast).reduce((p, q) -> q).orElseThrow();
        assertEquals(List.of("y3", "y2", "y1", "y0"), names(y.blocks()));

        DropBlocks drop = w.commands.stream().filter(DropBlocks.class::isInstance).map(DropBlocks.class::cast)
                .filter(d -> d.tier() == Tier.DISK).findFirst().orElseThrow();
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(drop.blocks()));
        assertEquals(Tier.STORE, drop.reliesOn());
        w.input(gone(drop));
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
        assertEquals(Tier.DISK, w.fact(BlocksRemoved.class).tier());
    }

    /** A block that was found again is not recorded as stored: it stays, and the disk stays full. Once stored, it may go. */
    @Test
    void theLastCopyStaysOnTheDisk() {
        List<Bytes> q = Agent.path("q", 9);
        w.input(found(a, q, 0, 9));
        assertEquals(Tier.DISK, w.fact(WaterLevelCrossed.class).tier());
        assertEquals(List.of(), w.commands(CopyBlocks.class));
        w.tick();
        assertEquals("TimeAdvanced", w.factNames());

        w.input(new BackUpDone(a.envelope(), "node/a@1.0", Agent.NAMESPACE, Agent.arrived(Agent.blocks(q, 6, 9), 0), 0, 0));

        assertEquals(List.of("q8", "q7", "q6"), names(w.command(DropBlocks.class).blocks()));
    }

    /** The use that the host knew of goes with the block: x was used after y, so y leaves the disk first. */
    @Test
    void recencyGoesWithTheCopy() {
        w.warm(a, "x", x, 0);
        w.warm(a, "y", Agent.path("y", 4), 10);
        w.input(a.submit("hit", x).answered().event());
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.8, 0.1, 1, 1, true, 100, 1_000, 5_000, 0, true, null, null));
        w.tick();
        w.input(done(w.command(CopyBlocks.class), 8));
        NodeContext n = Objects.requireNonNull(DecisionContext.of(w.tables, w.limits, w.log.getLast(), Evolve::apply).node("node/a"));

        assertEquals(List.of("y3", "y2", "y1", "y0", "x3", "x2", "x1", "x0"),
                names(candidates(n, Watermark.of(n.policy()).get(1), 8).getFirst().blocks()));
    }

    private static List<EvictionPicker.Batch> candidates(NodeContext n, Watermark level, int most) {
        return EvictionPicker.pick(n, new EvictionRules.ForWatermark(n, level), level, new EvictionPicker.Most(most, 8, true));
    }

    /** x3 was used and the disk does not take it: x2, which it takes, has that use all the same. */
    @Test
    void aUseCountsForWhatIsAboveThoughTheEndIsNotTaken() {
        w.warm(a, "x", x, 0);
        w.input(a.submit("hit", x).answered().event());
        long hit = w.offset();
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.4, 0.1, 1, 1, true, 100, 1_000, 5_000, 0, true, null, null));
        w.tick();

        assertEquals(List.of("x3", "x2", "x1", "x0"), names(w.command(CopyBlocks.class).blocks()));
        assertEquals(hit, Objects.requireNonNull(w.copy(a, Tier.DISK, x.get(2))).touch());
    }

    /** Batches of 1, at most 2 in flight: the host stands at 9 - 2 + 2 = 9 again, and still no third is issued. */
    @Test
    void noMoreCopiesAreInFlightThanAllowed() {
        World small = new World(new HeapTables(), new Limits(1, 100, 100, 2, 10, 64, 4))
                .policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 1, 1, true, 1, 1_000, 5_000, 0, true, null, null));
        Agent b = small.register(new Agent("b", "b-1", 10, 10));
        small.warm(b, "x", Agent.path("x", 9), 0);
        assertEquals(2, small.host(b).copies());

        small.warm(b, "y", Agent.path("y", 2), 20);

        assertEquals(List.of(11L, 2L), List.of(small.host(b).usedBlocks(), small.host(b).leavingBlocks()));
        assertEquals(2, small.host(b).copies());
    }

    /** Batches of 1: what a copy has brought down is dropped; the next copy waits for that, and does not come when the drop is refused. */
    @Test
    void theEndOfACopyIsFollowedByADropAndByNoCopy() {
        World small = new World(new HeapTables(), new Limits(1, 100, 100, 1, 10, 64, 4))
                .policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 1, 1, true, 1, 1_000, 5_000, 0, true, null, null));
        Agent b = small.register(new Agent("b", "b-1", 10, 10));
        small.warm(b, "x", Agent.path("x", 9), 0);
        for (boolean pinned : List.of(false, true)) {
            CopyBlocks copy = last(small, CopyBlocks.class);
            long copies = small.commands.stream().filter(CopyBlocks.class::isInstance).count();
            List<BlockResult> down = List.of(onDisk(copy.blocks().getFirst().block()));
            small.input(new CopyDone(b.envelope(), copy.operation(), Tier.HOST, Tier.DISK, Agent.NAMESPACE, down, 4_096, 1));
            DropBlocks drop = last(small, DropBlocks.class);
            assertEquals(names(copy.blocks()), names(drop.blocks()));
            assertEquals(copies, small.commands.stream().filter(CopyBlocks.class::isInstance).count());

            small.input(pinned
                    ? new DropFailed(b.envelope(), drop.operation(), Tier.HOST, OperationReason.PINNED, Agent.NAMESPACE,
                            Agent.failed(Blocks.of(drop.blocks()), OperationReason.PINNED))
                    : new DropDone(b.envelope(), drop.operation(), Tier.HOST, Agent.NAMESPACE, Agent.gone(drop)));
            assertEquals(pinned ? copies : copies + 1, small.commands.stream().filter(CopyBlocks.class::isInstance).count());
        }
    }

    private static <C extends Command> C last(World world, Class<C> type) {
        return world.commands.stream().filter(type::isInstance).map(type::cast).reduce((earlier, later) -> later).orElseThrow();
    }

    /** 9 - 4 = 5 stand; the sixth reaches the low mark and the ninth the high one: only then is more taken, 4 again. */
    @Test
    void whileCopiesRunMoreIsTakenAtTheHighMarkOnly() {
        crossing();
        long issued = w.commands.stream().filter(CopyBlocks.class::isInstance).count();
        for (int i = 0; i < 3; i++) {
            w.warm(a, "v" + i, Agent.path("v" + i, 1), 50 + i);
            assertEquals(issued, w.commands.stream().filter(CopyBlocks.class::isInstance).count());
        }
        w.warm(a, "v3", Agent.path("v3", 1), 53);

        assertEquals(issued + 1, w.commands.stream().filter(CopyBlocks.class::isInstance).count());
        assertEquals(8, w.host(a).leavingBlocks());
    }
}
