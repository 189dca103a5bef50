/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.mutants.Mutant.Killer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MutantListTest {
    private static final String GOOD = """
            # A comment.

            mutant one
            guards A1
            file a/B.java
            killer x.YTest#z, x.YTest#zz
            replace
                if (a) {
                    b();
            with
                if (true) {
                    b();
            end
            mutant two
            guards B2
            file a/C.java
            killer simulate --episodes 5 --seed 7
            replace
            guard();
            with
            end
            """;

    private static final Path ROOT = Path.of(System.getProperty("tierlog.root"));

    @Test
    void anEntryIsRead() {
        List<Mutant> mutants = MutantList.parse("list", GOOD);
        assertEquals(
                List.of(
                        new Mutant("one", "A1", "a/B.java", "if (a) {\n        b();", "if (true) {\n        b();",
                                new Killer.Tests(List.of("x.YTest#z", "x.YTest#zz"))),
                        new Mutant("two", "B2", "a/C.java", "guard();", "",
                                new Killer.Simulate(List.of("--episodes", "5", "--seed", "7")))),
                mutants);
    }

    @Test
    void aScenarioIsReadAsAKiller() {
        String text = GOOD.replace("killer simulate --episodes 5 --seed 7", "killer scenario a/scenarios/X.jsonl");
        assertEquals(new Killer.Scenario("a/scenarios/X.jsonl"), MutantList.parse("list", text).getLast().killer());
    }

    @ParameterizedTest(name = "{0} for {1}")
    @CsvSource({
        "guards A1, gurds A1, 'list:4: ''guards'' and its value are expected'",
        "killer x.YTest#z, killer x.YTest z, list:13: 'x.YTest z' is no CLASS#METHOD",
        "killer simulate --episodes 5 --seed 7, killer scenario a/X.md, 'list:21: ''a/X.md'' is no file of a scenario, *.jsonl'",
        "'    if (true) {', '    if (a) {', list:13: this changes nothing",
        "guard();, ' ', list:20: there is nothing to replace",
        "'with\nend\n', '', list:19: the list ends in the middle of an entry",
    })
    void errorsAreReportedWithTheirLine(String right, String wrong, String message) {
        String bad = GOOD.replace(right, wrong);
        assertEquals(message, assertThrows(MutantsException.class, () -> MutantList.parse("list", bad)).getMessage());
    }

    @Test
    void theTextStandsExactlyOnce() {
        Mutant mutant = MutantList.parse("list", GOOD).getLast();
        assertEquals(Optional.of("a();  c();"), mutant.apply("a(); guard(); c();"));
        assertEquals(Optional.empty(), mutant.apply("a();"));
        assertEquals(Optional.empty(), mutant.apply("guard(); guard();"));
    }

    /** An edit that no longer applies shows at once, without running anything. Every case that is guarded outside of the simulator has mutants. */
    @Test
    void theListsAreUpToDate() throws IOException {
        List<Mutant> mutants = MutantList.readAll(ROOT.resolve("ops/mutants"));
        List<String> stale = new ArrayList<>();
        for (Mutant mutant : mutants) {
            Path file = ROOT.resolve(mutant.file());
            if (!Files.isRegularFile(file) || mutant.apply(Files.readString(file)).isEmpty()) {
                stale.add(mutant.name() + ": its text does not stand exactly once in " + mutant.file());
            }
            if (mutant.killer() instanceof Killer.Scenario(String scenario) && !Files.isRegularFile(ROOT.resolve(scenario))) {
                stale.add(mutant.name() + ": there is no " + scenario);
            }
            assertTrue(MutantsMain.MODULES.stream().anyMatch(module -> mutant.file().startsWith(module + "/src/main/java/")),
                    () -> mutant.name() + " is of no module whose tests are run");
        }
        assertEquals(List.of(), stale);
        assertTrue(mutants.size() >= 40, () -> mutants.size() + " mutants");
        Set<String> cases = mutants.stream().map(mutant -> mutant.guards().replaceAll("[a-z]$", "")).collect(Collectors.toSet());
        for (String each : List.of("A1", "A2", "A3", "A4", "A6", "A7", "A8", "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "B11",
                "B12", "B13", "B14", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C13", "C14", "C15", "C16")) {
            assertTrue(cases.contains(each), () -> "no mutant guards " + each);
        }
    }
}
