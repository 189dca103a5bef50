/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractSet;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** 300 fresh episodes in every build, and all that have ever failed. -Dtierlog.seed=N runs from that seed, -Dtierlog.episodes=N so many. */
class SwarmTest {
    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

    /** What the episodes of one build may take; the rest of them is left out and said. */
    private static final Duration LIMIT = Duration.ofSeconds(100);

    /** A build that has run fewer than these has shown nothing. */
    private static final long FEWEST = 100;

    /** Fixed episodes that are looked at, at most, for kinds of work that fresh ones did not bring: the rarest comes in one of 200. */
    private static final long FIXED = 1_500;

    @Test
    void freshSeedsEndClean(@TempDir Path directory) {
        long fresh = 1_000_000L + ThreadLocalRandom.current().nextInt(1_000_000_000);
        long seed = Long.getLong("tierlog.seed", fresh);
        long wanted = Long.getLong("tierlog.episodes", 300);
        Swarm swarm = new Swarm(new Swarm.Config(seed, wanted, LIMIT, ALL, 2, directory, Duration.ofSeconds(20), 1), line -> {});

        SimulationReport report = swarm.run();

        System.out.println(report.text());
        assertEquals(0, report.violations(), report::text);
        assertEquals(0, report.wrongContent(), report::text);
        assertTrue(report.episodes() >= Math.min(wanted, FEWEST),
                () -> "only " + report.episodes() + " of " + wanted + " episodes in " + report.elapsed());
        assertEquals(report.episodes() == wanted ? "" : Swarm.TIME_IS_UP, report.shortfall());
        assertTrue(report.operations() > 0 && report.readsChecked() > 0 && report.writesChecked() > 0 && !report.faults().isEmpty(), report::text);
        assertTrue(report.retries() > report.episodes(), report::text);
        everyKindComesAbout(report, directory);
    }

    /** What a few fresh episodes did not bring is looked for in fixed ones, so no build fails for the luck of its draw. */
    private static void everyKindComesAbout(SimulationReport fresh, Path directory) {
        Set<FetchCount> fetches = EnumSet.allOf(FetchCount.class);
        Set<MigrationCount> migrations = EnumSet.allOf(MigrationCount.class);
        fetches.removeAll(seen(fresh.fetches()));
        migrations.removeAll(seen(fresh.migrations()));
        for (long seed = 1; seed <= FIXED && !(fetches.isEmpty() && migrations.isEmpty()); seed += FEWEST) {
            SimulationReport fixed = new Swarm(new Swarm.Config(seed, FEWEST, LIMIT, ALL, 2, directory, Duration.ofSeconds(20), 1), line -> {}).run();
            assertEquals(0, fixed.violations(), fixed::text);
            fetches.removeAll(seen(fixed.fetches()));
            migrations.removeAll(seen(fixed.migrations()));
        }
        assertEquals("[][]", "" + fetches + migrations, "in " + FIXED + " fixed episodes too there is nothing of these");
    }

    private static <K> Set<K> seen(Map<K, Long> counts) {
        return counts.entrySet().stream().filter(kind -> kind.getValue() > 0).map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    @Test
    void aHaltedSwarmSaysHowManyItRanAndWhy(@TempDir Path directory) {
        Swarm.Config config = new Swarm.Config(1, 1_000, Duration.ZERO, ALL, 1, directory, Duration.ofSeconds(1), 1);

        SimulationReport report = new Swarm(config, line -> {}).run();

        assertEquals(1, report.episodes(), "one is run whatever the limit is");
        assertEquals(Swarm.TIME_IS_UP, report.shortfall());
        assertTrue(report.text().contains("1 of 1000 episodes (fewer: --minutes are over)"), report::text);
    }

    /** Kinds of faults without an observable trace. */
    private static final class Unreadable extends AbstractSet<FaultKind> {
        @Override
        public boolean contains(Object kind) {
            throw new InternalError("planted");
        }

        @Override
        public Iterator<FaultKind> iterator() {
            return ALL.iterator();
        }

        @Override
        public int size() {
            return ALL.size();
        }
    }

    @Test
    void anErrorInAnEpisodeIsItsFailure(@TempDir Path directory) {
        Swarm.Config config = new Swarm.Config(1, 2, LIMIT, new Unreadable(), 1, directory, Duration.ofSeconds(1), 1);

        SimulationReport report = new Swarm(config, line -> {}).run();

        assertEquals(1, report.violations(), report::text);
        assertEquals("1 violations", report.shortfall());
        assertNotNull(Episode.run(Choices.drawn(1), new Unreadable(), false).failure());
        assertTrue(report.text().contains("VIOLATION in the episode of seed 1") && report.text().contains("InternalError: planted"), report::text);
    }

    /** What runs the episodes breaks, here by a time that no clock can hold: it does not end in silence. */
    @Test
    void aBrokenSwarmIsNotClean(@TempDir Path directory) {
        Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
        Swarm.Config config = new Swarm.Config(1, 2, LIMIT, new Unreadable(), 1, directory, endless, 2);

        SimulationReport report = new Swarm(config, line -> {}).run();

        assertEquals(1, report.violations(), report::text);
        assertTrue(report.text().contains("the simulator broke: java.lang.ArithmeticException"), report::text);
    }

    static List<Long> everySeedThatEverFailed() throws IOException {
        try (InputStream in = SwarmTest.class.getResourceAsStream("failed-seeds.txt")) {
            assertNotNull(in);
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> Long.valueOf(line.substring(0, line.indexOf(" ")))).toList();
        }
    }

    /** The world that a seed makes changes with the simulator, so that these are episodes like any other after a while; they cost little. */
    @ParameterizedTest
    @MethodSource("everySeedThatEverFailed")
    void aSeedThatFailedOnceDoesSoNoMore(long seed) {
        Episode.Result result = Episode.run(Choices.drawn(seed), ALL, false);

        Episode.Failure failure = result.failure();
        assertEquals("", failure == null ? "" : failure.what(), () -> "again: ops/tierlog simulate --episodes 1 --seed " + seed);
        assertTrue(result.counts().inputs() >= Episode.INPUTS, () -> "inputs of users: " + result.counts());
    }

    @Test
    void theSameSeedIsTheSameEpisode() {
        for (long seed = 7; seed < 10; seed++) {
            Episode.Result one = Episode.run(Choices.drawn(seed), ALL, false);
            Episode.Result two = Episode.run(Choices.drawn(seed), ALL, false);

            assertTrue(one.counts().records() > 100, () -> "an episode without records: " + one.counts());
            assertEquals(one.digest(), two.digest());
            assertEquals(one.counts(), two.counts());
            assertEquals(one.faults(), two.faults());
        }
    }

    @Test
    void anEpisodeWithoutFaultsHasNone() {
        Episode.Result result = Episode.run(Choices.drawn(3), EnumSet.noneOf(FaultKind.class), false);

        assertEquals("{}", result.faults().toString());
        assertEquals(null, result.failure());
    }
}
