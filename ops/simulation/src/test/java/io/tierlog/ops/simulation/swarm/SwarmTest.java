/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractSet;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * 100 fixed episodes in every build, those that cover every kind of work, and all that have ever failed. Fresh seeds belong to ops/soak.
 * -Dtierlog.seed=N runs from that seed, -Dtierlog.episodes=N so many, -Dtierlog.cover=N looks for a new list of covering seeds among so many.
 */
@Tag("slow")
class SwarmTest {
    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

    /** The time that the fixed episodes may take; those that did not begin by then are left out, and the report says so. */
    private static final Duration LIMIT = Duration.ofMinutes(7);

    /** The time in which further episodes may begin when the listed seeds miss a kind of work. */
    private static final Duration SEARCH_LIMIT = Duration.ofMinutes(7);

    /** A build that has run fewer than these has shown nothing. */
    private static final long FEWEST = 40;

    /** The fixed episodes, at most, in which a kind of work is looked for: the rarest comes in one of 200. */
    private static final long FIXED = 1_500;

    @Test
    void fixedSeedsEndClean(@TempDir Path directory) {
        long seed = Long.getLong("tierlog.seed", 1);
        long wanted = Long.getLong("tierlog.episodes", 100);
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
    }

    /** A kind of work that no longer comes about would leave its checks idle. Kinds that the listed seeds miss are looked for in more fixed ones. */
    @Test
    void everyKindComesAbout() throws IOException {
        Set<String> missing = CoveringSeeds.all();
        cover(CoveringSeeds.read("covering-seeds.txt"), missing);
        if (!missing.isEmpty()) {
            System.out.println("covering-seeds.txt has no episode with " + missing + "; -Dtierlog.cover=" + FIXED + " finds a new list");
        }
        long beganNs = System.nanoTime();
        long searched = 0;
        while (!missing.isEmpty() && searched < FIXED && System.nanoTime() - beganNs < SEARCH_LIMIT.toNanos()) {
            cover(LongStream.rangeClosed(searched + 1, Math.min(searched + FEWEST, FIXED)).boxed().toList(), missing);
            searched += FEWEST;
        }

        assertEquals("[]", missing.toString(), "there is nothing of these in the listed episodes and " + Math.min(searched, FIXED) + " fixed ones");
    }

    private static void cover(List<Long> seeds, Set<String> missing) {
        for (Episode.Result result : seeds.parallelStream().map(seed -> Episode.run(Choices.drawn(seed), ALL, false)).toList()) {
            Episode.Failure failure = result.failure();
            assertEquals("", failure == null ? "" : failure.what());
            missing.removeAll(CoveringSeeds.kinds(result));
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "tierlog.cover", matches = "[0-9]+")
    void searchesForCoveringSeeds() {
        List<String> lines = CoveringSeeds.search(Long.getLong("tierlog.cover", 1));

        lines.forEach(System.out::println);
        assertFalse(lines.isEmpty());
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
        return CoveringSeeds.read("failed-seeds.txt");
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
