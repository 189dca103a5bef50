/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.audit.stats.LogStatistics;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.Window;
import io.tierlog.ops.dashboard.model.WriterRow;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fold against the audit's statistics, over logs of random episodes, and restored from its rows at many places. */
class PartitionFoldTest {
    private static final FoldLimits LIMITS = FoldLimits.DEFAULTS;

    /** A fold that is written down and restored now and then, as a restart does. */
    private static final class Restarting {
        private final int every;
        private final Map<String, Row> kept = new LinkedHashMap<>();
        private PartitionFold fold = new PartitionFold(LIMITS);
        private int applied;

        Restarting(int every) {
            this.every = every;
        }

        void after() {
            if (++applied % every == 0) {
                restart();
            }
        }

        void restart() {
            for (Row row : fold.takeChanges()) {
                String key = new String(row.key(), StandardCharsets.UTF_8);
                if (row.value() == null) {
                    kept.remove(key);
                } else {
                    kept.put(key, row);
                }
            }
            fold = PartitionFold.restored(LIMITS, List.copyOf(kept.values()));
        }
    }

    private record Entry(long atMs, Object record) {}

    /** The records of all partitions in one order; a partition of the page has them as well as of one. */
    private static List<Entry> log(long seed) {
        List<Entry> log = new ArrayList<>();
        RandomLog.run(seed, new World.Watcher() {
            private long nextMs = 1_000_000;

            @Override
            public void appended(int partition, long offset, Event event) {
                log.add(new Entry(nextMs += 37, event));
            }

            @Override
            public void committed(int partition, long offset, Fact fact) {
                log.add(new Entry(nextMs += 11, fact));
            }
        });
        return log;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5})
    void theTotalsAreThoseOfTheAuditAndSurviveRestarts(long seed) {
        List<Entry> log = log(seed);
        LogStatistics statistics = new LogStatistics();
        List<Restarting> folds = Stream.of(97, 1_000, Integer.MAX_VALUE).map(Restarting::new).toList();
        for (Entry entry : log) {
            switch (entry.record()) {
                case Event event -> {
                    statistics.event(event, entry.atMs());
                    folds.forEach(each -> each.fold.event(event, entry.atMs()));
                }
                case Fact fact -> {
                    statistics.fact(fact, entry.atMs());
                    folds.forEach(each -> each.fold.fact(fact, entry.atMs()));
                }
                default -> throw new AssertionError(entry);
            }
            folds.forEach(Restarting::after);
        }
        LogSummary audit = statistics.summary(statistics.lastMs());
        assertTrue(audit.requests().hits().accesses() > 0, "the episode has no prompt");
        for (Restarting each : folds) {
            each.restart();
            AuditTotals.assertEqual(audit, each.fold.total(), "restarted every " + each.every);
        }
        assertEquals(folds.getLast().fold.nodes(), folds.getFirst().fold.nodes());
        assertEquals(count(folds.getLast().fold.requests()), count(folds.getFirst().fold.requests()));
        assertEquals(list(folds.getLast().fold.inFlight()), list(folds.getFirst().fold.inFlight()));
        assertEquals(Set.copyOf(list(folds.getLast().fold.prefixes())), Set.copyOf(list(folds.getFirst().fold.prefixes())));
        assertTrue(list(folds.getFirst().fold.prefixes()).stream().anyMatch(prefix -> prefix.savedBytes() > 0));
        folds.forEach(each -> assertEquals(writersOf(log), Set.copyOf(list(each.fold.writers()))));
    }

    /** The page reads the topics of a partition as they come: a fact may be read long before the event that it is of, or long after it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void theTotalsAreTheSameInEachOrderOfTheTopics(long seed) {
        List<Entry> log = log(seed);
        LogStatistics statistics = new LogStatistics();
        log.forEach(entry -> apply(entry, statistics::event, statistics::fact));
        LogSummary audit = statistics.summary(statistics.lastMs());
        for (boolean factsFirst : new boolean[] {true, false}) {
            PartitionFold fold = new PartitionFold(LIMITS);
            log.stream().sorted(Comparator.comparing(entry -> entry.record() instanceof Fact != factsFirst))
                    .forEach(entry -> apply(entry, fold::event, fold::fact));
            AuditTotals.assertSums(audit, fold.total().counters(), factsFirst ? "facts first" : "events first");
        }
    }

    private static void apply(Entry entry, ObjLongConsumer<Event> event, ObjLongConsumer<Fact> fact) {
        switch (entry.record()) {
            case Event e -> event.accept(e, entry.atMs());
            case Fact f -> fact.accept(f, entry.atMs());
            default -> throw new AssertionError(entry);
        }
    }

    /** Counted without the fold. */
    private static Set<WriterRow> writersOf(List<Entry> log) {
        Map<String, List<Entry>> bySender = log.stream().collect(Collectors.groupingBy(
                each -> (each.record() instanceof Event event ? event.envelope() : ((Fact) each.record()).envelope()).sender()));
        return bySender.entrySet().stream().map(sender -> {
            List<Entry> its = sender.getValue();
            long events = its.stream().filter(each -> each.record() instanceof Event).count();
            return new WriterRow(sender.getKey(), events, its.size() - events, 0, its.getLast().record().getClass().getSimpleName(),
                    its.getLast().atMs());
        }).collect(Collectors.toSet());
    }

    private static <T> List<T> list(Iterable<T> all) {
        List<T> list = new ArrayList<>();
        all.forEach(list::add);
        return list;
    }

    private static int count(Iterable<?> all) {
        return list(all).size();
    }

    /** All windows together are the total, as long as none has left; then only the latest are kept, and the total stays. */
    @Test
    void windowsAddUpAndTheOldestLeave() {
        List<Entry> log = log(3);
        PartitionFold all = new PartitionFold(LIMITS);
        PartitionFold few = new PartitionFold(new FoldLimits(2, 10, 2_000, 10, 10, 2, 10));
        for (Entry entry : log) {
            if (entry.record() instanceof Event event) {
                all.event(event, entry.atMs());
                few.event(event, entry.atMs());
            } else if (entry.record() instanceof Fact fact) {
                all.fact(fact, entry.atMs());
                few.fact(fact, entry.atMs());
            }
        }
        Window sum = new Window(0);
        all.windows(0, Long.MAX_VALUE).forEach(sum::add);
        assertEquals(all.total().counters().toMap(), sum.counters().toMap());
        assertEquals(2, count(few.windows(0, Long.MAX_VALUE)));
        assertEquals(0, count(few.windows(few.firstMs(), few.firstMs() - 1)), "a moment before the first window");
        assertEquals(all.total().counters().toMap(), few.total().counters().toMap());
        assertTrue(few.nodes().size() <= 10 && count(few.requests()) <= 10);
        assertTrue(count(few.writers()) <= 10);
    }

    private static Envelope about(String node) {
        return new Envelope("node/" + node, "sender", 1, 1, 0, 0, null, null, null, null);
    }

    private static AgentAccepted accepted(String node) {
        return new AgentAccepted(about(node), node, "p", 1, List.of(), Bytes.EMPTY, Bytes.EMPTY, 0, Policies.INITIAL, null, false);
    }

    /** The clock of its agent is 50 minutes ahead of the controller's. */
    @Test
    void anAgentsClockDoesNotMoveTheTimeOfThePage() {
        PartitionFold fold = new PartitionFold(LIMITS);
        fold.fact(accepted("a"), 1_000_000);
        fold.event(new AgentHeartbeat(about("a"), List.of(), 0, 0, 0), 4_000_000);

        assertEquals(1_000_000, fold.seen().lastMs());
        assertEquals(1, fold.total().counters().get(Names.EVENTS));
    }

    /** Space for three: a is up and has the oldest report, that of b is from 3,000, that of c from 3,500. */
    @Test
    void aNodeThatIsNotUpGivesWayToAFurtherOne() {
        PartitionFold fold = new PartitionFold(new FoldLimits(2, 3, 10, 10, 10, 2, 10));
        fold.fact(accepted("a"), 1_000);
        fold.fact(accepted("c"), 2_000);
        fold.fact(accepted("b"), 3_000);
        fold.fact(new NodeSeen(about("c"), List.of()), 3_500);
        fold.fact(new NodeEnded(about("b"), 1, RemovalReason.NODE_LOST), 4_000);
        fold.fact(new NodeEnded(about("c"), 1, RemovalReason.NODE_STOPPED), 5_000);
        assertEquals(4_000, fold.nodes().get("b").endedMs());

        fold.fact(accepted("d"), 6_000);
        assertEquals(Set.of("a", "c", "d"), fold.nodes().keySet());
        fold.fact(accepted("e"), 7_000);
        assertEquals(Set.of("a", "d", "e"), fold.nodes().keySet());
        assertEquals(List.of(), fold.history("c"));
        fold.fact(accepted("f"), 8_000);
        assertEquals(Set.of("a", "d", "e"), fold.nodes().keySet(), "all are up: a further one is counted, and not shown");
        assertEquals(9, fold.total().counters().get(Names.FACTS));
    }

    @Test
    void aCopyOfAWindowIsItsOwn() {
        Window one = new Window(0);
        one.counters().add("a", 1);
        one.ready().add(7);
        Window copy = new Window(0);
        copy.add(one);
        copy.add(one);
        one.counters().add("b", 1);
        one.ready().add(9);

        assertEquals(Map.of("a", 2L), copy.counters().toMap());
        assertArrayEquals(new long[] {7, 2}, copy.ready().pairs());
        assertEquals(Map.of("a", 1L, "b", 1L), one.counters().toMap());
        assertArrayEquals(new long[] {7, 1, 9, 1}, one.ready().pairs());
    }

    @Test
    void countersKeepTheirNamesSorted() {
        Counters counters = new Counters();
        counters.add("b", 2);
        counters.add("a", 1);
        counters.add("b", 3);
        assertEquals(Map.of("a", 1L, "b", 5L), counters.toMap());
        assertEquals(0, counters.get(Names.EXPIRED));
        assertEquals(6, counters.sum(""));
    }
}
