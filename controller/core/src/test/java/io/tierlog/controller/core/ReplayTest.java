/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.evolve.Evolve;
import io.tierlog.controller.core.table.HeapBytes;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RunTables;
import io.tierlog.controller.core.table.WriteBehindTables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
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

    /** Tables that keep few rows, so that most are written because others need their space. */
    private static WriteBehindTables kept(HeapBytes store) {
        return new WriteBehindTables(new RunTables(store), 5);
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
        WriteBehindTables tables = kept(store);
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
            WriteBehindTables tables = kept(store);
            facts.subList(cut, facts.size()).forEach(fact -> Evolve.apply(tables, fact));
            tables.flush();
            assertEquals(HeapBytes.dump(history.tables()), store.dump(), "cut after " + cut);
            if (cut < facts.size()) {
                WriteBehindTables next = kept(upToHere);
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
        RunTables tables = new RunTables(store);
        Core core = new Core(history.world().limits);
        List<Fact> facts = new ArrayList<>();
        for (Input input : history.world().log) {
            facts.addAll(core.step(tables, input).facts());
        }
        tables.together(() -> {});

        assertEquals(history.world().facts, facts, "seed " + seed);
        assertEquals(HeapBytes.dump(history.tables()), store.dump(), "seed " + seed);
    }

    /**
     * Transactions of some inputs, a part of which is aborted: the store goes back to the last commit, new tables read it, and the inputs are decided
     * again. Facts and rows are those of a history without aborts, and so is what was written behind in between.
     */
    @ParameterizedTest
    @ValueSource(longs = {6, 7, 8, 13})
    void abortedTransactionsLeaveNothingInKeptRows(long seed) {
        RandomHistory history = history(seed);
        Random random = new Random(seed);
        Core core = new Core(history.world().limits);
        List<Input> log = history.world().log;
        List<Fact> facts = new ArrayList<>();
        HeapBytes store = new HeapBytes();
        HeapBytes committed = store.copy();
        WriteBehindTables tables = new WriteBehindTables(new RunTables(store), random.nextInt(1, 200));
        int aborts = 0;
        for (int from = 0; from < log.size(); ) {
            int to = Math.min(log.size(), from + random.nextInt(1, 20));
            List<Fact> decided = new ArrayList<>();
            for (Input input : log.subList(from, to)) {
                decided.addAll(core.step(tables, input).facts());
                tables.writeBehind(random.nextInt(3));
            }
            if (random.nextInt(4) == 0) {
                store = committed.copy();
                tables = new WriteBehindTables(new RunTables(store), random.nextInt(1, 200));
                aborts++;
            } else {
                tables.flush();
                assertEquals(0, tables.unwritten());
                committed = store.copy();
                facts.addAll(decided);
                from = to;
            }
        }

        assertTrue(aborts > 5, aborts + " aborts");
        assertEquals(history.world().facts, facts, "seed " + seed);
        assertEquals(HeapBytes.dump(history.tables()), store.dump(), "seed " + seed);
    }

    /** Commands are given away before the state changes, each once and in the order of the result. */
    @Test
    void eachCommandIsGivenAwayOnceAndInOrder() {
        RandomHistory history = history(14);
        HeapTables tables = new HeapTables();
        Core core = new Core(history.world().limits);
        int commands = 0;
        for (Input input : history.world().log) {
            List<Command> given = new ArrayList<>();
            DecideResult decided = core.step(tables, input, given::add);
            assertEquals(decided.commands(), given);
            commands += given.size();
        }
        assertTrue(commands > 50, commands + " commands");
    }

    /** The command of an input leaves before any row of it is written. */
    @Test
    void aCommandLeavesBeforeTheStateChanges() {
        HeapBytes store = new HeapBytes();
        World w = new World(new RunTables(store), Limits.DEFAULTS);
        Agent a = w.register("a", 1_000);
        store.puts = 0;
        List<Integer> putsAtCommand = new ArrayList<>();
        Event submitted = a.submit("r", Agent.path("p", 8)).store(0, 8).event();
        w.core.step(w.tables, new Input.Recorded(0, w.log.size(), submitted, 0), _ -> putsAtCommand.add(store.puts));

        assertEquals(List.of(0), putsAtCommand);
        assertTrue(store.puts > 0);
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
            core.step(tables, new Input.Recorded(0, first.offset() * 2, first.event(), 0));
            DecideResult again = core.decide(tables, new Input.Recorded(0, first.offset() * 2 + 1, first.event(), 0));
            // A probe is answered as often as it comes, and what was begun for it is joined. What an agent does with the store is a use each time.
            boolean ofStore = first.event() instanceof BlocksStored || first.event() instanceof StoreReadStarted
                    || first.event() instanceof StoreFull;
            if (!(first.event() instanceof PromotionRequested) && !ofStore) {
                assertInstanceOf(Outcome.Refused.class, again.outcome(), () -> "seed " + seed + ", " + first.event());
            }
            assertEquals(1, again.facts().size(), () -> "seed " + seed + ", " + again.facts());
            assertTrue(again.commands().stream().allMatch(FenceAgent.class::isInstance), () -> "seed " + seed + ", " + again.commands());
        }
    }

    /** A hit of a path of 60 blocks writes a few rows: node, request, the deepest copy, its old and new place in the order. */
    @Test
    void aHitWritesAFewRowsHoweverLongThePath() {
        HeapBytes store = new HeapBytes();
        WriteBehindTables tables = new WriteBehindTables(new RunTables(store), 0);
        World w = new World(tables, Limits.DEFAULTS);
        Agent a = w.register("a", 1_000);
        List<Bytes> path = Agent.path("p", 60);
        w.warm(a, "warm", path, 0);
        tables.flush();
        store.puts = 0;
        store.deletes = 0;

        w.input(a.submit("hit", path).answered().event());
        tables.flush();

        assertEquals(List.of(4, 1), List.of(store.puts, store.deletes));
    }

    /** The version of the core changes in the middle: the fold knows from the log by which version each fact came about. */
    @ParameterizedTest
    @ValueSource(longs = {9, 10})
    void theFoldFollowsTheVersionOfTheCore(long seed) {
        RandomHistory history = new RandomHistory(seed, (w, e) -> {}, () -> {}).ordersOfTheVersion().run(STEPS);
        List<Input> log = history.world().log;
        HeapTables tables = new HeapTables();
        List<Fact> facts = new ArrayList<>();
        for (int i = 0; i < log.size(); i++) {
            int version = i < log.size() / 2 ? CoreVersion.OLDEST : CoreVersion.CURRENT;
            facts.addAll(new Core(history.world().limits, "", version).step(tables, log.get(i)).facts());
        }
        HeapTables folded = new HeapTables();
        facts.forEach(fact -> Core.evolve(folded, throughTheLog(fact)));

        assertEquals(1, facts.stream().filter(CoreVersionRaised.class::isInstance).count());
        assertEquals(HeapBytes.dump(tables), HeapBytes.dump(folded), "seed " + seed);
    }

    /** The histories are worth the time: every kind of fact that agents can cause occurs in them. */
    @Test
    void historiesAreVaried() {
        Set<String> seen = new HashSet<>();
        for (long seed = 1; seed <= 40; seed++) {
            history(seed).world().facts.forEach(fact -> seen.add(fact.getClass().getSimpleName()));
        }
        Set<String> missing = WireType.ofFamily(Fact.class).stream().map(type -> type.javaType().getSimpleName())
                .filter(name -> !seen.contains(name)).collect(Collectors.toSet());

        assertEquals(Set.of("InputSkipped", "CoreVersionRaised", "PolicyVersioned", "PolicyRefused", "PeerReadGranted", "PeerReadRefused",
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

    @Test
    void anOperationThatIsIssuedTwiceIsAnIllegalHistory() {
        HeapTables tables = new HeapTables();
        for (Fact fact : history(11).world().facts) {
            Core.evolve(tables, fact);
            if (fact instanceof io.tierlog.schemas.decision.OperationIssued) {
                IllegalHistory thrown = assertThrows(IllegalHistory.class, () -> Core.evolve(tables, fact));
                assertTrue(String.valueOf(thrown.getMessage()).contains("was issued before"), thrown.getMessage());
                return;
            }
        }
        fail("No operation was issued");
    }
}
