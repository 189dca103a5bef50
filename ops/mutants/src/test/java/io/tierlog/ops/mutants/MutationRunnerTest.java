/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.mutants.Mutant.Killer;
import io.tierlog.ops.mutants.MutationRunner.Outcome;
import io.tierlog.ops.mutants.MutationRunner.Setup;
import io.tierlog.ops.mutants.MutationRunner.Verdict;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole way with a guard of two lines: edited, compiled, put in front, and its tests run in another JVM. */
class MutationRunnerTest {
    private static final String GUARDED = """
            package t;
            public class Guarded {
                public static int half(int a) {
                    if (a % 2 != 0) { throw new IllegalArgumentException("odd"); }
                    int steps = 0;
                    while (steps < a / 2) { steps++; }
                    return steps;
                }
            }
            """;
    private static final String TESTS = """
            package t;
            import org.junit.jupiter.api.*;
            import org.junit.jupiter.params.ParameterizedTest;
            import org.junit.jupiter.params.provider.ValueSource;
            public class GuardedTest {
                @Test public void four() { Assertions.assertEquals(2, Guarded.half(4)); }
                @ParameterizedTest @ValueSource(ints = {1, 3}) public void odd(int a) {
                    Assertions.assertThrows(IllegalArgumentException.class, () -> Guarded.half(a));
                }
                @Test public void wrong() { Assertions.assertEquals(3, Guarded.half(4)); }
            }
            """;
    private static final String GUARD = "if (a % 2 != 0) { throw new IllegalArgumentException(\"odd\"); }";

    @TempDir
    static Path root;

    @BeforeAll
    static void compile() throws IOException {
        Path source = Files.writeString(root.resolve("Guarded.java"), GUARDED);
        Path test = Files.writeString(root.resolve("GuardedTest.java"), TESTS);
        Path classes = Files.createDirectories(root.resolve("classes"));
        String libraries = System.getProperty("java.class.path");
        assertEquals(0, ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", classes.toString(), "-cp", libraries, source.toString(), test.toString()));
    }

    private static Setup setup(int seconds) {
        List<Path> libraries = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of).toList();
        return new Setup(root, List.of(root.resolve("classes")), libraries, Duration.ofSeconds(seconds));
    }

    private static Outcome examine(int seconds, Mutant mutant) throws IOException, InterruptedException {
        try (MutationRunner runner = new MutationRunner(setup(seconds))) {
            return runner.examine(mutant);
        }
    }

    private static Optional<String> control(Mutant... mutants) throws Exception {
        try (MutationRunner runner = new MutationRunner(setup(60)); ExecutorService workers = Executors.newFixedThreadPool(2)) {
            return runner.control(List.of(mutants), workers);
        }
    }

    private static Outcome examine(String text, String replacement, String... tests) throws IOException, InterruptedException {
        Outcome outcome = examine(60, new Mutant("m", "A1", "Guarded.java", text, replacement, new Killer.Tests(List.of(tests))));
        assertEquals(GUARDED, Files.readString(root.resolve("Guarded.java")), "the source stays as it is");
        return outcome;
    }

    @Test
    void aMutantThatATestNoticesIsKilledAndTheFailureIsShown() throws Exception {
        Outcome outcome = examine(GUARD, "", "t.GuardedTest#four", "t.GuardedTest#odd");
        assertEquals(Verdict.KILLED, outcome.verdict());
        assertTrue(outcome.detail().contains("odd(int)[1]") && outcome.detail().contains("IllegalArgumentException"), outcome.detail());
    }

    @Test
    void aMutantThatNoTestNoticesSurvives() throws Exception {
        assertEquals(Verdict.SURVIVED, examine(GUARD, "", "t.GuardedTest#four").verdict());
    }

    @Test
    void anEntryThatMustBeCorrectedIsStale() throws Exception {
        assertEquals(Verdict.STALE, examine("no such text", "", "t.GuardedTest#four").verdict());
        assertEquals(Verdict.STALE, examine("steps", "stops", "t.GuardedTest#four").verdict(), "twice");
        Outcome uncompiled = examine(GUARD, "if (", "t.GuardedTest#four");
        assertEquals(Verdict.STALE, uncompiled.verdict());
        assertTrue(uncompiled.detail().startsWith("does not compile"), uncompiled.detail());
        Outcome unknown = examine(GUARD, "", "t.GuardedTest#five");
        assertEquals(Verdict.STALE, unknown.verdict());
        assertEquals("no such test: t.GuardedTest#five", unknown.detail());
        assertEquals(Verdict.STALE, examine(GUARD, "", "t.AbsentTest#four").verdict());
    }

    @Test
    void aMutantThatNeverEndsIsKilledByTheLimit() throws Exception {
        Mutant endless = new Mutant("m", "A1", "Guarded.java", "steps++;", "", new Killer.Tests(List.of("t.GuardedTest#four")));
        Outcome outcome = examine(3, endless);
        assertEquals(Verdict.KILLED, outcome.verdict());
        assertEquals("not at its end after 3 s", outcome.detail());
    }

    @Test
    void testsThatFailWithoutAMutantProveNothing() throws Exception {
        Mutant good = new Mutant("m", "A1", "Guarded.java", GUARD, "", new Killer.Tests(List.of("t.GuardedTest#four")));
        Mutant bad = new Mutant("n", "A1", "Guarded.java", GUARD, "", new Killer.Tests(List.of("t.GuardedTest#wrong")));
        assertEquals(Optional.empty(), control(good));
        String said = control(good, bad).orElseThrow();
        assertTrue(said.startsWith("wrong()"), said);
    }

    /** The simulator runs from there too: with nothing edited of the cores one episode goes well, and an option it does not know does not. */
    @Test
    void theSimulatorKillsToo() throws Exception {
        Mutant blind = new Mutant("m", "A1", "Guarded.java", GUARD, "", new Killer.Simulate(List.of("--episodes", "1", "--seed", "1")));
        assertEquals(Optional.empty(), control(blind));
        assertEquals(Verdict.SURVIVED, examine(60, blind).verdict());
        Mutant noisy = new Mutant("n", "A1", "Guarded.java", GUARD, "", new Killer.Simulate(List.of("--no-such-option")));
        assertEquals(Verdict.STALE, examine(60, noisy).verdict(), "a usage that is refused has noticed nothing");
    }

    /** Whatever is edited here, the expectation holds or it does not: so it is the scenario that decides. */
    @Test
    void aScenarioKillsToo() throws Exception {
        Mutant blind = withScenario("holds", 3);
        assertEquals(Optional.empty(), control(blind));
        assertEquals(Verdict.SURVIVED, examine(60, blind).verdict());
        Outcome killed = examine(60, withScenario("fails", 2));
        assertEquals(Verdict.KILLED, killed.verdict());
        assertTrue(killed.detail().contains("\"expectations_failed\":1"), killed.detail());
        assertTrue(control(blind, withScenario("fails", 2)).isPresent(), "it fails without a mutant");
        Mutant absent = new Mutant("m", "A1", "Guarded.java", GUARD, "", new Killer.Scenario("absent.jsonl"));
        assertEquals(Verdict.STALE, examine(60, absent).verdict(), "what is not there has noticed nothing");
    }

    private static Mutant withScenario(String name, int expectedFree) throws IOException {
        Files.writeString(root.resolve(name + ".jsonl"), """
                {"world":{"nodes":[{"id":"a","host_blocks":3}]}}
                {"do":"settle"}
                {"expect":{"free":{"a":{"HOST":%d}}}}
                """.formatted(expectedFree));
        return new Mutant("m", "A1", "Guarded.java", GUARD, "", new Killer.Scenario(name + ".jsonl"));
    }

    /** A class that stands before the simulator's own, in which {@code main} does what is to be done. */
    private static Outcome examineWith(String main, int seconds) throws IOException, InterruptedException {
        String text = "package t; class Absent {}";
        Files.writeString(root.resolve("SimulateMain.java"), text);
        String simulator = "package io.tierlog.ops.simulation.swarm;"
                + "public class SimulateMain { public static void main(String[] a) { " + main + " } }";
        return examine(seconds, new Mutant("m", "A1", "SimulateMain.java", text, simulator, new Killer.Simulate(List.of())));
    }

    private static String says(String what, int code) {
        return "System.out.println(\"VIOLATION in the episode of seed 1\\n  " + what + "\"); System.exit(" + code + ");";
    }

    @Test
    void theSimulatorHasNoticedWhenItSaysAViolation() throws Exception {
        Outcome outcome = examineWith(says("I9, content: wrong", 1), 60);
        assertEquals(Verdict.KILLED, outcome.verdict());
        assertEquals("VIOLATION in the episode of seed 1: I9, content: wrong", outcome.detail());
    }

    @Test
    void aSimulatorThatEndsInAnyOtherWayHasNoticedNothing() throws Exception {
        assertEquals(Verdict.STALE, examineWith("throw new IllegalStateException();", 60).verdict(), "it crashed");
        assertEquals(Verdict.STALE, examineWith(says("I9, content: wrong", 2), 60).verdict(), "a usage");
        assertEquals(Verdict.STALE, examineWith(says("java.lang.OutOfMemoryError: Java heap space", 1), 60).verdict(), "no memory");
        Outcome endless = examineWith("while (true) { Thread.onSpinWait(); }", 2);
        assertEquals(Verdict.STALE, endless.verdict());
        assertEquals("not at its end after 2 s", endless.detail());
    }

    /** Each mutant has class loaders of its own, so what one leaves in a static field does not reach the next one of the same process. */
    @Test
    void mutantsOfOneProcessShareNoStaticField() throws Exception {
        String spoil = "if (Integer.getInteger(\"t.spoiled\", 0) == 0) { System.setProperty(\"t.spoiled\", \"1\"); }";
        Mutant first = new Mutant("m", "A1", "Guarded.java", GUARD, "", new Killer.Tests(List.of("t.GuardedTest#odd")));
        Mutant second = new Mutant("n", "A1", "Guarded.java", GUARD, spoil + GUARD,
                new Killer.Tests(List.of("t.GuardedTest#odd", "t.GuardedTest#four")));
        try (MutationRunner runner = new MutationRunner(setup(60))) {
            assertEquals(Verdict.KILLED, runner.examine(first).verdict());
            assertEquals(Verdict.SURVIVED, runner.examine(second).verdict(), "the classes of the first mutant are gone");
            assertEquals(Verdict.KILLED, runner.examine(first).verdict());
        }
    }
}
