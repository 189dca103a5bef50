/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One request, its records read in every order that the three topics allow, and saved and restored before each record. */
class RequestJoinTest {
    private static final Envelope NODE = new Envelope("node/a", "sender", 1, 0, 0, 0, null, null, null);
    private static final String M = "m";
    private static final List<Block> BLOCKS =
            List.of(new Block(0, Bytes.ofHex("0a"), Bytes.EMPTY), new Block(1, Bytes.ofHex("0b"), Bytes.ofHex("0a")));

    private RequestJoin join = new RequestJoin(new Findings());
    private HitCounts hits = HitCounts.NONE;
    private final Map<RequestJoin.Attempt, RequestJoin.SavedAttempt> attempts = new HashMap<>();
    private final Map<String, RequestJoin.SavedFetch> fetches = new HashMap<>();
    private final Set<RequestJoin.Attempt> changed = new HashSet<>();
    private final Set<String> changedFetches = new HashSet<>();

    private final class Findings implements RequestJoin.Findings {
        @Override
        public void submitted(RequestJoin.Attempt attempt, RequestSubmitted event, long atMs) {}

        @Override
        public void expired(RequestJoin.Attempt attempt, long atMs) {}

        @Override
        public void commanded(RequestJoin.Attempt attempt, long atMs, long ms) {}

        @Override
        public void ready(RequestJoin.Attempt attempt, long atMs, long ms) {}

        @Override
        public void hits(RequestJoin.Attempt attempt, long prefilledMs, Part part, Bytes root, HitCounts more) {
            hits = hits.plus(more);
        }

        @Override
        public void missed(long prefilledMs, String cause, long blocks) {}

        @Override
        public void changed(RequestJoin.Attempt attempt) {
            changed.add(attempt);
        }

        @Override
        public void fetchChanged(String operation) {
            changedFetches.add(operation);
        }
    }

    private void read(Object record) {
        switch (record) {
            case Event event -> join.event(event, 10);
            case Command command -> join.command(command, 10);
            case Fact fact -> join.fact(fact, 10);
            default -> throw new AssertionError(record);
        }
        changed.forEach(attempt -> join.save(attempt).ifPresentOrElse(saved -> attempts.put(attempt, saved), () -> attempts.remove(attempt)));
        changedFetches.forEach(id -> join.saveFetch(id).ifPresentOrElse(saved -> fetches.put(id, saved), () -> fetches.remove(id)));
        changed.clear();
        changedFetches.clear();
        join = new RequestJoin(new Findings());
        attempts.values().forEach(join::restore);
        fetches.values().forEach(join::restore);
    }

    private static RequestSubmitted submitted(boolean answered) {
        return new RequestSubmitted(NODE, "r", 1, M, BLOCKS.stream().map(Block::key).toList(), 33, 16, 0, List.of(), List.of(), 0, 2, true, answered,
                false, List.of(), null, null);
    }

    private static RequestTransitioned went(RequestState from, RequestState to) {
        return new RequestTransitioned(NODE, "r", 1, from, to, RequestReason.COMPLETED);
    }

    private static List<Object> fetchFacts() {
        return List.of(
                new OperationIssued(NODE, "op", OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r", 1, M, BLOCKS.getFirst().key(), BLOCKS, 1, 1,
                        null, null, Tier.UNKNOWN),
                went(RequestState.PREFETCHING, RequestState.PREFILLING),
                went(RequestState.PREFILLING, RequestState.DECODING),
                went(RequestState.DECODING, RequestState.FINISHED));
    }

    /** A part of a fetch may be loaded, and the prompt prefilled, before the fetch has ended. */
    private static List<Object> fetchEvents(boolean endsLate) {
        List<BlockResult> arrived = BLOCKS.stream()
                .map(block -> new BlockResult(block, BlockStatus.ARRIVED, OperationReason.COMPLETED, 0, 1, 0, Tier.DISK)).toList();
        Event fetched = new PrefetchDone(NODE, "op", "lease", M, arrived, 2, 1);
        Event loaded = new LoadBackDone(NODE, "load", "r", 1, M, arrived, 2, 1);
        Event prefilled = new RequestPrefilled(NODE, "r", 1, 0, 2, 1);
        return endsLate ? List.of(submitted(false), loaded, prefilled, fetched) : List.of(submitted(false), fetched, loaded, prefilled);
    }

    private static List<Object> fetchCommands() {
        return List.of(new PrefetchBlocks(NODE, new CommandHeader("c", 1), "op", "lease", 1, "r", 1, M, BLOCKS.getFirst().key(), BLOCKS,
                List.of(Tier.STORE, Tier.STORE), List.of(), null));
    }

    /** Every merge of three lists that keeps the order within each. */
    private static void merges(List<List<Object>> left, List<Object> begin, List<List<Object>> into) {
        boolean complete = true;
        for (int i = 0; i < left.size(); i++) {
            List<Object> topic = left.get(i);
            if (!topic.isEmpty()) {
                complete = false;
                List<List<Object>> rest = new ArrayList<>(left);
                rest.set(i, topic.subList(1, topic.size()));
                List<Object> longer = new ArrayList<>(begin);
                longer.add(topic.getFirst());
                merges(rest, longer, into);
            }
        }
        if (complete) {
            into.add(begin);
        }
    }

    private static List<List<Object>> merges(List<List<Object>> topics) {
        List<List<Object>> all = new ArrayList<>();
        merges(topics, List.of(), all);
        return all;
    }

    private static String names(List<Object> order) {
        return order.stream().map(record -> record.getClass().getSimpleName()).toList().toString();
    }

    /** Also when each record comes again, which counts nothing. The end of a fetch is left out: it waits for a fetch that no record names. */
    private static void assertOver(List<Object> order) {
        RequestJoinTest one = new RequestJoinTest();
        order.forEach(one::read);
        HitCounts once = one.hits;
        assertEquals(0, one.join.unfinished(), names(order));
        assertEquals(Set.of(), one.fetches.keySet(), names(order));
        order.stream().filter(record -> !(record instanceof PrefetchDone)).forEach(one::read);
        assertEquals(once, one.hits, names(order));
        assertEquals(0, one.join.unfinished(), names(order));
        assertEquals(Set.of(), one.fetches.keySet(), names(order));
    }

    /** 9! / (4! 4! 1!) = 630 orders. What is remembered for ever would fill the memory of the live page. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAttemptWithAFetchIsOverInEveryOrder(boolean endsLate) {
        List<List<Object>> orders = merges(List.of(fetchEvents(endsLate), fetchCommands(), fetchFacts()));

        assertEquals(630, orders.size());
        orders.forEach(RequestJoinTest::assertOver);
    }

    /** The fetch brought both blocks from the disk, whatever the submit says. One was computed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itsBlocksCountOnceInEveryOrder(boolean endsLate) {
        for (List<Object> order : merges(List.of(fetchEvents(endsLate), fetchCommands(), fetchFacts()))) {
            RequestJoinTest one = new RequestJoinTest();
            order.forEach(one::read);

            assertEquals(new HitCounts(1, 0, 0, 2, 0, 0, 1), one.hits, names(order));
        }
    }

    /** 6! / (2! 1! 3!) = 60 orders. */
    @Test
    void anAttemptThatIsResumedIsOverInEveryOrder() {
        List<List<Object>> orders = merges(List.of(
                List.of(submitted(false), new RequestPrefilled(NODE, "r", 1, 0, 0, 3)),
                List.of(new ResumeRequest(NODE, new CommandHeader("c", 1), "r", 1, RequestReason.COMPLETED)),
                List.of(went(RequestState.SUBMITTED, RequestState.PREFILLING), went(RequestState.PREFILLING, RequestState.DECODING),
                        went(RequestState.DECODING, RequestState.FINISHED))));

        assertEquals(60, orders.size());
        orders.forEach(RequestJoinTest::assertOver);
    }

    @Test
    void anAttemptThatIsRejectedIsOverInEveryOrder() {
        merges(List.of(
                        List.of(submitted(false)),
                        List.of(new ResumeRequest(NODE, new CommandHeader("c", 1), "r", 1, RequestReason.COMPLETED)),
                        List.of(went(RequestState.SUBMITTED, RequestState.REJECTED))))
                .forEach(RequestJoinTest::assertOver);
    }
}
