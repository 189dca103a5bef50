/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.table.BytesTables;
import io.tierlog.controller.core.table.HeapBytes;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.PromotionRequested;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State is the fold of the decisions, however they are cut into batches, wherever it is kept, and whichever instance decides again. */
class ReplayTest {
    private static final int STEPS = 600;

    private static RandomHistory history(long seed) {
        return new RandomHistory(seed, (w, e) -> {}, () -> {}).run(STEPS);
    }

    /** What is left of a fact after it was a record of the log. */
    private static Fact throughTheLog(Fact fact) {
        return (Fact) roundTrip(WireType.of(fact), fact);
    }

    @SuppressWarnings("unchecked") // the type is that of the value
    private static <T extends WireRecord> WireRecord roundTrip(WireType<T> type, WireRecord value) {
        return type.decode(type.encode((T) value));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void theFoldOfTheFactsIsTheState(long seed) {
        RandomHistory history = history(seed);
        HeapTables folded = new HeapTables();
        history.world().facts.forEach(fact -> Core.evolve(folded, throughTheLog(fact)));

        assertEquals(HeapBytes.dump(history.tables()), HeapBytes.dump(folded), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 50, 100_000})
    void everySplitOfTheFactsGivesTheSameTables(int batch) {
        RandomHistory history = history(5);
        HeapBytes store = new HeapBytes();
        BytesTables tables = new BytesTables(store);
        List<Fact> facts = history.world().facts;
        for (int i = 0; i < facts.size(); i++) {
            Evolve.apply(tables, facts.get(i));
            if (i % batch == batch - 1) {
                tables.flush();
            }
        }
        tables.flush();

        assertEquals(HeapBytes.dump(history.tables()), store.dump());
    }

    /** The instance may end after any fact: the next one goes on from the store alone. */
    @Test
    void aCutAfterAnyFactGivesTheSameTables() {
        RandomHistory history = new RandomHistory(12, (w, e) -> {}, () -> {}).run(120);
        List<Fact> facts = history.world().facts;
        HeapBytes upToHere = new HeapBytes();
        for (int cut = 0; cut <= facts.size(); cut++) {
            HeapBytes store = upToHere.copy();
            BytesTables tables = new BytesTables(store);
            facts.subList(cut, facts.size()).forEach(fact -> Evolve.apply(tables, fact));
            tables.flush();
            assertEquals(HeapBytes.dump(history.tables()), store.dump(), "cut after " + cut);
            if (cut < facts.size()) {
                BytesTables next = new BytesTables(upToHere);
                Evolve.apply(next, facts.get(cut));
                next.flush();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {6, 7, 8})
    void aStoreOfBytesComesToTheSameDecisions(long seed) {
        RandomHistory history = history(seed);
        HeapBytes store = new HeapBytes();
        BytesTables tables = new BytesTables(store);
        Core core = new Core(history.world().limits);
        List<Fact> facts = new ArrayList<>();
        for (Input input : history.world().log) {
            facts.addAll(core.step(tables, input).facts());
        }

        assertEquals(history.world().facts, facts, "seed " + seed);
        assertEquals(HeapBytes.dump(history.tables()), store.dump(), "seed " + seed);
    }

    /** Every event twice: the second one is refused, or answered where it is a probe, moves nothing and commands nothing but to fence a process. */
    @ParameterizedTest
    @ValueSource(longs = {9, 10})
    void aSecondDeliveryIsRefused(long seed) {
        RandomHistory history = history(seed);
        HeapTables tables = new HeapTables();
        Core core = new Core(history.world().limits);
        for (Input input : history.world().log) {
            Input.Recorded first = (Input.Recorded) input;
            core.step(tables, new Input.Recorded(0, first.offset() * 2, first.event()));
            DecideResult again = core.decide(tables, new Input.Recorded(0, first.offset() * 2 + 1, first.event()));
            // A probe is answered as often as it comes, and what was begun for it is joined.
            if (!(first.event() instanceof PromotionRequested)) {
                assertInstanceOf(Outcome.Refused.class, again.outcome(), () -> "seed " + seed + ", " + first.event());
            }
            assertEquals(1, again.facts().size(), () -> "seed " + seed + ", " + again.facts());
            assertTrue(again.commands().stream().allMatch(FenceAgent.class::isInstance), () -> "seed " + seed + ", " + again.commands());
        }
    }

    /** A hit of a path of 60 blocks writes a few rows: node, request, its timer, the deepest copy, its old and new place in the order. */
    @Test
    void aHitWritesAFewRowsHoweverLongThePath() {
        HeapBytes store = new HeapBytes();
        World w = new World(new BytesTables(store), Limits.DEFAULTS);
        Agent a = w.register("a", 1_000);
        List<Bytes> path = Agent.path("p", 60);
        w.warm(a, "warm", path, 0);
        store.puts = 0;
        store.deletes = 0;

        w.input(a.submit("hit", path).answered().event());

        assertEquals(List.of(5, 1), List.of(store.puts, store.deletes));
    }

    /** The histories are worth the time: every kind of fact that agents can cause occurs in them. */
    @Test
    void historiesAreVaried() {
        Set<String> seen = new HashSet<>();
        for (long seed = 1; seed <= 20; seed++) {
            history(seed).world().facts.forEach(fact -> seen.add(fact.getClass().getSimpleName()));
        }
        Set<String> missing = WireType.ofFamily(Fact.class).stream().map(type -> type.javaType().getSimpleName())
                .filter(name -> !seen.contains(name)).collect(Collectors.toSet());

        assertEquals(Set.of("InputSkipped", "PolicyVersioned", "PolicyRefused", "PeerReadGranted", "PeerReadRefused",
                "PeerReadClosed", "PeerReadRecalled"), missing);
    }

    @Test
    void anIllegalHistoryIsFatalAndSaysWhere() {
        RandomHistory history = history(11);
        List<Fact> facts = history.world().facts;
        HeapTables tables = new HeapTables();
        IllegalHistory thrown = assertThrows(IllegalHistory.class, () -> {
            for (int i = 0; i < facts.size(); i++) {
                if (!(facts.get(i) instanceof io.tierlog.schemas.decision.RequestAdmitted)) {
                    Core.evolve(tables, facts.get(i));
                }
            }
        });
        assertTrue(String.valueOf(thrown.getMessage()).contains("@"), thrown.getMessage());
    }
}
