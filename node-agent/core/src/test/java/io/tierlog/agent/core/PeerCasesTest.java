/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.peer.PeerChoice;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reads across nodes, seen from the agent that reads and from the one that is read. 11 tokens of 2: 5 blocks. */
class PeerCasesTest {
    private static final Prompt P = Prompt.range(2, 1, 11);
    private static final Holder C = new Holder("c", "c:7000", Tier.HOST, 5);
    private static final Holder D = new Holder("d", "d:7000", Tier.HOST, 5);

    private final FakePeers peers = new FakePeers();
    private final World w = world();
    private long calls = 500;

    private World world() {
        World world = new World(31, 10, 0, AgentLimits.defaults(), World.Past.none(), Optional.of(peers));
        world.register();
        world.attach();
        return world;
    }

    @AfterEach
    void nothingIsLeft() {
        w.advance(70_000);
        w.settle();
        w.cancel("r");
        w.assertAtRest();
    }

    // --- who has it

    private void submit(String request, Prompt prompt) {
        w.submit(request, prompt, 0);
    }

    private void storeAnswers() {
        w.ports.of(Kind.PROBE).forEach(unit -> w.on(w.ports.endProbe(unit)));
    }

    private void found(Holder... holders) {
        w.on(new PeersFound(peers.finds.removeFirst().unit(), List.of(holders)));
    }

    private RequestSubmitted submitted() {
        return w.seen.events(RequestSubmitted.class).getLast();
    }

    @Test
    void anotherNodeIsNamedInTheSubmission() {
        submit("r", P);
        assertEquals(P.keys(), peers.finds.getFirst().keys());
        assertEquals(0, peers.finds.getFirst().firstIndex());
        storeAnswers();
        assertEquals(List.of(), w.seen.events(RequestSubmitted.class));
        found(C);
        assertEquals(new PeerCopies("c", "c:7000", Tier.HOST, 0, 5), submitted().peer());
        assertEquals(false, submitted().answered());
    }

    @Test
    void theStoreMayAnswerLast() {
        submit("r", P);
        found(C);
        assertEquals(List.of(), w.seen.events(RequestSubmitted.class));
        storeAnswers();
        assertEquals("c", Objects.requireNonNull(submitted().peer()).node());
    }

    @Test
    void noOtherNodeHasIt() {
        submit("r", P);
        storeAnswers();
        found();
        assertNull(submitted().peer());
        assertTrue(submitted().answered());
    }

    /** After 20 ms the request continues without a peer, and a later answer is ignored. */
    @Test
    void aLateAnswerOfTheDirectoryIsIgnored() {
        submit("r", P);
        storeAnswers();
        w.advance(19);
        assertEquals(List.of(), w.seen.events(RequestSubmitted.class));
        w.advance(1);
        assertNull(submitted().peer());
        found(C);
        assertEquals(1, w.seen.events(RequestSubmitted.class).size());
    }

    /** The threshold is 2 blocks: for 2 no directory is called, for 3 it is. */
    @Test
    void noOtherNodeIsLookedForForAFewBlocks() {
        submit("q", Prompt.range(2, 101, 105));
        assertEquals(List.of(), peers.finds);
        submit("r", Prompt.range(2, 1, 7));
        assertEquals(1, peers.finds.size());
        w.cancel("q");
    }

    @Test
    void theAgentItselfIsNotAPeer() {
        submit("r", P);
        storeAnswers();
        found(new Holder("a", "a:7000", Tier.HOST, 5), new Holder("x", "", Tier.HOST, 5), new Holder("y", "y:1", Tier.STORE, 5));
        assertNull(submitted().peer());
    }

    /** One read is under way at c, so d is asked; after c's has ended and d has refused, c is. */
    @Test
    void theHolderWithTheLeastLoadIsChosen() {
        submit("r", P);
        storeAnswers();
        found(C);
        borrow("r", P, "c");
        Prompt q = Prompt.range(2, 101, 111);
        submit("q", q);
        storeAnswers();
        found(C, D);
        assertEquals("d", Objects.requireNonNull(submitted().peer()).node());

        endRead(5, OperationReason.IO);
        borrow("q", q, "d");
        endRead(0, OperationReason.NOT_SERVING);
        w.endAll(Kind.READ);
        w.cancel("q");
        Prompt s = Prompt.range(2, 201, 211);
        submit("s", s);
        storeAnswers();
        found(D, C);
        assertEquals("c", Objects.requireNonNull(submitted().peer()).node());
        w.cancel("s");
    }

    @Test
    void aShortRunIsNotLookedAt() {
        submit("r", P);
        storeAnswers();
        found(C);
        borrow("r", P, "c");
        submit("q", Prompt.range(2, 101, 111));
        storeAnswers();
        found(C, new Holder("d", "d:7000", Tier.HOST, 2));
        assertEquals("c", Objects.requireNonNull(submitted().peer()).node());
        endRead(5, OperationReason.IO);
        w.cancel("q");
    }

    // --- reading

    private PrefetchBlocks borrow(String request, Prompt prompt, String node) {
        PrefetchBlocks command = fromPeer(w.prefetchCommand(request, prompt, 0, 5), node);
        w.command(command);
        return command;
    }

    /** The same fetch of 5 blocks, from that node. */
    private static PrefetchBlocks fromPeer(PrefetchBlocks c, String node) {
        return new PrefetchBlocks(c.envelope(), c.header(), c.operation(), c.lease(), c.leaseMs(), c.request(), c.attempt(), c.namespace(), c.root(),
                c.blocks(), Collections.nCopies(5, Tier.HOST), c.buildsOn(), new PeerSource(node, node + ":7000"));
    }

    /** The oldest read ends: the first blocks arrive with their bytes, the rest fail. */
    private void endRead(int arrive, OperationReason why) {
        FakePeers.Read read = peers.reads.removeFirst();
        List<UnitResult> results = new ArrayList<>();
        for (int i = 0; i < read.pages().size(); i++) {
            Bytes key = read.pages().get(i).key();
            byte[] content = FakePorts.content(read.namespace(), key);
            if (i < arrive) {
                w.ports.host[read.pages().get(i).hostPage()] = content;
            }
            results.add(i < arrive ? FakePorts.arrived(FakePorts.crc(content)) : FakePorts.failed(why));
        }
        w.on(new PeerUnitEnded(read.unit(), results));
    }

    private PrefetchBlocks borrowing() {
        submit("r", P);
        storeAnswers();
        found(C);
        return borrow("r", P, "c");
    }

    @Test
    void blocksOfAPeerReadAreOffered() {
        PrefetchBlocks command = borrowing();
        PeerReadRequested asked = w.seen.events(PeerReadRequested.class).getFirst();
        assertEquals("node/c", asked.envelope().aggregate());
        assertEquals(List.of(command.operation(), "a"), List.of(asked.grant(), asked.asker()));
        assertEquals(command.blocks(), asked.blocks());
        assertEquals(command.operation(), peers.reads.getFirst().holder().grant());
        assertEquals("c:7000", peers.reads.getFirst().holder().address());

        endRead(5, OperationReason.IO);

        PrefetchDone done = w.seen.events(PrefetchDone.class).getFirst();
        assertEquals(Collections.nCopies(5, Tier.HOST), done.blocks().stream().map(BlockResult::source).toList());
        assertEquals(5, w.seen.notices(RecordedOutput.Ready.class).getFirst().offer().sources().size());
        assertEquals(5, w.serving());
    }

    /** Blocks 3 and 4 are not what they should be: they come from the store. */
    @Test
    void whatIsWrongComesFromTheStore() {
        w.ports.put(P, 0, 5);
        borrowing();
        endRead(3, OperationReason.CHECKSUM);
        w.end(Kind.READ, 5);
        PrefetchDone done = w.seen.events(PrefetchDone.class).getFirst();
        assertEquals(List.of(Tier.HOST, Tier.HOST, Tier.HOST, Tier.STORE, Tier.STORE), done.blocks().stream().map(BlockResult::source).toList());
        assertEquals(2, w.core.status().counters().getOrDefault(AgentCounter.PEER_READS_FALLEN_BACK, 0L));
    }

    /** The node has died after 2 blocks and the store has none: 2 are offered, the pages of the others are free. */
    @Test
    void aRunThatBreaksServesToTheBreak() {
        borrowing();
        endRead(2, OperationReason.IO);
        w.end(Kind.READ, 0, OperationReason.NOT_FOUND);
        assertEquals(2, w.seen.notices(RecordedOutput.Ready.class).getFirst().offer().sources().size());
        assertEquals(8, w.free());
    }

    /** The other node's pins need not wait for the end of their time: once, as soon as nothing more is read from it. */
    @Test
    void aReaderThatStopsSendsAnEarlyEnd() {
        w.ports.put(P, 0, 5);
        PrefetchBlocks command = borrowing();
        endRead(2, OperationReason.IO);
        PeerReadCancelled gone = w.seen.events(PeerReadCancelled.class).getFirst();
        assertEquals(List.of("node/c", command.operation(), "a"), List.of(gone.envelope().aggregate(), gone.grant(), gone.asker()));
        w.end(Kind.READ, 5);
        assertEquals(1, w.seen.events(PeerReadCancelled.class).size());
    }

    @Test
    void aWholeReadSendsNoEarlyEnd() {
        borrowing();
        endRead(5, OperationReason.IO);
        assertEquals(List.of(), w.seen.events(PeerReadCancelled.class));
    }

    @Test
    void aCancelledFetchReportsItsEnd() {
        borrowing();
        w.cancel("r");
        assertEquals(List.of(), w.seen.events(PeerReadCancelled.class));
        endRead(5, OperationReason.IO);
        assertEquals(1, w.seen.events(PeerReadCancelled.class).size());
    }

    /** A fetch that waits for its lease takes no unit from other fetches: with one unit each, the store is read beside it. */
    @Test
    void aWaitForAPeerReadLeaseDelaysNoOtherFetch() {
        AgentLimits d = AgentLimits.defaults();
        AgentLimits.Peers p = d.peers();
        AgentLimits narrow = d.with(new AgentLimits.Units(32, 1, 1, 1, 1))
                .with(new AgentLimits.Peers(p.findMs(), p.retryMs(), p.grants(), p.reads(), p.refusalMs(), 1));
        World one = new World(31, 10, 0, narrow, World.Past.none(), Optional.of(peers));
        one.register();
        one.attach();
        Prompt q = Prompt.range(2, 101, 111);
        one.ports.put(q, 0, 5);
        for (Prompt prompt : List.of(P, q)) {
            one.submit(prompt.equals(P) ? "r" : "q", prompt, 0);
            one.ports.of(Kind.PROBE).forEach(unit -> one.on(one.ports.endProbe(unit)));
            one.on(new PeersFound(peers.finds.removeFirst().unit(), prompt.equals(P) ? List.of(C) : List.of()));
        }
        one.command(fromPeer(one.prefetchCommand("r", P, 0, 5), "c"));
        assertEquals(1, peers.reads.size());
        one.command(one.prefetchCommand("q", q, 0, 5));
        one.end(Kind.READ, 5);
        assertEquals(1, one.seen.events(PrefetchDone.class).size());
        one.on(new PeerUnitEnded(peers.reads.removeFirst().unit(), Collections.nCopies(5, FakePorts.failed(OperationReason.NOT_SERVING))));
        one.end(Kind.READ, 0, OperationReason.NOT_FOUND);
        assertEquals(1, one.seen.events(PrefetchFailed.class).size());
    }

    /** A request that would ask {@code first} when both have the same load and have refused as often. */
    private static String preferring(String name, String first, String second) {
        int i = 0;
        while (PeerChoice.spread(name + i, first) >= PeerChoice.spread(name + i, second)) {
            i++;
        }
        return name + i;
    }

    /** The node gives the first blocks of a prompt, the store none. */
    private void leases(Holder holder, int number, int blocks, OperationReason why) {
        Prompt prompt = Prompt.range(2, number * 100 + 1, number * 100 + 11);
        submit("q" + number, prompt);
        storeAnswers();
        found(holder);
        borrow("q" + number, prompt, holder.node());
        endRead(blocks, why);
        w.end(Kind.READ, 0, OperationReason.NOT_FOUND);
        w.cancel("q" + number);
    }

    private String chosen(String request) {
        return chosen(request, C, D);
    }

    private String chosen(String request, Holder... holders) {
        submit(request, Prompt.range(2, 901, 911));
        storeAnswers();
        found(holders);
        String node = Objects.requireNonNull(submitted().peer()).node();
        w.cancel(request);
        return node;
    }

    /** Of two nodes whose names differ in one letter each is preferred by about half of 1,000 requests. */
    @Test
    void requestsSpread() {
        int c = 0;
        for (int i = 0; i < 1_000; i++) {
            c += PeerChoice.spread("request-" + i, "c") < PeerChoice.spread("request-" + i, "d") ? 1 : 0;
        }
        int chosen = c;
        assertTrue(c > 400 && c < 600, () -> "c is preferred " + chosen + " times");
    }

    /** c has refused one fetch of 5 blocks, d one block of two fetches: d has refused more often. */
    @Test
    void aRefusalCountsOnceForAFetch() {
        leases(C, 1, 0, OperationReason.NOT_SERVING);
        leases(D, 2, 4, OperationReason.IO);
        leases(D, 3, 4, OperationReason.IO);
        assertEquals("c", chosen(preferring("s", "d", "c")));
    }

    /** What d has on its disk alone it would have to promote first; but d is asked when c has refused. */
    @Test
    void aHostRanksBeforeADisk() {
        Holder onDisk = new Holder("d", "d:7000", Tier.DISK, 5);
        assertEquals("c", chosen(preferring("s", "d", "c"), onDisk, C));
        leases(C, 1, 0, OperationReason.NOT_SERVING);
        assertEquals("d", chosen(preferring("t", "c", "d"), onDisk, C));
    }

    /** A full queue of this node does not count against c. */
    @Test
    void theOwnLimitsAreNoRefusal() {
        leases(C, 1, 0, OperationReason.QUEUE_FULL);
        assertEquals("c", chosen(preferring("s", "c", "d")));
        leases(C, 2, 0, OperationReason.NOT_SERVING);
        assertEquals("d", chosen(preferring("t", "c", "d")));
    }

    @Test
    void nothingArrives() {
        borrowing();
        endRead(0, OperationReason.IO);
        w.end(Kind.READ, 0, OperationReason.NOT_FOUND);
        assertEquals(OperationReason.NOT_FOUND, w.seen.events(PrefetchFailed.class).getFirst().reason());
        assertEquals(10, w.free());
    }

    @Test
    void aCancelledFetchFallsBackOnNothing() {
        borrowing();
        w.cancel("r");
        endRead(2, OperationReason.IO);
        assertEquals(List.of(), w.ports.of(Kind.READ));
        assertEquals(10, w.free());
    }

    // --- serving reads of other nodes

    /** Blocks 0 to 4 of p on the host. */
    private List<PagedBlock> warm() {
        submit("w", P);
        storeAnswers();
        found();
        w.prefilled("w");
        w.seal("w", P, 0, 0, 1, 2, 3, 4);
        w.finish("w");
        String writeBack = w.writeBack("w", P, 0, 0, 1, 2, 3, 4);
        w.endAll(Kind.SAVE);
        w.releasePins(writeBack);
        w.releaseRequest("w");
        return w.seen.events(WriteBackDone.class).getFirst().blocks().stream()
                .map(r -> new PagedBlock(r.block(), r.page(), r.generation(), r.crc32c())).toList();
    }

    private void grant(String grant, List<PagedBlock> blocks) {
        w.command(new GrantPeerRead(w.envelope(), w.header(), grant, "b", 10_000, P.namespace(), blocks));
    }

    private long ask(String grant, String asker, int from, int to) {
        long call = ++calls;
        w.on(new PeerReadCalled(call, grant, asker, P.namespace(), P.keys().subList(from, to)));
        return call;
    }

    private void over(long call, int blocks, PeerReadReason reason) {
        w.on(new PeerReadFinished(call, blocks, blocks * 64L, reason, List.of()));
    }

    private PeerReadEnded end() {
        List<PeerReadEnded> ends = w.seen.events(PeerReadEnded.class);
        assertEquals(1, ends.size());
        return ends.getFirst();
    }

    @Test
    void aReadGetsItsLeasedPages() {
        List<PagedBlock> blocks = warm();
        grant("g", blocks);
        assertEquals(blocks, w.seen.events(PeerReadHeld.class).getFirst().blocks());
        assertEquals(5, w.pins());

        long first = ask("g", "b", 0, 3);
        FakePeers.Sent sent = (FakePeers.Sent) Objects.requireNonNull(peers.replies.get(first));
        assertEquals(blocks.stream().limit(3).map(PagedBlock::page).toList(), sent.pages().stream().map(LeasedPage::hostPage).toList());
        assertEquals(blocks.getFirst().crc32c(), sent.pages().getFirst().crc32c());
        assertEquals(8, w.pins());
        long second = ask("g", "b", 3, 5);
        over(first, 3, PeerReadReason.COMPLETED);
        assertEquals(List.of(), w.seen.events(PeerReadEnded.class));
        over(second, 2, PeerReadReason.COMPLETED);
        assertEquals(List.of(PeerReadReason.COMPLETED, 5, 320L), List.of(end().reason(), end().sentBlocks(), end().sentBytes()));
        assertEquals(List.of(0, 1, 2, 3, 4), end().sent());
        assertEquals(0, w.pins());
    }

    @Test
    void aReaderMayComeBeforeItsLease() {
        List<PagedBlock> blocks = warm();
        long early = ask("g", "b", 0, 5);
        assertEquals(new FakePeers.Again(5), peers.replies.get(early));
        grant("g", blocks);
        long later = ask("g", "b", 0, 5);
        assertTrue(peers.replies.get(later) instanceof FakePeers.Sent);
        over(later, 5, PeerReadReason.COMPLETED);
    }

    @Test
    void aRefusedLeaseIsReportedToItsReader() {
        w.command(new RefusePeerRead(w.envelope(), w.header(), "g", PeerReadReason.BUSY));
        assertEquals(new FakePeers.Not(PeerReadReason.BUSY), peers.replies.get(ask("g", "b", 0, 5)));
    }

    @Test
    void onlyWhatWasGrantedIsSent() {
        grant("g", warm().subList(0, 3));
        FakePeers.Not not = new FakePeers.Not(PeerReadReason.NOT_SERVING);
        assertEquals(not, peers.replies.get(ask("g", "x", 0, 3)));
        assertEquals(not, peers.replies.get(ask("g", "b", 0, 4)));
        assertEquals(not, peers.replies.get(ask("g", "b", 0, 0)));
        long call = ++calls;
        w.on(new PeerReadCalled(call, "g", "b", "other", P.keys().subList(0, 3)));
        assertEquals(not, peers.replies.get(call));
        assertEquals(3, w.pins());
    }

    /** The block is in another page than the controller thinks, or in none. */
    @Test
    void aPageOfAnotherGenerationIsNotLeased() {
        List<PagedBlock> blocks = warm();
        PagedBlock first = blocks.getFirst();
        grant("g", List.of(new PagedBlock(first.block(), first.page(), first.generation() + 1, first.crc32c())));
        assertEquals(PeerReadReason.NOT_SERVING, end().reason());
        assertEquals(0, w.pins());
        assertEquals(new FakePeers.Not(PeerReadReason.NOT_SERVING), peers.replies.get(ask("g", "b", 0, 1)));
    }

    /** The asker has died: 10 s later the grant is over; what is being sent keeps its own pin. */
    @Test
    void aPeerReadLeaseExpiresAndAReadEndsByItself() {
        grant("g", warm());
        long call = ask("g", "b", 0, 2);
        w.advance(9_999);
        assertEquals(7, w.pins());
        w.advance(1);
        assertEquals(PeerReadReason.EXPIRED, end().reason());
        assertEquals(2, w.pins());
        assertEquals(new FakePeers.Not(PeerReadReason.EXPIRED), peers.replies.get(ask("g", "b", 2, 3)));
        over(call, 1, PeerReadReason.CANCELLED);
        assertEquals(0, w.pins());
        over(call, 1, PeerReadReason.CANCELLED);
    }

    @Test
    void aFailedReadIsNotRepeated() {
        grant("g", warm());
        long call = ask("g", "b", 0, 5);
        over(call, 2, PeerReadReason.CANCELLED);
        assertEquals(List.of(PeerReadReason.CANCELLED, 2), List.of(end().reason(), end().sentBlocks()));
        assertEquals(0, w.pins());
    }

    /** Blocks 3 and 4 were sent, 0 and 1 are on their way: the grant is over at once, the read keeps its own pins to its end. */
    @Test
    void anAbandonedPeerReadEndsItsPins() {
        grant("g", warm());
        over(ask("g", "b", 3, 5), 2, PeerReadReason.COMPLETED);
        long call = ask("g", "b", 0, 2);
        assertEquals(7, w.pins());
        w.command(new RefusePeerRead(w.envelope(), w.header(), "g", PeerReadReason.CANCELLED));
        assertEquals(PeerReadReason.CANCELLED, end().reason());
        assertEquals(List.of(3, 4), end().sent());
        assertEquals(2, w.pins());
        assertEquals(new FakePeers.Not(PeerReadReason.CANCELLED), peers.replies.get(ask("g", "b", 2, 3)));
        over(call, 0, PeerReadReason.CANCELLED);
        assertEquals(0, w.pins());
        assertEquals(1, w.seen.events(PeerReadEnded.class).size());
    }

    @Test
    void aPageThatIsWrongServesNoMore() {
        grant("g", warm());
        long call = ask("g", "b", 0, 5);
        w.on(new PeerReadFinished(call, 4, 256, PeerReadReason.IO, List.of(P.keys().get(4))));
        BlocksEvicted gone = w.seen.events(BlocksEvicted.class).getFirst();
        assertEquals(RemovalReason.CHECKSUM, gone.reason());
        assertEquals(4, w.serving());
    }

    /** Leased blocks stay, however full the host is. */
    @Test
    void leasedBlocksAreNotEvicted() {
        grant("g", warm());
        assertEquals(List.of(OperationReason.PINNED), w.core.evict(Tier.HOST, P.namespace(), List.of(P.keys().get(4))));
        w.releasePins("g");
        assertEquals(List.of(OperationReason.COMPLETED), w.core.evict(Tier.HOST, P.namespace(), List.of(P.keys().get(4))));
        assertEquals(new FakePeers.Not(PeerReadReason.CANCELLED), peers.replies.get(ask("g", "b", 0, 3)));
    }

    @Test
    void thereAreNoMoreReadsThanTheLimit() {
        grant("g", warm());
        List<Long> busy = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            busy.add(ask("g", "b", 0, 1));
        }
        assertEquals(new FakePeers.Again(5), peers.replies.get(ask("g", "b", 0, 1)));
        busy.forEach(call -> over(call, 1, PeerReadReason.COMPLETED));
        assertEquals(new FakePeers.Not(PeerReadReason.NOT_SERVING), peers.replies.get(ask("g", "b", 0, 1)));
    }

    @Test
    void anAgentThatStopsWaitsForWhatIsBeingSent() {
        grant("g", warm());
        long call = ask("g", "b", 0, 5);
        w.on(new AgentInput.StopRequested());
        assertEquals(PeerReadReason.CANCELLED, end().reason());
        assertEquals(AgentPhase.STOPPING, w.core.status().phase());
        over(call, 5, PeerReadReason.COMPLETED);
        assertEquals(AgentPhase.STOPPED, w.core.status().phase());
    }
}
