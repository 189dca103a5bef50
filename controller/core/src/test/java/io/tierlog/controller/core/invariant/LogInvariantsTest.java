/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.Tick;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** For each invariant, a short log that breaks it, and the record that is named for it. */
class LogInvariantsTest {
    private static final Envelope CLOCK = new Envelope("clock/0", "", 0, 0, 0, 0, null, null, null);

    @Test
    void theStoryBreaksNothing() {
        assertEquals(List.of(), new Story().tell(true));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aStoryThatBreaksIt(String what, Story story, Invariant invariant, String where) {
        List<Violation> found = story.tell(true);

        Violation first = found.isEmpty() ? new Violation(Invariant.I7, "nothing", 0, 0, "") : found.getFirst();
        assertEquals(invariant + " " + where, first.invariant() + " " + first.topicKind() + "@" + first.offset(), () -> what + ": " + found);
    }

    static Stream<Arguments> aStoryThatBreaksIt() {
        return Stream.of(leases(), pages(), requests(), copies(), operations(), order()).flatMap(s -> s);
    }

    private static Arguments of(String what, Story story, Invariant invariant, String where) {
        return Arguments.of(what, story, invariant, where);
    }

    private static Stream<Arguments> leases() {
        LeaseEnded end = new LeaseEnded(Story.OPEN, Story.LEASE, LeaseEndReason.LOADED);
        return Stream.of(
                of("a lease without end", new Story().without(LeaseEnded.class, 0), Invariant.I5, "decisions@12"),
                of("a lease with two ends", new Story().after(LeaseEnded.class, 0, end), Invariant.I1, "decisions@14"),
                of("a lease granted twice", new Story().after(LeaseHeld.class, 0, new LeaseHeld(Story.OPEN, Story.LEASE, Story.SPACE, List.of())),
                        Invariant.I1, "decisions@9"),
                of("a lease on what did not come", new Story().with(LeaseHeld.class, 0, f -> new LeaseHeld(f.envelope(), f.lease(), f.namespace(),
                        List.of(Story.B1, Story.B0))), Invariant.I1, "decisions@8"),
                of("a lease that expires before its end", new Story().with(LeaseEnded.class, 0, f -> new LeaseEnded(f.envelope(), f.lease(),
                        LeaseEndReason.EXPIRED)), Invariant.I1, "decisions@13"),
                of("a lease with the id of another event", new Story().with(LeaseRequested.class, 0, f -> new LeaseRequested(f.envelope(),
                        Story.NODE + "@0.2", f.operation(), f.request(), f.attempt(), f.endMs())), Invariant.I1, "decisions@3"),
                of("a pin that is left at rest", new Story()
                        .with(AgentHeartbeat.class, 0, e -> new AgentHeartbeat(e.envelope(), Story.usage(3, 1, 1), 2, 0, 0))
                        .with(NodeSeen.class, 0, f -> new NodeSeen(f.envelope(), Story.usage(3, 1, 1))), Invariant.I1, "events@8"));
    }

    private static Stream<Arguments> pages() {
        Block other = new Block(0, Story.key(9), Bytes.EMPTY);
        OperationStarted stolen = new OperationStarted(Story.OPEN, "x", OperationKind.PREFETCH, Story.SPACE, List.of(
                new PagedBlock(other, 1, 2, 0)));
        PagedBlock onDisk = new PagedBlock(Story.B0, -1, 5, 77);
        BlocksEvicted read = new BlocksEvicted(Story.OPEN, Tier.HOST, Story.SPACE, RemovalReason.PRESSURE, List.of(Story.PAGES.get(1)));
        BlocksEvicted hole = new BlocksEvicted(Story.OPEN, Tier.HOST, Story.SPACE, RemovalReason.PRESSURE, List.of(Story.PAGES.get(0)));
        return Stream.of(
                of("a destination page in two hands", new Story().after(InputApplied.class, 0, stolen, new InputApplied(Story.OPEN)), Invariant.I2,
                        "events@3"),
                of("blocks in a page that was not taken", new Story().with(OperationStarted.class, 0, e -> new OperationStarted(e.envelope(),
                        e.operation(), e.kind(), e.namespace(), List.of(Story.PAGES.get(0)))), Invariant.I2, "events@3"),
                of("a page of an old generation", new Story().after(InputApplied.class, 1, new OperationStarted(Story.OPEN, "x",
                        OperationKind.PREFETCH, Story.SPACE, List.of(new PagedBlock(other, 2, 0, 0)))), Invariant.I2, "events@6"),
                of("a source page that is evicted", new Story().after(InputApplied.class, 1, read), Invariant.I3, "events@6"),
                of("a source page that is given away", new Story().after(InputApplied.class, 1, stolen), Invariant.I3, "events@6"),
                of("a copy on the disk that leaves while it is read", new Story().after(NodeSeen.class, 0,
                        new BlocksRecovered(Story.OPEN, Tier.DISK, Story.SPACE, List.of(onDisk), 0), new InputApplied(Story.OPEN),
                        new OperationStarted(Story.OPEN, "x", OperationKind.COPY, Story.SPACE, List.of(onDisk)), new InputApplied(Story.OPEN),
                        new BlocksEvicted(Story.OPEN, Tier.DISK, Story.SPACE, RemovalReason.PRESSURE, List.of(onDisk)), new InputApplied(Story.OPEN)),
                        Invariant.I3, "events@11"),
                of("a serving page that is given away", new Story().after(LeaseEnded.class, 0, stolen), Invariant.I4, "events@5"),
                of("a page beyond the capacity", new Story().after(LeaseEnded.class, 0, new OperationStarted(Story.OPEN, "x",
                        OperationKind.PREFETCH, Story.SPACE, List.of(new PagedBlock(other, 4, 1, 0)))), Invariant.I4, "events@5"),
                of("pages that do not add up", new Story().with(AgentHeartbeat.class, 0, e -> new AgentHeartbeat(e.envelope(),
                        Story.usage(2, 1, 0), 2, 0, 0)), Invariant.I4, "events@8"),
                of("pages that serve unheard of", new Story().with(AgentHeartbeat.class, 0, e -> new AgentHeartbeat(e.envelope(),
                        Story.usage(2, 2, 0), 2, 0, 0)), Invariant.I4, "events@8"),
                of("a decision that says another use", new Story().with(NodeSeen.class, 0, f -> new NodeSeen(f.envelope(), Story.usage(4, 0, 0))),
                        Invariant.I4, "decisions@18"),
                of("a copy with another checksum", new Story().with(BackUpDone.class, 0, e -> new BackUpDone(e.envelope(), e.operation(),
                        e.namespace(), changed(e.blocks(), 78), e.movedBytes(), 0)), Invariant.I9, "events@6"),
                of("a hole in a prefix", new Story().with(BlocksEvicted.class, 0, e -> hole), Invariant.I10, "events@7"));
    }

    private static List<BlockResult> changed(List<BlockResult> results, int crc) {
        return results.stream().map(r -> new BlockResult(r.block(), r.status(), r.reason(), r.page(), r.generation(), crc, r.source())).toList();
    }

    private static Stream<Arguments> requests() {
        return Stream.of(
                of("a step that is not legal", new Story().with(RequestTransitioned.class, 3, f -> Story.go(RequestState.PREFETCHING,
                        RequestState.FINISHED, RequestReason.COMPLETED)), Invariant.I5, "decisions@12"),
                of("two ends", new Story().after(LeaseEnded.class, 0, Story.go(RequestState.PREFILLING, RequestState.FINISHED,
                        RequestReason.COMPLETED)), Invariant.I5, "decisions@14"),
                of("an attempt beside another", new Story().after(RequestAdmitted.class, 0, new RequestAdmitted(Story.OPEN, "r", 1, Story.SPACE, 2, 2,
                        0, 0, false)), Invariant.I5, "decisions@2"),
                of("more reusable than a prompt has", new Story().with(RequestAdmitted.class, 0, f -> new RequestAdmitted(f.envelope(), "r", 1,
                        Story.SPACE, 2, 1, 0, 0, false)), Invariant.I5, "decisions@1"),
                of("a request that still waits at rest", new Story().until(InputApplied.class, 0), Invariant.I6, "decisions@1"),
                of("an event that nothing answers at rest", new Story().without(NodeSeen.class, 0), Invariant.I6, "events@8"));
    }

    private static Stream<Arguments> copies() {
        PagedBlock newer = new PagedBlock(Story.B1, 1, 2, 77);
        OperationIssued drop = new OperationIssued(Story.OPEN, Story.NODE + "@4.0", OperationKind.DROP, Tier.HOST, Tier.UNKNOWN, null, 0,
                Story.SPACE, Bytes.EMPTY, List.of(Story.B1), 3, 9_000, null, null, Tier.DISK);
        return Stream.of(
                of("a generation that no event named", new Story().with(BlocksPlaced.class, 0, f -> new BlocksPlaced(f.envelope(), f.tier(),
                        f.namespace(), List.of(Story.PAGES.get(0), newer), f.operation(), f.heldAlso(), 3)), Invariant.I8, "decisions@6"),
                of("a placement on another tier", new Story().with(BlocksPlaced.class, 0, f -> new BlocksPlaced(f.envelope(), Tier.DISK,
                        f.namespace(), f.blocks(), f.operation(), f.heldAlso(), 3)), Invariant.I8, "decisions@6"),
                of("a placement that answers a start", new Story().after(InputApplied.class, 0, new BlocksPlaced(Story.OPEN, Tier.HOST, Story.SPACE,
                        Story.PAGES, Story.FETCH, Tier.STORE, 2)), Invariant.I8, "decisions@6"),
                of("a copy in a store that nothing came from", new Story().with(PrefetchDone.class, 0, e -> new PrefetchDone(e.envelope(),
                        e.operation(), e.lease(), e.namespace(), Story.results(Tier.DISK), 128, 1)), Invariant.I11, "decisions@6"),
                of("a drop of what is nowhere else", new Story()
                        .with(PrefetchDone.class, 0, e -> new PrefetchDone(e.envelope(), e.operation(), e.lease(), e.namespace(),
                                Story.results(Tier.DISK), 128, 1))
                        .with(BlocksPlaced.class, 0, f -> new BlocksPlaced(f.envelope(), f.tier(), f.namespace(), f.blocks(), f.operation(),
                                Tier.DISK, 3))
                        .after(LeaseEnded.class, 0, drop), Invariant.I11, "decisions@14"),
                of("a last copy that was none", new Story().with(BlocksRemoved.class, 0, f -> new BlocksRemoved(f.envelope(), f.tier(),
                        f.namespace(), f.reason(), f.blocks(), 1)), Invariant.I11, "decisions@17"),
                of("stored, though no agent reported it", new Story().after(InputApplied.class, 1, new BlocksBackedUp(Story.OPEN, Story.SPACE,
                        List.of(Story.B0))), Invariant.I11, "decisions@15"));
    }

    private static Stream<Arguments> operations() {
        return Stream.of(
                of("an operation with two ends", new Story().after(OperationEnded.class, 0, end(OperationState.DONE, 2, 0)), Invariant.I12,
                        "decisions@8"),
                of("an end that the agent did not say", new Story().with(OperationEnded.class, 0, f -> end(OperationState.FAILED, 2, 0)),
                        Invariant.I12, "decisions@7"),
                of("blocks that do not add up", new Story().with(OperationEnded.class, 0, f -> end(OperationState.DONE, 2, 1)), Invariant.I12,
                        "decisions@7"),
                of("fenced in an incarnation that goes on", new Story().with(OperationEnded.class, 0, f -> end(OperationState.FENCED, 2, 0)),
                        Invariant.I12, "decisions@7"),
                of("an operation without end", new Story().without(OperationEnded.class, 1), Invariant.I6, "decisions@11"),
                of("an operation that the sweep forgot", new Story().after(InputApplied.class, 0, new NodeEnded(Story.OPEN, 1,
                        RemovalReason.NODE_LOST), Story.go(RequestState.PREFETCHING, RequestState.CANCELLED, RequestReason.NODE_LOST),
                        new LeaseEnded(Story.OPEN, Story.LEASE, LeaseEndReason.NODE_LOST),
                        new SweepAdvanced(Story.OPEN, 4, Bytes.EMPTY, true)).until(SweepAdvanced.class, 0), Invariant.I12,
                        "decisions@9"));
    }

    private static OperationEnded end(OperationState state, int done, int failed) {
        return new OperationEnded(Story.OPEN, Story.FETCH, OperationKind.PREFETCH, state, OperationReason.COMPLETED, done, failed, 128);
    }

    private static Stream<Arguments> order() {
        Envelope elsewhere = new Envelope(Story.NODE, "", 1, 0, 0, 0, Story.NODE + "@99", null, null);
        Envelope before = new Envelope(Story.NODE, "", 1, 0, 0, 0, Story.NODE + "@0", null, null);
        Envelope absent = new Envelope("node/b", "", 1, 0, 0, 0, Story.NODE + "@2", null, null);
        return Stream.of(
                of("an answer to nothing", new Story().with(InputApplied.class, 0, f -> new InputApplied(elsewhere)), Invariant.I13, "decisions@5"),
                of("an answer that comes late", new Story().with(InputApplied.class, 0, f -> new InputApplied(before)), Invariant.I13, "decisions@5"),
                of("an event that is passed over", new Story().without(InputApplied.class, 0), Invariant.I13, "decisions@5"),
                of("a node that is not registered", new Story().with(InputApplied.class, 0, f -> new InputApplied(absent)), Invariant.I13,
                        "decisions@5"),
                of("time that goes backwards", new Story().after(InputApplied.class, 0, new Tick(CLOCK, 10), new TimeAdvanced(CLOCK, 10, 1),
                        new Tick(CLOCK, 11), new TimeAdvanced(CLOCK, 9, 2)), Invariant.I13, "decisions@7"),
                of("a policy with another version than was published", policy(new PolicyPublished(CLOCK, 2, Policies.INITIAL)), Invariant.I13,
                        "events@3"),
                of("a policy with other content than was published", policy(new PolicyPublished(CLOCK, 1, copying(!Policies.INITIAL.copyToDisk()))),
                        Invariant.I13, "events@3"),
                of("a policy that was never published", policy(new Tick(CLOCK, 10)), Invariant.I13, "decisions@6"));
    }

    @Test
    void aPolicyThatWasPublishedIsAdopted() {
        assertEquals(List.of(), policy(new PolicyPublished(CLOCK, 1, Policies.INITIAL)).until(PolicyAdopted.class, 0).tell(false));
    }

    /** After the start of the fetch version 1 is adopted, and this event came before. */
    private static Story policy(Event said) {
        return new Story().after(InputApplied.class, 0, said, new PolicyAdopted(CLOCK, 1, Policies.INITIAL));
    }

    private static Policy copying(boolean toDisk) {
        Policy p = Policies.INITIAL;
        return new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(), toDisk,
                p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), p.nodeTimeoutTicks(), p.backUp(), p.migration(), p.fetch());
    }
}
