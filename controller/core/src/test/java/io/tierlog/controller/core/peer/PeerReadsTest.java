/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Node a shares blocks for read with node b. Blocks p0 to p3 are on a's host in pages 0 to 3; x0 to x2 on its disk alone. */
class PeerReadsTest {
    private static final String GRANT = "node/b@70.0";

    private final World w = new World();
    private final Agent a = new Agent("a", "a-1", 31, 31);
    private final Agent b = new Agent("b", "b-1", 31);
    private final List<Bytes> p = Agent.path("p", 4);
    private final List<Bytes> x = Agent.path("x", 3);
    private long asked;

    PeerReadsTest() {
        w.register(a);
        w.register(b);
        w.warm(a, "r", p, 0);
        List<PagedBlock> found = Agent.blocks(x, 0, 3).stream().map(block -> new PagedBlock(block, -1, 7, 77)).toList();
        w.input(new io.tierlog.schemas.event.BlocksRecovered(a.envelope(), Tier.DISK, Agent.NAMESPACE, found, 0));
    }

    private PeerReadRequested ask(String grant, List<Block> blocks) {
        return new PeerReadRequested(new Envelope("node/a", "agent/b/b-1", b.incarnation, ++asked, 0, 0, null, null, null), grant, "b",
                Agent.NAMESPACE, blocks);
    }

    private void policy(boolean enabled, int reads, int leasedBlocks) {
        PeerPolicy peers = new PeerPolicy(enabled, reads, leasedBlocks, 10_000, 200, 600, 1_000, 5_000);
        w.policy(World.fetching(new FetchPolicy(Policies.fetch(World.POLICY).promotion(), peers)));
    }

    private PeerReadHeld held(String grant, List<PagedBlock> blocks) {
        return new PeerReadHeld(a.envelope(), grant, Agent.NAMESPACE, blocks);
    }

    private PeerReadEnded ended(PeerReadReason reason, Integer... sent) {
        return new PeerReadEnded(a.envelope(), GRANT, reason, sent.length, sent.length * 4_096L, List.of(sent));
    }

    private PeerReadCancelled cancelled(String asker) {
        return new PeerReadCancelled(new Envelope("node/a", "agent/" + asker + "/" + asker + "-1", 1, ++asked, 0, 0, null, null, null), GRANT, asker);
    }

    private void promotions(int operations) {
        PeerPolicy peers = Policies.fetch(World.POLICY).peers();
        w.policy(World.fetching(new FetchPolicy(new PromotionPolicy(true, operations, 32, 1_024, 30_000, 5_000), peers)));
    }

    private PromotionRequested probe(List<Block> blocks) {
        return new PromotionRequested(new Envelope("node/a", "directory/d", 0, 0, 0, 0, null, null, null), "e1", Agent.NAMESPACE, blocks);
    }

    private @Nullable PeerReadLeaseRow row(String grant) {
        return w.tables.get(Rows.GRANTS, new RowKey.Text("node/a", grant));
    }

    private PromotionsRow counts() {
        return PromotionRows.orNothing(w.node(a).promotions());
    }

    private void assertRepeated() {
        assertEquals(RefusalReason.REPEATED, w.fact(InputRefused.class).reason());
        assertEquals(List.of(), w.last.commands());
    }

    private void assertRefused(PeerReadReason reason) {
        assertEquals(reason, w.fact(PeerReadRefused.class).reason());
        RefusePeerRead told = w.command(RefusePeerRead.class);
        assertEquals(reason, told.reason());
        assertEquals(told.header().commandSequence(), w.node(a).commandSequence());
        assertNull(w.tables.get(Rows.LEASES, new RowKey.Text("node/a", GRANT)));
    }

    @Test
    void blocksThatServeOnTheHostAreLeased() {
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));

        assertEquals("PeerReadGranted LeaseRequested", w.factNames());
        GrantPeerRead command = w.command(GrantPeerRead.class);
        assertEquals(Agent.paged(p, 0, 4, 0), command.blocks());
        assertEquals(List.of(GRANT, "b", 10_000L), List.of(command.grant(), command.asker(), command.grantMs()));
        assertEquals(command.header().commandSequence(), w.node(a).commandSequence());
        assertEquals(List.of(1, 4L), List.of(counts().reads(), counts().leasedBlocks()));
        LeaseRequested lease = w.fact(LeaseRequested.class);
        assertEquals(List.of(GRANT, "", "", 0), List.of(lease.lease(), lease.operation(), lease.request(), lease.attempt()));

        w.input(held(GRANT, command.blocks()));
        assertEquals("LeaseHeld", w.factNames());
        assertEquals(Agent.blocks(p, 0, 4), w.fact(LeaseHeld.class).blocks());
        assertEquals(1, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(3))).holds());

        w.input(ended(PeerReadReason.COMPLETED, 0, 1, 2, 3));
        assertEquals("LeaseEnded PeerReadClosed", w.factNames());
        assertEquals(LeaseEndReason.READ_ENDED, w.fact(LeaseEnded.class).reason());
        assertEquals(4, w.fact(PeerReadClosed.class).sentBlocks());
        assertEquals(List.of(0, 0L), List.of(counts().reads(), counts().leasedBlocks()));
        assertEquals(0, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(3))).holds());
    }

    @Test
    void aNameIsAnsweredOnce() {
        PeerReadRequested first = ask(GRANT, Agent.blocks(p, 0, 4));
        w.input(first);
        w.input(first);
        assertRepeated();
        w.input(ask(GRANT, Agent.blocks(p, 0, 2)));
        assertRepeated();

        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        w.input(ended(PeerReadReason.COMPLETED));
        w.input(first);
        assertRepeated();

        w.input(ask("node/b@71.0", Agent.blocks(Agent.path("q", 2), 0, 2)));
        assertRefused(PeerReadReason.NOT_SERVING);
        w.input(ask("node/b@71.0", Agent.blocks(p, 0, 2)));
        assertRepeated();
    }

    /** Two reads, or 6 blocks: the third read, and one of 4 beside 4, are too many. */
    @Test
    void theBudgetsAreKept() {
        // 4 and 4 are more than 7 blocks; 4 and 2 and 1 are not, but three reads.
        policy(true, 2, 7);
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(ask("node/b@71.0", Agent.blocks(p, 0, 4)));
        assertRefusedTo("node/b@71.0", PeerReadReason.BUSY);
        w.input(ask("node/b@72.0", Agent.blocks(p, 0, 2)));
        w.fact(PeerReadGranted.class);
        w.input(ask("node/b@73.0", Agent.blocks(p, 0, 1)));
        assertRefusedTo("node/b@73.0", PeerReadReason.BUSY);
        w.input(ended(PeerReadReason.COMPLETED));
        w.input(ask("node/b@74.0", Agent.blocks(p, 0, 4)));
        w.fact(PeerReadGranted.class);
    }

    private void assertRefusedTo(String grant, PeerReadReason reason) {
        assertEquals(reason, w.fact(PeerReadRefused.class).reason());
        assertEquals(grant, w.command(RefusePeerRead.class).grant());
    }

    @Test
    void moreThanAnyGrantHasIsOverTheLimit() {
        policy(true, 2, 3);
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        assertRefused(PeerReadReason.OVER_LIMIT);
    }

    @Test
    void aNodeWithPeerReadsDisabledRefuses() {
        policy(false, 2, 6);
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        assertRefused(PeerReadReason.DISABLED);
    }

    @Test
    void aDrainingNodeLeasesNothing() {
        w.input(new NodeDrainRequested(new Envelope("node/a", "operator/o", 0, 1, 0, 0, null, null, null), "d1", true, null));
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        assertRefused(PeerReadReason.DRAINING);
    }

    @Test
    void allBlocksOrNone() {
        List<Bytes> longer = new ArrayList<>(p);
        longer.add(Agent.key("p4"));
        w.input(ask(GRANT, Agent.blocks(longer, 0, 5)));
        assertRefused(PeerReadReason.NOT_SERVING);
    }

    @Test
    void aBlockOfAnotherIndexIsNotServed() {
        w.input(ask(GRANT, List.of(new Block(7, p.get(1), p.get(0)))));
        assertRefused(PeerReadReason.NOT_SERVING);
    }

    @Test
    void whoAsksForAnotherNodeIsRefused() {
        w.input(new PeerReadRequested(new Envelope("node/a", "agent/c/c-1", 1, 1, 0, 0, null, null, null), GRANT, "b", Agent.NAMESPACE,
                Agent.blocks(p, 0, 4)));
        assertEquals(RefusalReason.OVER_LIMIT, w.fact(InputRefused.class).reason());
        assertEquals(List.of(), w.last.commands());
    }

    /** The reader receives the refusal, and need not ask again until its time is over. */
    @Test
    void whatDoesNotHoldIsRefusedToItsReader() {
        w.input(ask(GRANT, List.of()));
        assertRefused(PeerReadReason.OVER_LIMIT);
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        assertRepeated();
    }

    /** The reader has died: the agent releases its pins and reports it, though the log's time is past the end of the grant by then. */
    @Test
    void theWordOfTheAgentEndsAGrant() {
        w.tick();
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        w.tick(10_999);
        assertEquals(List.of(), w.facts(PeerReadClosed.class));
        w.input(ended(PeerReadReason.EXPIRED, 0, 1));
        assertEquals(PeerReadReason.EXPIRED, w.fact(PeerReadClosed.class).reason());
        assertEquals(0, counts().reads());
    }

    /** A second after the 10 s the agent has not reported what it had sent: the grant is closed, and a late report changes nothing. */
    @Test
    void aGrantEndsWithItsTime() {
        w.tick();
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        w.input(a.heartbeat());
        w.tick(10_999);
        assertEquals(List.of(), w.facts(PeerReadClosed.class));
        w.tick(1);
        assertEquals(LeaseEndReason.EXPIRED, w.fact(LeaseEnded.class).reason());
        assertEquals(PeerReadReason.UNREPORTED, w.fact(PeerReadClosed.class).reason());
        assertEquals(0, counts().reads());
        w.input(ended(PeerReadReason.EXPIRED));
        assertEquals(RefusalReason.OPERATION_ENDED, w.fact(InputRefused.class).reason());
    }

    @Test
    void anEndedGrantIsForgottenAfterAWhile() {
        w.tick();
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(ended(PeerReadReason.NOT_SERVING));
        assertNotNull(row(GRANT));
        for (int i = 0; i < 59; i++) {
            w.tick();
            w.input(a.heartbeat());
        }
        assertNotNull(row(GRANT));
        w.tick();
        assertNull(row(GRANT));
    }

    @Test
    void aLeaseEndsWithTheIncarnationOfTheNode() {
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        w.input(a.stopping());
        assertEquals(LeaseEndReason.NODE_LOST, w.fact(LeaseEnded.class).reason());
        assertEquals(PeerReadReason.CANCELLED, w.fact(PeerReadClosed.class).reason());
        w.input(ask("node/b@71.0", Agent.blocks(p, 0, 4)));
        assertRefusedTo("node/b@71.0", PeerReadReason.CANCELLED);
        w.input(ask("node/b@71.0", Agent.blocks(p, 0, 4)));
        assertRepeated();
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        assertRepeated();
    }

    /** The transaction that gave the grant was undone; the agent has run its command. */
    @Test
    void pinsOfAnUnknownLeaseAreReleased() {
        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        assertEquals(GRANT, w.command(ReleasePins.class).pin());
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(held(GRANT, Agent.paged(p, 0, 2, 0)));
        assertEquals(GRANT, w.command(ReleasePins.class).pin());
        assertEquals(List.of(), w.facts(LeaseHeld.class));
    }

    /** The agent is notified once, releases its pins, and reports what it had sent; then the state is as after the normal end of the grant. */
    @Test
    void aCancelledReadLeasesNothingAnyMore() {
        w.input(ask(GRANT, Agent.blocks(p, 0, 4)));
        w.input(held(GRANT, Agent.paged(p, 0, 4, 0)));
        w.input(cancelled("c"));
        assertEquals(RefusalReason.OPERATION_ENDED, w.fact(InputRefused.class).reason());
        assertEquals(List.of(), w.last.commands());

        w.input(cancelled("b"));
        RefusePeerRead told = w.command(RefusePeerRead.class);
        assertEquals(List.of(GRANT, PeerReadReason.CANCELLED), List.of(told.grant(), told.reason()));
        assertEquals(told.header().commandSequence(), w.node(a).commandSequence());
        assertEquals("PeerReadRecalled", w.factNames());
        assertEquals(1, counts().reads());

        w.input(ended(PeerReadReason.CANCELLED, 0));
        assertEquals("LeaseEnded PeerReadClosed", w.factNames());
        assertEquals(0, counts().reads());
        w.input(cancelled("b"));
        assertEquals(RefusalReason.OPERATION_ENDED, w.fact(InputRefused.class).reason());
    }

    // --- from the disk

    private PromoteBlocks promotion() {
        w.input(ask(GRANT, Agent.blocks(x, 0, 3)));
        assertEquals("OperationIssued LeaseRequested PeerReadGranted LeaseRequested", w.factNames());
        return w.command(PromoteBlocks.class);
    }

    @Test
    void whatIsOnTheDiskIsPromotedFirst() {
        PromoteBlocks promote = promotion();
        OperationIssued issued = w.fact(OperationIssued.class);
        assertEquals(OperationKind.PROMOTE, issued.kind());
        assertEquals(issued.operation(), w.fact(PeerReadGranted.class).promotion());
        assertEquals(List.of(), w.commands(GrantPeerRead.class));
        assertEquals(List.of(7L, 7L, 7L), promote.blocks().stream().map(PagedBlock::generation).toList());

        w.input(new PromoteDone(a.envelope(), promote.operation(), promote.lease(), Agent.NAMESPACE,
                Agent.arrived(Agent.blocks(x, 0, 3), 20), List.of(), 0, 0));
        GrantPeerRead grant = w.command(GrantPeerRead.class);
        assertEquals(Agent.paged(x, 0, 3, 20), grant.blocks());
        w.input(held(GRANT, grant.blocks()));
        assertEquals(3, w.fact(LeaseHeld.class).blocks().size());
    }

    @Test
    void whatComesToTheHostAlreadyIsNotPromotedBeside() {
        w.input(a.submit("s", Agent.path("x", 4)).event());
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, x.get(2)));

        w.input(ask(GRANT, Agent.blocks(x, 0, 3)));

        assertRefused(PeerReadReason.BUSY);
    }

    @Test
    void aPromotionThatFailsEndsTheGrant() {
        PromoteBlocks promote = promotion();
        w.input(new PromoteFailed(a.envelope(), promote.operation(), OperationReason.NO_ROOM, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(x, 0, 3), OperationReason.NO_ROOM)));
        assertEquals(PeerReadReason.PROMOTION_FAILED, w.fact(PeerReadClosed.class).reason());
        assertEquals(PeerReadReason.PROMOTION_FAILED, w.command(RefusePeerRead.class).reason());
        assertEquals(0, counts().reads());
    }

    @Test
    void aPromotionOfAPartEndsTheGrant() {
        PromoteBlocks promote = promotion();
        List<BlockResult> results = new ArrayList<>(Agent.arrived(Agent.blocks(x, 0, 2), 20));
        results.addAll(Agent.failed(Agent.blocks(x, 2, 3), OperationReason.IO));
        w.input(new PromoteDone(a.envelope(), promote.operation(), promote.lease(), Agent.NAMESPACE, results, List.of(), 0, 0));
        assertEquals(PeerReadReason.PROMOTION_FAILED, w.fact(PeerReadClosed.class).reason());
    }

    /** A block that the reader cancelled before it arrived is shared with no reader; it stays on the host as any promoted block. */
    @Test
    void aReadCancelledDuringItsPromotionEndsAtOnce() {
        PromoteBlocks promote = promotion();
        w.input(cancelled("b"));
        assertEquals("PeerReadRecalled LeaseEnded PeerReadClosed", w.factNames());
        assertEquals(PeerReadReason.CANCELLED, w.command(RefusePeerRead.class).reason());
        assertEquals(0, counts().reads());
        w.input(new PromoteDone(a.envelope(), promote.operation(), promote.lease(), Agent.NAMESPACE,
                Agent.arrived(Agent.blocks(x, 0, 3), 20), List.of(), 0, 0));
        assertEquals(List.of(), w.commands(GrantPeerRead.class));
    }

    /** Of three promoted blocks the first and the last were sent: these two were used. */
    @Test
    void whatWasSentWasUsed() {
        PromoteBlocks promote = promotion();
        w.input(new PromoteDone(a.envelope(), promote.operation(), promote.lease(), Agent.NAMESPACE,
                Agent.arrived(Agent.blocks(x, 0, 3), 20), List.of(), 0, 0));
        w.input(held(GRANT, w.command(GrantPeerRead.class).blocks()));
        w.input(ended(PeerReadReason.IO, 0, 2, 2, 7, -1));
        PromotionSettled used = w.fact(PromotionSettled.class);
        assertEquals(PromotionOutcome.PROMOTED_HIT, used.outcome());
        assertEquals(List.of(0, 2), World.indexes(used.blocks()));
    }

    /** 5 s from the policy for what was promoted, as ever; 10 s for the grant. */
    @Test
    void theLeaseOfWhatWasPromotedIsTheOrdinaryOne() {
        w.tick(0);
        PromoteBlocks promote = promotion();
        assertEquals(5_000, promote.leaseMs());
        List<LeaseRequested> leases = w.facts(LeaseRequested.class);
        assertEquals(List.of(promote.lease(), GRANT), leases.stream().map(LeaseRequested::lease).toList());
        assertEquals(10_000 + 1_000 - 5_000, leases.get(1).endMs() - leases.get(0).endMs());
    }

    /** One promotion at a time: while x0 comes for one grant, x1 comes for no other. */
    @Test
    void thePromotionsOfGrantsAreBoundedAsAll() {
        promotions(1);
        w.input(ask(GRANT, Agent.blocks(x, 0, 1)));
        w.command(PromoteBlocks.class);
        w.input(ask("node/b@71.0", Agent.blocks(x, 1, 2)));
        assertRefusedTo("node/b@71.0", PeerReadReason.BUSY);
        w.input(ask("node/b@72.0", Agent.blocks(p, 0, 4)));
        w.fact(PeerReadGranted.class);
    }

    /** The host of 31 is high with 28, and has 4: 21 more leave space for 2 and not for 3. */
    @Test
    void whatIsPromotedForAGrantLeavesTheHostBelowItsHighMark() {
        w.warm(a, "s", Agent.path("q", 21), 4);
        w.input(ask(GRANT, Agent.blocks(x, 0, 3)));
        assertRefused(PeerReadReason.NO_ROOM);
        w.input(ask("node/b@71.0", Agent.blocks(x, 0, 2)));
        w.fact(PeerReadGranted.class);
    }

    /** The host had no space for a probe's block: for 5 s nothing is promoted for a grant either. */
    @Test
    void whilePromotionsPauseNoneBeginsForAGrant() {
        w.tick(0);
        w.input(probe(Agent.blocks(x, 0, 1)));
        PromoteBlocks promote = w.command(PromoteBlocks.class);
        w.input(new PromoteFailed(a.envelope(), promote.operation(), OperationReason.NO_ROOM, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(x, 0, 1), OperationReason.NO_ROOM)));
        w.fact(PromotionsPaused.class);
        w.input(ask(GRANT, Agent.blocks(x, 1, 3)));
        assertRefused(PeerReadReason.NO_ROOM);
        for (int i = 0; i < 6; i++) {
            w.input(a.heartbeat());
            w.tick();
        }
        w.input(ask("node/b@71.0", Agent.blocks(x, 1, 3)));
        w.fact(PeerReadGranted.class);
    }

    /** A grant's promotion finds no space: other waiting promotions go on waiting. */
    @Test
    void aReadsPromotionWithoutSpaceDoesNotPauseOthers() {
        promotions(1);
        w.input(ask(GRANT, Agent.blocks(x, 0, 1)));
        PromoteBlocks promote = w.command(PromoteBlocks.class);
        w.input(probe(Agent.blocks(x, 1, 2)));
        assertEquals(1, counts().queuedBlocks());
        w.input(new PromoteFailed(a.envelope(), promote.operation(), OperationReason.NO_ROOM, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(x, 0, 1), OperationReason.NO_ROOM)));
        assertEquals(List.of(), w.facts(PromotionsPaused.class));
        assertEquals(PeerReadReason.PROMOTION_FAILED, w.fact(PeerReadClosed.class).reason());
        assertEquals(List.of(1), World.indexes(Blocks.of(w.command(PromoteBlocks.class).blocks())));
    }

    // --- the node that reads

    /** 5 blocks: the store has all, the other node's host the first 4. */
    @Test
    void theCheapestSourceIsTaken() {
        List<Bytes> q = Agent.path("q", 5);
        w.input(b.submit("s", q).store(0, 5).peer("a", Tier.HOST, 0, 4).event());
        PrefetchBlocks fetch = w.command(PrefetchBlocks.class);
        assertEquals(List.of(Tier.HOST, Tier.HOST, Tier.HOST, Tier.HOST, Tier.STORE), fetch.sources());
        assertEquals("a", Objects.requireNonNull(fetch.peer()).node());
        assertEquals("a:7000", fetch.peer().address());
        OperationIssued issued = w.fact(OperationIssued.class);
        assertEquals("a", issued.peer());
        assertEquals(Tier.UNKNOWN, issued.from());

        List<BlockResult> results = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            BlockResult r = Agent.fetched(List.of(Agent.block(q, i)), i).getFirst();
            results.add(new BlockResult(r.block(), r.status(), r.reason(), r.page(), r.generation(), r.crc32c(), i < 4 ? Tier.HOST : Tier.STORE));
        }
        w.input(new PrefetchDone(b.envelope(), fetch.operation(), fetch.lease(), Agent.NAMESPACE, results, 0, 0));
        assertEquals(List.of(Tier.UNKNOWN, Tier.STORE), w.facts(BlocksPlaced.class).stream().map(BlocksPlaced::heldAlso).toList());
    }

    /** A block from another node's disk costs 600 us: less than the store's 1,000. With 1,200 the store is cheaper, with 6,000 to compute it. */
    @Test
    void whatCostsMoreIsNotAskedFor() {
        costs(600, 1_000, 5_000);
        w.input(b.submit("s", Agent.path("q", 5)).store(0, 5).peer("a", Tier.DISK, 0, 5).event());
        assertEquals(Tier.HOST, w.command(PrefetchBlocks.class).sources().getFirst());
        costs(1_200, 1_000, 5_000);
        w.input(b.submit("t", Agent.path("u", 5)).store(0, 5).peer("a", Tier.DISK, 0, 5).event());
        assertEquals(Tier.STORE, w.command(PrefetchBlocks.class).sources().getFirst());
        assertNull(w.command(PrefetchBlocks.class).peer());
        costs(6_000, 7_000, 5_000);
        w.input(b.submit("v", Agent.path("w", 5)).peer("a", Tier.DISK, 0, 5).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        w.input(b.submit("y", Agent.path("z", 5)).peer("a", Tier.HOST, 0, 5).event());
        assertEquals(5, w.command(PrefetchBlocks.class).blocks().size());
    }

    private void costs(long disk, long store, long compute) {
        PeerPolicy peers = new PeerPolicy(true, 4, 100, 10_000, 200, disk, store, compute);
        w.policy(World.fetching(new FetchPolicy(Policies.fetch(World.POLICY).promotion(), peers)));
    }

    /** The threshold is 2 blocks: 2 are not fetched from anywhere, 3 are. Nor is anything read from the node itself, or when policy forbids it. */
    @Test
    void theThresholdHoldsForOtherNodesToo() {
        w.input(b.submit("s", Agent.path("q", 5)).peer("a", Tier.HOST, 0, 2).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        w.input(b.submit("t", Agent.path("u", 5)).peer("a", Tier.HOST, 0, 3).event());
        assertEquals(3, w.command(PrefetchBlocks.class).blocks().size());
        w.input(b.submit("v", Agent.path("w", 5)).peer("b", Tier.HOST, 0, 3).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        policy(false, 4, 100);
        w.input(b.submit("y", Agent.path("z", 5)).peer("a", Tier.HOST, 0, 3).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
    }

    @Test
    void aSubmissionWithAWrongPeerIsRefused() {
        w.input(b.submit("s", Agent.path("q", 5)).peer("a", Tier.STORE, 0, 2).event());
        assertEquals(RefusalReason.OVER_LIMIT, w.fact(InputRefused.class).reason());
        w.input(b.submit("s", Agent.path("q", 5)).peer("", Tier.HOST, 0, 2).event());
        assertEquals(RefusalReason.OVER_LIMIT, w.fact(InputRefused.class).reason());
    }

    // --- what directories receive

    @Test
    void theEpochOfANodeIsPublished() {
        Agent c = new Agent("c", "c-1", 31);
        w.register(c);
        PlacementFeed.EpochRecord begun = epoch();
        assertEquals(new String(begun.key().unshared(), java.nio.charset.StandardCharsets.UTF_8), "node/c");
        assertEquals(List.of("c", 1L, true), List.of(begun.epoch().node(), begun.epoch().incarnation(), begun.epoch().alive()));
        w.input(c.stopping());
        NodeEpoch over = epoch().epoch();
        assertEquals(List.of("c", 1L, false), List.of(over.node(), over.incarnation(), over.alive()));
        assertInstanceOf(NodeEpoch.class, over);
    }

    private PlacementFeed.EpochRecord epoch() {
        return w.last.facts().stream().flatMap(f -> PlacementFeed.epoch(f).stream()).findFirst().orElseThrow();
    }

    /** A directory names nodes that have registered; they stay registered, and answer also when their end is long ago. */
    @Test
    void aNodeThatHasRegisteredIsKnownForGood() {
        w.input(a.stopping());
        IntStream.range(0, 300).forEach(any -> w.tick());
        w.input(ask(GRANT, Agent.blocks(p, 0, 1)));
        assertRefused(PeerReadReason.CANCELLED);
        Envelope toNobody = new Envelope("node/z", "agent/b/b-1", 1, ++asked, 0, 0, null, null, null);
        World.assertRefused(RefusalReason.NODE_UNKNOWN, w.input(new PeerReadRequested(toNobody, GRANT, "b", Agent.NAMESPACE, List.of())));
        assertEquals(List.of(), w.last.commands());
    }
}
