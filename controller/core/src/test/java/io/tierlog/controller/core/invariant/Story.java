/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputApplied;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A short log that breaks nothing, record by record, and ways to spoil it: a node of 4 host pages and 4 blocks of disk fetches two blocks into
 * pages 0 and 1, backs them up, and evicts the deeper one.
 */
final class Story {
    static final String NODE = "node/a";
    static final String SPACE = "model/bf16";
    static final Block B0 = new Block(0, key(0), Bytes.EMPTY);
    static final Block B1 = new Block(1, key(1), key(0));
    static final List<PagedBlock> PAGES = List.of(paged(B0, 0), paged(B1, 1));
    static final String FETCH = NODE + "@1.0";
    static final String LEASE = NODE + "@1.2";
    static final String BACK_UP = NODE + "@3.0";

    /** Its envelope is made when the event is appended. */
    static final Envelope OPEN = new Envelope(NODE, "", 1, 0, 0, 0, null, null, null);

    private static final Bytes DIGEST = Bytes.wrapUnshared(new byte[32]);
    private static final List<TierCapacity> TIERS = List.of(new TierCapacity(Tier.HOST, 4, 64), new TierCapacity(Tier.DISK, 4, 64));

    private final List<WireRecord> records = new ArrayList<>();

    Story() {
        add(new AgentRegistering(OPEN, "a", "p", "1", TIERS, List.of(), DIGEST, 1, 1, Map.of(), DIGEST, null, null, false),
                new AgentAccepted(OPEN, "a", "p", 1, TIERS, DIGEST, DIGEST, 0, Policies.INITIAL, null, false));
        add(new RequestSubmitted(OPEN, "r", 1, SPACE, List.of(key(0), key(1)), 33, 16, 0, List.of(), List.of(), 0, 2, true, false, false, List.of(),
                        null),
                new RequestAdmitted(OPEN, "r", 1, SPACE, 2, 2, 0, 0, false),
                new OperationIssued(OPEN, FETCH, OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r", 1, SPACE, key(0), List.of(B0, B1), 1, 9_000,
                        null, null, Tier.UNKNOWN),
                new LeaseRequested(OPEN, LEASE, FETCH, "r", 1, 9_000),
                go(RequestState.SUBMITTED, RequestState.PREFETCHING, RequestReason.FETCH_ISSUED));
        add(new OperationStarted(OPEN, FETCH, OperationKind.PREFETCH, SPACE, PAGES), new InputApplied(OPEN));
        add(new PrefetchDone(OPEN, FETCH, LEASE, SPACE, results(Tier.STORE), 128, 10),
                new BlocksPlaced(OPEN, Tier.HOST, SPACE, PAGES, FETCH, Tier.STORE, 3),
                new OperationEnded(OPEN, FETCH, OperationKind.PREFETCH, OperationState.DONE, OperationReason.COMPLETED, 2, 0, 128),
                new LeaseHeld(OPEN, LEASE, SPACE, List.of(B0, B1)),
                go(RequestState.PREFETCHING, RequestState.PREFETCH_DONE, RequestReason.FETCH_ARRIVED),
                go(RequestState.PREFETCH_DONE, RequestState.PREFILLING, RequestReason.FETCH_ARRIVED),
                new OperationIssued(OPEN, BACK_UP, OperationKind.BACK_UP, Tier.HOST, Tier.STORE, null, 0, SPACE, key(0), List.of(B0, B1), 2, 9_000,
                        null, null, Tier.UNKNOWN));
        add(new RequestFinished(OPEN, "r", 1, RequestReason.COMPLETED, 1),
                go(RequestState.PREFILLING, RequestState.FINISHED, RequestReason.COMPLETED),
                new LeaseEnded(OPEN, LEASE, LeaseEndReason.REQUEST_ENDED));
        add(new OperationStarted(OPEN, BACK_UP, OperationKind.BACK_UP, SPACE, PAGES), new InputApplied(OPEN));
        add(new BackUpDone(OPEN, BACK_UP, SPACE, results(Tier.HOST), 128, 10),
                new BlocksBackedUp(OPEN, SPACE, List.of(B0, B1)),
                new OperationEnded(OPEN, BACK_UP, OperationKind.BACK_UP, OperationState.DONE, OperationReason.COMPLETED, 2, 0, 128));
        add(new BlocksEvicted(OPEN, Tier.HOST, SPACE, RemovalReason.PRESSURE, List.of(PAGES.get(1))),
                new BlocksRemoved(OPEN, Tier.HOST, SPACE, RemovalReason.PRESSURE, List.of(B1), 0));
        add(new AgentHeartbeat(OPEN, usage(3, 1, 0), 2, 0, 0), new NodeSeen(OPEN, usage(3, 1, 0)));
    }

    private void add(WireRecord... more) {
        records.addAll(List.of(more));
    }

    static Bytes key(int n) {
        return Bytes.wrapUnshared(new byte[] {1, 2, 3, 4, 5, 6, 7, (byte) n});
    }

    static PagedBlock paged(Block block, int page) {
        return new PagedBlock(block, page, 1, 77);
    }

    static RequestTransitioned go(RequestState from, RequestState to, RequestReason reason) {
        return new RequestTransitioned(OPEN, "r", 1, from, to, reason);
    }

    static List<TierUsage> usage(long free, long serving, long pins) {
        return List.of(new TierUsage(Tier.HOST, 4, free, 0, 0, serving, 0, 0, pins));
    }

    static List<BlockResult> results(Tier source) {
        return PAGES.stream().map(p -> new BlockResult(p.block(), BlockStatus.ARRIVED, OperationReason.COMPLETED, p.page(), p.generation(),
                p.crc32c(), source)).toList();
    }

    /** Where the n-th record of a type is, from 0. */
    private int find(Class<? extends WireRecord> type, int n) {
        int left = n;
        for (int i = 0; i < records.size(); i++) {
            if (type.isInstance(records.get(i)) && left-- == 0) {
                return i;
            }
        }
        throw new IllegalArgumentException("there is no " + type.getSimpleName() + " number " + n);
    }

    /** The n-th record of a type becomes another. */
    <T extends WireRecord> Story with(Class<T> type, int n, UnaryOperator<T> other) {
        int at = find(type, n);
        records.set(at, other.apply(type.cast(records.get(at))));
        return this;
    }

    Story without(Class<? extends WireRecord> type, int n) {
        records.remove(find(type, n));
        return this;
    }

    /** Further records right after the n-th of a type. */
    Story after(Class<? extends WireRecord> type, int n, WireRecord... more) {
        records.addAll(find(type, n) + 1, List.of(more));
        return this;
    }

    /** Nothing after the n-th record of a type. */
    Story until(Class<? extends WireRecord> type, int n) {
        records.subList(find(type, n) + 1, records.size()).clear();
        return this;
    }

    /** Appends it; returns the violations, in order. */
    List<Violation> tell(boolean atRest) {
        List<Violation> found = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(found::add);
        long event = -1;
        long decision = 0;
        for (WireRecord one : records) {
            switch (one) {
                case Event e -> invariants.event(0, ++event, e.withEnvelope(ofAgent(e, event)));
                case Fact d -> invariants.decision(0, decision++, d.withEnvelope(ofController(d, event)));
                default -> throw new IllegalArgumentException("neither event nor decision: " + one);
            }
        }
        invariants.atEnd(atRest);
        return found;
    }

    private static Envelope ofAgent(Event e, long offset) {
        String aggregate = e.envelope().aggregate();
        boolean clock = aggregate.startsWith("clock/");
        return new Envelope(aggregate, clock ? aggregate : "agent/a/p", clock || e instanceof AgentRegistering ? 0 : 1, offset + 1, 0, 0, null, null,
                null);
    }

    private static Envelope ofController(Fact d, long event) {
        Envelope e = d.envelope();
        String cause = e.cause() == null ? e.aggregate() + "@" + event : e.cause();
        return new Envelope(e.aggregate(), "controller/0", e.incarnation(), 0, 0, 0, cause, null, null);
    }
}
