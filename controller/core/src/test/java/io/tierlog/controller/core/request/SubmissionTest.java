/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.request;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which blocks a waiting request gets fetched: by absolute index, against the state at the moment of decision. */
public class SubmissionTest {
    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 6);
    private Agent a = new Agent("a", "a-1", 100);

    @BeforeEach
    void register() {
        a = w.register("a", 100);
    }

    /** B1: host has blocks 0, 1; the store has 0..5. 13 tokens of 2 are 6 whole blocks, and (13-1)/2 = 6 may be reused. */
    @Test
    void theSuffixIsFetchedUnderItsOwnIndexes() {
        w.warm(a, "warm", p.subList(0, 2), 0);

        w.input(a.submit("r", p).store(2, 4).event());

        assertEquals("RequestAdmitted BlocksTouched OperationIssued LeaseRequested RequestTransitioned", w.factNames());
        PrefetchBlocks command = w.command(PrefetchBlocks.class);
        assertEquals(Agent.blocks(p, 2, 6), command.blocks());
        assertEquals(List.of(Agent.paged(p, 1, 2, 1).getFirst()), command.buildsOn());
        assertEquals(Collections.nCopies(4, Tier.STORE), command.sources());
        assertEquals(p.getFirst(), command.root());
        OperationIssued issued = w.fact(OperationIssued.class);
        assertEquals("node/a@" + w.offset() + ".0", issued.operation());
        assertEquals(command.operation(), issued.operation());
        assertEquals(command.header().commandSequence(), issued.commandSequence());
        assertEquals(w.timeMsOfLog() + 1_000, issued.deadlineMs());
        LeaseRequested lease = w.fact(LeaseRequested.class);
        assertEquals(command.lease(), lease.lease());
        assertEquals(w.timeMsOfLog() + 5_000, lease.endMs());
        assertEquals(2, w.fact(RequestAdmitted.class).hostBlocks());
        assertEquals(List.of(Agent.block(p, 1)), w.fact(BlocksTouched.class).deepest());
        assertTransition(RequestState.SUBMITTED, RequestState.PREFETCHING, RequestReason.FETCH_ISSUED);
    }

    /** B3a: the agent saw blocks 0, 1 on the host and probed the store from 2 on; by now they are gone. Nothing is reusable from 0 on. */
    @Test
    void aMatchThatHasShrunkFetchesNothing() {
        w.warm(a, "warm", p.subList(0, 2), 0);
        w.input(a.evicted(Tier.HOST, RemovalReason.PRESSURE, Agent.paged(p, 0, 2, 0)));

        w.input(a.submit("r", p).store(2, 4).event());

        assertEquals(RequestReason.NOTHING_BELOW, w.command(ResumeRequest.class).reason());
        assertEquals(0, w.fact(RequestAdmitted.class).hostBlocks());
        assertTransition(RequestState.SUBMITTED, RequestState.PREFILLING, RequestReason.NOTHING_BELOW);
    }

    /** B3a, the agent probes again from 0 on: all 6 are fetched. */
    @Test
    void aMatchThatHasShrunkFetchesAllWhenTheStoreWasAskedAgain() {
        w.input(a.submit("r", p).store(0, 6).event());

        assertEquals(Agent.blocks(p, 0, 6), w.command(PrefetchBlocks.class).blocks());
    }

    /** B3b: at submission the store had 0..5 and the host nothing; then blocks 0, 1 came to the host. */
    @Test
    void aMatchThatHasGrownFetchesTheRest() {
        w.warm(a, "warm", p.subList(0, 2), 0);

        w.input(a.submit("r", p).store(0, 6).event());

        assertEquals(Agent.blocks(p, 2, 6), w.command(PrefetchBlocks.class).blocks());
    }

    /** B10, threshold 4: 4 are not more than 4. */
    @Test
    void asManyAsTheThresholdIsNotMore() {
        w.policy(with(4));
        List<Bytes> four = Agent.path("q", 4);
        w.input(a.submit("four", four).store(0, 4).event());
        assertEquals(RequestReason.BELOW_THRESHOLD, w.command(ResumeRequest.class).reason());

        List<Bytes> five = Agent.path("s", 5);
        w.input(a.submit("five", five).store(0, 5).event());
        assertEquals(Agent.blocks(five, 0, 5), w.command(PrefetchBlocks.class).blocks());

        w.input(a.submit("two", Agent.path("t", 5)).store(0, 2).event());
        assertEquals(RequestReason.BELOW_THRESHOLD, w.command(ResumeRequest.class).reason());
    }

    /** 12 tokens are 6 whole blocks, but the last token is always computed: (12-1)/2 = 5. */
    @Test
    void theLastTokenIsAlwaysComputed() {
        w.input(a.submit("r", p).tokens(12).store(0, 6).event());

        assertEquals(Agent.blocks(p, 0, 5), w.command(PrefetchBlocks.class).blocks());
        assertEquals(5, w.fact(RequestAdmitted.class).reusableBlocks());
    }

    @Test
    void whatTheDeviceHoldsIsNotFetched() {
        w.input(a.submit("r", p).device(2).store(2, 4).event());
        assertEquals(Agent.blocks(p, 2, 6), w.command(PrefetchBlocks.class).blocks());

        w.input(a.submit("r2", p).device(2).store(0, 6).event());
        assertEquals(Agent.blocks(p, 2, 6), w.command(PrefetchBlocks.class).blocks(), "that the store has the first two changes nothing");
    }

    /** Block 3 is nowhere: 4 and 5 are of no use. */
    @Test
    void theWalkStopsAtTheFirstBlockThatIsNowhere() {
        w.input(a.submit("r", p).store(0, 3).disk(4, 5).event());

        assertEquals(Agent.blocks(p, 0, 3), w.command(PrefetchBlocks.class).blocks());
    }

    @Test
    void anAnsweredRequestIsNeverFetchedFor() {
        w.input(a.submit("r", p).store(0, 6).answered().event());

        assertEquals(List.of(), w.last.commands());
        assertTransition(RequestState.SUBMITTED, RequestState.PREFILLING, RequestReason.ANSWERED_AT_ONCE);
    }

    @Test
    void aRequestThatCannotUseAPrefixIsNoHit() {
        w.warm(a, "warm", p, 0);

        w.input(a.submit("r", p).store(0, 6).notEligible().event());

        assertEquals("RequestAdmitted RequestTransitioned", w.factNames());
        assertTransition(RequestState.SUBMITTED, RequestState.PREFILLING, RequestReason.NOT_REUSE_ELIGIBLE);
        assertEquals(RequestReason.NOT_REUSE_ELIGIBLE, w.command(ResumeRequest.class).reason());
    }

    @Test
    void aFetchIsCutAtTheBlocksOfOneDecision() {
        World small = new World(new HeapTables(), Limits.DEFAULTS.withBlocksPerDecision(4));
        small.policy(new Policy(2, World.POLICY.writePolicy(), 0.9, 0.8, 0.9, 0.8, true, 4, 1_000, 5_000, 3, true, null, null));
        Agent b = small.register("a", 100);

        small.input(b.submit("r", p).store(0, 6).event());

        assertEquals(Agent.blocks(p, 0, 4), small.command(PrefetchBlocks.class).blocks());
    }

    @Test
    void attemptsComeInOrder() {
        w.input(a.submit("r", p).attempt(2).store(0, 6).event());
        assertRefused(RefusalReason.DUPLICATE_REQUEST, w.input(a.submit("r", p).attempt(2).event()));
        assertRefused(RefusalReason.STALE_ATTEMPT, w.input(a.submit("r", p).attempt(1).event()));

        w.input(a.submit("r", p).attempt(3).answered().event());

        assertEquals("RequestTransitioned LeaseEnded RequestAdmitted RequestTransitioned", w.factNames());
        assertEquals(RequestReason.NEW_ATTEMPT, w.facts(RequestTransitioned.class).getFirst().reason());
    }

    /** The engine goes on with attempt 2; late reports of attempt 1 change nothing. */
    @Test
    void anAttemptThatWasOvertakenIsRefused() {
        w.input(a.submit("r", p).store(0, 6).event());
        w.input(a.submit("r", p).attempt(2).store(0, 6).event());
        assertRefused(RefusalReason.STALE_ATTEMPT, w.input(a.prefilled("r", 1)));
        assertRefused(RefusalReason.STALE_ATTEMPT, w.input(a.finished("r", 1)));
        assertRefused(RefusalReason.STALE_ATTEMPT, w.input(a.cancelled("r", 1)));
        assertRefused(RefusalReason.STALE_ATTEMPT, w.input(a.waitExpired("r", 1)));
        assertEquals(RequestState.PREFETCHING, Objects.requireNonNull(w.request(a, "r")).state());
    }

    /** C14: an event that names more blocks than one input may is refused whole. */
    @Test
    void anEventWithTooManyBlocksIsRefused() {
        World small = new World(new HeapTables(), new Limits(1, 100, 100, 8, 100, 64, 4));
        Agent b = small.register("a", 1_000);
        List<Bytes> path = Agent.path("q", 101);
        small.input(b.submit("r", path.subList(0, 100)).answered().event());
        assertRefused(RefusalReason.OVER_LIMIT, small.input(b.sealed("r", 1, Agent.paged(path, 0, 101, 0))));
        assertRefused(RefusalReason.OVER_LIMIT, small.input(b.evicted(Tier.DEVICE, RemovalReason.ENGINE_EVICTED, Agent.paged(path, 0, 101, 0))));
        assertEquals(Outcome.APPLIED, small.input(b.sealed("r", 1, Agent.paged(path, 0, 100, 0))).outcome());
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("r", p).device(7).event()));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("r", p).tokens(11).event()));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("", p).event()));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("r", p).attempt(0).event()));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(a.submit("r", List.of(Bytes.wrapUnshared(new byte[7]))).event()));
    }

    private static Policy with(int threshold) {
        return new Policy(threshold, World.POLICY.writePolicy(), 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, true, null, null);
    }

    private void assertTransition(RequestState from, RequestState to, RequestReason reason) {
        RequestTransitioned fact = w.fact(RequestTransitioned.class);
        assertEquals(List.of(from, to, reason), List.of(fact.from(), fact.to(), fact.reason()));
    }
}
