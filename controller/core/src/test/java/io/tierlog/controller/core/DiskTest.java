/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static io.tierlog.controller.core.SubmissionTest.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.state.CopyState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * What leaves the host goes to the disk first: host 10, marks 0.9 (9 blocks) and 0.6 (6); disk 10, marks 0.8 (8) and 0.5 (5). Prompt x has
 * 4 blocks and is the coldest, y has 4, z has 1.
 */
class DiskTest {
    private final World w = new World().policy(policy(true, true));
    private final Agent a = w.register(new Agent("a", "a-1", 10, 10));
    private final List<Bytes> x = Agent.path("x", 4);
    private long generation = 10;

    private static Policy policy(boolean copyToDisk, boolean backUp) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.8, 0.5, copyToDisk, 100, 1_000, 5_000, 0, backUp);
    }

    /** 8 of 10 on the host, and a ninth: relief takes 4, for 9 - 4 = 5 < 6. */
    private void cross() {
        w.warm(a, "x", x, 0);
        w.warm(a, "y", Agent.path("y", 4), 10);
        w.warm(a, "z", Agent.path("z", 1), 20);
    }

    private CopyBlocks crossing() {
        cross();
        return w.commands.stream().filter(CopyBlocks.class::isInstance).map(CopyBlocks.class::cast).findFirst().orElseThrow();
    }

    private CopyDone done(CopyBlocks copy, int arrived) {
        List<BlockResult> results = new ArrayList<>();
        for (int i = 0; i < copy.blocks().size(); i++) {
            Block block = copy.blocks().get(i).block();
            results.add(i < arrived ? onDisk(block) : Agent.failed(List.of(block), OperationReason.IO).getFirst());
        }
        return new CopyDone(a.envelope(), copy.operation(), Tier.HOST, Tier.DISK, Agent.NAMESPACE, results, 4_096L * arrived, 1);
    }

    private BlockResult onDisk(Block block) {
        BlockResult r = Agent.arrived(List.of(block), 0).getFirst();
        return new BlockResult(block, r.status(), r.reason(), -1, ++generation, r.crc32c(), Tier.HOST);
    }

    private CopyFailed failed(CopyBlocks copy, OperationReason reason) {
        return new CopyFailed(a.envelope(), copy.operation(), Tier.HOST, Tier.DISK, reason, Agent.NAMESPACE,
                Agent.failed(Operations.blocks(copy.blocks()), reason));
    }

    private DropDone gone(DropBlocks drop) {
        return new DropDone(a.envelope(), drop.operation(), drop.tier(), Agent.NAMESPACE, Agent.gone(drop.blocks()));
    }

    private static List<String> names(List<PagedBlock> blocks) {
        return WaterLevelTest.names(Operations.blocks(blocks));
    }

    /** x leaves the host for the disk; answers with the drop. */
    private DropBlocks demoteX() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);
        w.input(gone(drop));
        return drop;
    }

    /** Blocks found on the disk, of generation 7. */
    private BlocksRecovered found(Agent agent, List<Bytes> path, int from, int to) {
        List<PagedBlock> blocks = Agent.blocks(path, from, to).stream().map(b -> new PagedBlock(b, -1, 7, 77)).toList();
        return new BlocksRecovered(agent.envelope(), Tier.DISK, Agent.NAMESPACE, blocks, 0);
    }

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
        assertEquals(List.of(CopyState.COPYING, CopyState.WRITING), List.of(w.state(a, Tier.HOST, x.get(3)), w.state(a, Tier.DISK, x.get(3))));
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

    @Test
    void aCopyThatIsRefusedIsNotTriedAgain() {
        CopyBlocks copy = crossing();

        w.input(new CommandRefused(a.envelope(), copy.header().command(), copy.header().commandSequence(), copy.operation(),
                OperationReason.QUEUE_FULL, ""));

        assertEquals(Tier.STORE, w.command(DropBlocks.class).reliesOn());
        assertEquals(0, w.tier(a, Tier.DISK).usedBlocks());
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

    /** The disk has room for 3 of the 4. */
    @Test
    void withoutRoomNothingIsCopied() {
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

    /** A hit while the copy runs: x serves, is used, and stays; y goes in its place. */
    @Test
    void whatIsUsedWhileItIsCopiedStays() {
        CopyBlocks copy = crossing();
        w.input(a.submit("hit", x).answered().event());
        assertEquals(List.of(Tier.HOST, Tier.DISK), w.facts(BlocksTouched.class).stream().map(BlocksTouched::tier).toList());

        w.input(done(copy, 4));

        assertEquals(List.of("y3", "y2", "y1", "y0"), names(w.command(CopyBlocks.class).blocks()));
        assertEquals(CopyState.SERVING, w.state(a, Tier.HOST, x.get(0)));
    }

    /** x comes back from the disk, which keeps it: when it leaves again, no bytes move. */
    @Test
    void whatComesBackFromTheDiskLeavesWithoutACopy() {
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 1, 1, true, 100, 1_000, 5_000, 0, true));
        demoteX();
        w.input(a.submit("r", x).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertEquals(List.of(Agent.blocks(x, 0, 4), List.of(Tier.DISK, Tier.DISK, Tier.DISK, Tier.DISK)),
                List.of(fetch.blocks(), fetch.sources()));
        List<BlockResult> read = Agent.arrived(fetch.blocks(), 30).stream()
                .map(r -> new BlockResult(r.block(), r.status(), r.reason(), r.page(), 2, r.crc32c(), Tier.DISK)).toList();
        w.input(new PrefetchDone(a.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, read, 0, 0));
        assertEquals(Tier.STORE, w.facts(BlocksPlaced.class).getFirst().heldAlso(), "the disk's copy is known to be stored");
        assertEquals(CopyState.SERVING, w.state(a, Tier.DISK, x.get(3)));
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

    /** The host has p0 and p1, the disk p0..p4, the store was asked from 5 on and has two. */
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

    /** Below the threshold nothing is fetched from the disk: looking is no use there; the hit of the host is one. */
    @Test
    void whatIsOnlySeenOnTheDiskIsNotUsed() {
        List<Bytes> p = Agent.path("p", 4);
        w.warm(a, "p", p.subList(0, 2), 0);
        w.input(found(a, p, 0, 4));

        w.input(a.submit("r", p).event());

        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        assertEquals(List.of(List.of(1), List.of(1)), w.facts(BlocksTouched.class).stream().map(f -> World.indexes(f.deepest())).toList());
    }

    /** The store was asked from 4 on, for the disk had 0..3; now x is leaving the disk, and is known to be stored. */
    @Test
    void whatIsLeavingTheDiskIsReadFromTheStore() {
        demoteX();
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.9, 0.6, 0.4, 0.1, true, 100, 1_000, 5_000, 0, true));
        w.tick();
        assertEquals(CopyState.LEAVING, w.state(a, Tier.DISK, x.get(0)));

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

    /** What was found again is not known to be stored: it stays, and the disk stays full. Once stored, it may go. */
    @Test
    void theLastCopyStaysOnTheDisk() {
        List<Bytes> q = Agent.path("q", 9);
        w.input(found(a, q, 0, 9));
        assertEquals(Tier.DISK, w.fact(WaterLevelCrossed.class).tier());
        assertEquals(List.of(), w.last.commands());
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
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.8, 0.1, 1, 1, true, 100, 1_000, 5_000, 0, true));
        w.tick();
        w.input(done(w.command(CopyBlocks.class), 8));
        NodeDraft n = Objects.requireNonNull(Draft.of(w.tables, w.limits, w.log.getLast()).node("node/a"));

        assertEquals(List.of("y3", "y2", "y1", "y0", "x3", "x2", "x1", "x0"),
                names(Victims.pick(n, Level.of(n.d.policy()).getLast(), 8, 8).getFirst().blocks()));
    }

    /** The agent's disk does not have what a drop relied on: it is taken off the books, and the block is copied again. */
    @Test
    void whatTheDiskTurnsOutToLackIsTakenOffTheBooks() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);

        w.input(new DropFailed(a.envelope(), drop.operation(), Tier.HOST, OperationReason.LAST_COPY, Agent.NAMESPACE,
                Agent.failed(Operations.blocks(drop.blocks()), OperationReason.LAST_COPY)));

        BlocksRemoved removed = w.fact(BlocksRemoved.class);
        assertEquals(List.of(Tier.DISK, 4, 0), List.of(removed.tier(), removed.blocks().size(), removed.lastCopiesLost()));
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
    void aCopyThatIsToldTwiceCountsOnce() {
        CopyBlocks copy = crossing();
        CopyDone event = done(copy, 4);
        w.input(event);
        assertRefused(RefusalReason.OPERATION_ENDED, w.input(event.withEnvelope(a.envelope())));
        assertEquals("InputRefused", w.factNames());
        assertEquals(4, w.tier(a, Tier.DISK).usedBlocks());
    }

    /** A copy that nobody asked for: its bytes count, an older generation's do not. */
    @Test
    void aCopyThatNobodyKnowsIsAdopted() {
        List<BlockResult> results = Agent.blocks(x, 0, 2).stream().map(this::onDisk).toList();
        w.input(new CopyDone(a.envelope(), "node/a@5.0", Tier.HOST, Tier.DISK, Agent.NAMESPACE, results, 0, 0));
        assertEquals("BlocksPlaced OrphanAdopted", w.factNames());
        assertEquals(CopyState.SERVING, w.state(a, Tier.DISK, x.get(1)));

        w.input(found(a, x, 0, 4));
        assertEquals(List.of(2, 3), World.indexes(Operations.blocks(w.fact(BlocksPlaced.class).blocks())), "of 0 and 1 a later copy is known");
    }

    /** While the copy runs, a later one of x3 is reported by an operation that nobody knows: the end of the first does not set it back. */
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

    /** Nobody stored them, but the disk has what the host lost and the host has what the disk lost: no last copy went. */
    @Test
    void aCopyOnAnotherTierOfTheNodeIsNoLoss() {
        w.policy(policy(true, false));
        w.warm(a, "x", x, 0);
        w.input(found(a, x, 0, 4));
        w.input(a.evicted(Tier.DISK, RemovalReason.CHECKSUM, List.of(new PagedBlock(Agent.block(x, 3), -1, 7, 0))));
        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());
        w.input(a.evicted(Tier.DEVICE, RemovalReason.ENGINE_EVICTED, Agent.paged(x, 2, 3, 1_002)));
        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(x, 2, 3, 2)));
        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());

        w.input(a.stopping());

        BlocksRemoved host = w.facts(BlocksRemoved.class).stream().filter(f -> f.tier() == Tier.HOST).findFirst().orElseThrow();
        assertEquals(List.of(3, 1), List.of(host.blocks().size(), host.lastCopiesLost()), "x3 is neither in the store nor on the disk");
    }

    /** The same id and another move: a drop from the disk is not the end of a drop from the host. */
    @Test
    void anEndOfAnotherMoveIsNotTheEnd() {
        w.input(done(crossing(), 4));
        DropBlocks drop = w.command(DropBlocks.class);

        w.input(new DropDone(a.envelope(), drop.operation(), Tier.DISK, Agent.NAMESPACE, List.of()));

        assertEquals(1, w.facts(OrphanAdopted.class).size());
        assertEquals(CopyState.LEAVING, w.state(a, Tier.HOST, x.get(0)));
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

        assertEquals(CopyState.WRITING, w.state(a, Tier.DISK, x.get(3)));
    }

    /** The disk outlives the agent: what it still holds serves in the new life, what was not found again is swept. */
    @Test
    void theDiskSurvivesARestart() {
        demoteX();
        w.input(a.stopping());
        Agent b = w.register(new Agent("a", "a-2", 10, 10));
        assertEquals(CopyState.ABSENT, w.state(b, Tier.DISK, x.get(0)));

        w.input(found(b, x, 0, 3));

        BlocksPlaced placed = w.fact(BlocksPlaced.class);
        assertEquals(List.of(Tier.DISK, Tier.UNKNOWN, 3), List.of(placed.tier(), placed.heldAlso(), placed.blocks().size()));
        assertEquals(3, w.tier(b, Tier.DISK).usedBlocks());
        w.input(b.submit("r", x).event());
        assertEquals(List.of(0, 1, 2), World.indexes(w.command(PrefetchBlocks.class).blocks()));
    }

    @Test
    void stepsOfARecoveryAreBounded() {
        assertRefused(RefusalReason.OVER_LIMIT, w.input(found(a, Agent.path("r", 1_001), 0, 1_001)));
        w.input(found(a, Agent.path("r", 1_000), 0, 1_000));
        assertEquals(1_000, w.tier(a, Tier.DISK).usedBlocks());
        Agent none = w.register("none", 10);
        assertRefused(RefusalReason.CONFIGURATION_MISMATCH, w.input(found(none, x, 0, 1)));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new BlocksRecovered(a.envelope(), Tier.HOST, Agent.NAMESPACE,
                List.of(), 0)));
    }
}
