/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.request;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How fetches end, on time, late, twice, and for requests that have gone on. 11 tokens of 2: 5 blocks, all of which may be reused. */
class PrefetchTest {
    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 5);
    private final Agent a = new Agent("a", "a-1", 31);
    private PrefetchBlocks command = issued();

    private PrefetchBlocks issued() {
        w.register(a);
        w.input(a.submit("r", p).store(0, 5).event());
        return w.command(PrefetchBlocks.class);
    }

    private PrefetchDone done(int arrived, @Nullable String lease) {
        List<BlockResult> results = new ArrayList<>(Agent.fetched(Agent.blocks(p, 0, arrived), 0));
        results.addAll(Agent.failed(Agent.blocks(p, arrived, 5), OperationReason.NOT_FOUND));
        return new PrefetchDone(a.envelope(), command.operation(), lease, Agent.NAMESPACE, results, arrived * 4_096L, 10);
    }

    private PrefetchFailed failed() {
        return new PrefetchFailed(a.envelope(), command.operation(), OperationReason.STORE_UNAVAILABLE, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(p, 0, 5), OperationReason.STORE_UNAVAILABLE));
    }

    private CommandRefused refused(OperationReason reason) {
        CommandHeader header = command.header();
        return new CommandRefused(a.envelope(), header.command(), header.commandSequence(), command.operation(), reason, "");
    }

    private RequestState state() {
        return Objects.requireNonNull(w.request(a, "r")).state();
    }

    private List<LeaseEndReason> leaseEnds() {
        return w.facts(LeaseEnded.class).stream().map(LeaseEnded::reason).toList();
    }

    /** B11 done(5): all 5 serve and are leased; 26 of 31 are free. */
    @Test
    void allArrive() {
        assertEquals(PlacementState.WRITING, w.state(a, Tier.HOST, p.get(4)));

        w.input(done(5, command.lease()));

        assertEquals("BlocksPlaced OperationEnded LeaseHeld RequestTransitioned RequestTransitioned", w.factNames());
        BlocksPlaced placed = w.fact(BlocksPlaced.class);
        assertEquals(Agent.paged(p, 0, 5, 0), placed.blocks());
        assertEquals(Tier.STORE, placed.heldAlso());
        assertEquals(w.offset(), placed.touch());
        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(OperationState.DONE, OperationReason.COMPLETED, 5, 0, 20_480L),
                List.of(ended.state(), ended.reason(), ended.doneBlocks(), ended.failedBlocks(), ended.movedBytes()));
        assertEquals(command.blocks(), w.fact(LeaseHeld.class).blocks());
        assertEquals(List.of(RequestState.PREFETCH_DONE, RequestState.PREFILLING),
                w.facts(RequestTransitioned.class).stream().map(RequestTransitioned::to).toList());
        assertEquals(List.of(), w.last.commands());
        assertEquals(5, w.host(a).usedBlocks());
    }

    /** B11 done(3): 3 serve, 28 of 31 are free. */
    @Test
    void threeArrive() {
        w.input(done(3, command.lease()));

        assertEquals(OperationReason.PARTIAL, w.fact(OperationEnded.class).reason());
        assertEquals(Agent.blocks(p, 0, 3), w.fact(LeaseHeld.class).blocks());
        assertEquals(3, w.host(a).usedBlocks());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(3)));
    }

    /** B11 failed: 31 of 31 are free, the request goes on without. */
    @Test
    void nothingArrives() {
        w.input(failed());

        assertEquals("OperationEnded LeaseEnded RequestTransitioned", w.factNames());
        assertEquals(OperationState.FAILED, w.fact(OperationEnded.class).state());
        assertEquals(List.of(LeaseEndReason.FETCH_FAILED), leaseEnds());
        assertEquals(RequestReason.FETCH_FAILED, w.fact(RequestTransitioned.class).reason());
        assertEquals(0, w.host(a).usedBlocks());
        assertEquals(List.of(), w.last.commands());
    }

    /** B11 cancelled while it runs: 26 of 31 stay free until it ends, then 31. */
    @Test
    void theRequestIsCancelledWhileItRuns() {
        w.input(new OperationStarted(a.envelope(), command.operation(), OperationKind.PREFETCH, Agent.NAMESPACE, List.of()));
        w.input(a.cancelled("r", 1));
        assertEquals("RequestTransitioned LeaseEnded", w.factNames());
        assertEquals(5, w.host(a).usedBlocks());

        w.input(new OperationCancelled(a.envelope(), command.operation(), OperationReason.CANCELLED, Agent.NAMESPACE,
                Agent.failed(Agent.blocks(p, 0, 5), OperationReason.CANCELLED)));

        assertEquals("OperationEnded", w.factNames());
        assertEquals(OperationState.CANCELLED, w.fact(OperationEnded.class).state());
        assertEquals(0, w.host(a).usedBlocks());
    }

    /** B7's like: what had arrived before the cancel counts. */
    @Test
    void whatHadArrivedBeforeACancelStays() {
        List<BlockResult> results = new ArrayList<>(Agent.arrived(Agent.blocks(p, 0, 2), 0));
        results.addAll(Agent.failed(Agent.blocks(p, 2, 5), OperationReason.CANCELLED));

        w.input(new OperationCancelled(a.envelope(), command.operation(), OperationReason.CANCELLED, Agent.NAMESPACE, results));

        assertEquals(2, w.host(a).usedBlocks());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(1)));
    }

    /** C11: the wait ends first. The fetch goes on; what it brings is no longer leased. */
    @Test
    void theWaitExpiresFirst() {
        w.input(a.waitExpired("r", 1));
        assertEquals(RequestReason.WAIT_EXPIRED, w.fact(RequestTransitioned.class).reason());

        w.input(done(5, null));

        assertEquals("BlocksPlaced OperationEnded LeaseEnded", w.factNames());
        assertEquals(List.of(LeaseEndReason.REQUEST_ENDED), leaseEnds());
        assertEquals(RequestState.PREFILLING, state());
    }

    @Test
    void theCommandIsRefusedBecauseTheRequestHasMovedOn() {
        w.input(a.waitExpired("r", 1));

        w.input(refused(OperationReason.MOVED_ON));

        OperationEnded ended = w.fact(OperationEnded.class);
        assertEquals(List.of(OperationState.FAILED, OperationReason.MOVED_ON, 0, 5),
                List.of(ended.state(), ended.reason(), ended.doneBlocks(), ended.failedBlocks()));
        assertEquals(List.of(LeaseEndReason.FETCH_FAILED), leaseEnds());
        assertEquals(0, w.host(a).usedBlocks());
    }

    @Test
    void thePinsOfALeaseThatHasEndedAreReleased() {
        w.input(a.cancelled("r", 1));

        w.input(done(5, command.lease()));

        assertEquals(command.lease(), w.command(ReleasePins.class).pin());
        assertEquals(5, w.host(a).usedBlocks());
    }

    @Test
    void aLoadEndsTheLease() {
        w.input(done(5, command.lease()));
        assertEquals(1, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(4))).holds());

        w.input(new LoadBackDone(a.envelope(), "a/load/1/1", "r", 1, Agent.NAMESPACE, Agent.arrived(Agent.blocks(p, 0, 5), 40), 20_480, 5));

        assertEquals("BlocksPlaced OrphanAdopted LeaseEnded", w.factNames());
        assertTrue(w.fact(OrphanAdopted.class).agentsOwn());
        assertEquals(List.of(LeaseEndReason.LOADED), leaseEnds());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DEVICE, p.get(4)));
        assertEquals(0, Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(4))).holds());
    }

    @Test
    void aLeaseThatWasNeverUsedEndsWithThePrefill() {
        w.input(done(5, command.lease()));

        w.input(a.prefilled("r", 1));

        assertEquals("RequestTransitioned LeaseEnded", w.factNames());
        assertEquals(List.of(LeaseEndReason.REQUEST_ENDED), leaseEnds());
        assertEquals(RequestState.DECODING, state());
    }

    /** B13, C1: the same end again changes nothing. */
    @Test
    void aRepeatedCompletionChangesNothing() {
        PrefetchDone event = done(5, command.lease());
        w.input(event);
        assertRefused(RefusalReason.REPEATED, w.input(event));

        DecideResult again = w.input(done(5, command.lease()));

        assertRefused(RefusalReason.OPERATION_ENDED, again);
        assertEquals("InputRefused", w.factNames());
        assertEquals(RequestState.PREFILLING, state());
    }

    /** B13: when the report is repeated, a block has gone; the repeated report does not bring it back. */
    @Test
    void aLateRepeatBringsNothingBack() {
        w.input(done(5, command.lease()));
        w.input(a.evicted(Tier.HOST, RemovalReason.CHECKSUM, Agent.paged(p, 4, 5, 4)));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(4)));

        assertRefused(RefusalReason.OPERATION_ENDED, w.input(done(5, command.lease())));

        assertEquals("InputRefused", w.factNames());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, p.get(4)));
    }

    /** C1: the failure of attempt 1's fetch does not end attempt 2's. */
    @Test
    void aCompletionEndsItsOwnAttemptOnly() {
        w.input(a.submit("r", p).attempt(2).store(0, 5).event());
        PrefetchBlocks second = w.command(PrefetchBlocks.class);

        w.input(failed());

        assertEquals("OperationEnded", w.factNames());
        assertEquals(RequestState.PREFETCHING, state());
        assertEquals(5, w.host(a).usedBlocks(), "attempt 2 is fetching the same blocks");
        command = second;
        w.input(done(5, second.lease()));
        assertEquals(RequestState.PREFILLING, state());
    }

    /** B13: a completion without a command is counted, and its report about bytes is applied. */
    @Test
    void anUnknownCompletionIsAdopted() {
        List<Bytes> q = Agent.path("q", 2);
        List<BlockResult> arrived = Agent.arrived(Agent.blocks(q, 0, 2), 9);
        w.input(new PrefetchDone(a.envelope(), "node/a@7.0", "node/a@7.1", Agent.NAMESPACE, arrived, 8_192, 1));

        assertEquals("BlocksPlaced OrphanAdopted", w.factNames());
        assertEquals(false, w.fact(OrphanAdopted.class).agentsOwn());
        assertEquals("node/a@7.1", w.command(ReleasePins.class).pin());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, q.get(1)));
        assertEquals(RequestState.PREFETCHING, state());
    }

    /** An agent answers a command that came again from its journal: if the operation is forgotten by then, that brings back no copy that is gone. */
    @Test
    void aRepeatedEventChangesNothing() {
        List<Bytes> q = Agent.path("q", 2);
        List<BlockResult> arrived = Agent.arrived(Agent.blocks(q, 0, 2), 9);
        Envelope first = a.envelope();
        w.input(new PrefetchDone(first, "node/a@7.0", "node/a@7.1", Agent.NAMESPACE, arrived, 8_192, 1));
        w.input(new BlocksEvicted(a.envelope(), Tier.HOST, Agent.NAMESPACE, RemovalReason.PRESSURE, List.of(
                new PagedBlock(arrived.getLast().block(), arrived.getLast().page(), arrived.getLast().generation(), 0))));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, q.get(1)));

        w.input(new PrefetchDone(a.repeating(first.sequence()), "node/a@7.0", "node/a@7.1", Agent.NAMESPACE, arrived, 8_192, 1));

        assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(List.of(), w.facts(OrphanAdopted.class));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, q.get(1)));
    }

    /** Nothing was applied for an operation that has not ended: the first report was lost (an unreadable record), and the second one counts. */
    @Test
    void aRepeatedEventCountsWhenTheFirstWasLost() {
        long lost = a.envelope().sequence();
        w.input(new PrefetchDone(a.repeating(lost), command.operation(), command.lease(), Agent.NAMESPACE,
                Agent.arrived(command.blocks(), 9), 8_192, 1));
        assertEquals(RequestState.PREFILLING, state());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(4)));
    }

    /** The same number with other content: the operation fails; what the other version of the command brought counts when its report comes. */
    @Test
    void aConflictEndsTheOperationButNotWhatRuns() {
        w.input(refused(OperationReason.COMMAND_CONFLICT));
        assertEquals(0, w.host(a).usedBlocks());

        assertRefused(RefusalReason.OPERATION_ENDED, w.input(done(3, null)));
        assertEquals("BlocksPlaced InputRefused", w.factNames());
        assertEquals(3, w.host(a).usedBlocks());

        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(p, 0, 3, 0)));
        w.input(done(3, null));
        assertEquals("InputRefused", w.factNames(), "told again, it would bring back what has gone");
        assertEquals(0, w.host(a).usedBlocks());
    }

    @Test
    void aStaleCommandIsNoEnd() {
        w.input(refused(OperationReason.STALE_COMMAND));

        assertEquals("", w.factNames());
        assertEquals(RequestState.PREFETCHING, state());
    }

    @Test
    void aRefusalForAnUnknownOperationIsOnRecord() {
        assertRefused(RefusalReason.OPERATION_UNKNOWN,
                w.input(new CommandRefused(a.envelope(), "c", 1, "node/a@3.0", OperationReason.NO_ROOM, "")));
        w.input(new CommandRefused(a.envelope(), "c", 1, null, OperationReason.MOVED_ON, ""));
        assertEquals("", w.factNames());
    }

    @Test
    void ofEveryResultAlreadyThereCountsAsArrived() {
        w.input(new PrefetchDone(a.envelope(), command.operation(), command.lease(), Agent.NAMESPACE,
                Agent.results(Agent.blocks(p, 0, 5), BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, 0), 0, 1));

        assertEquals(5, w.fact(OperationEnded.class).doneBlocks());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, p.get(0)));
        assertNotNull(w.copy(a, Tier.HOST, p.get(0)));
        assertNull(Objects.requireNonNull(w.copy(a, Tier.HOST, p.get(0))).operation());
    }
}
