/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.mutants.Mutant.Killer;
import io.tierlog.ops.mutants.Selection.Share;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectionTest {
    private static final List<Mutant> TEN = IntStream.range(0, 10).mapToObj(SelectionTest::mutant).toList();

    private static Mutant mutant(int number) {
        return new Mutant("m" + number, "A1", "a/src/main/java/a/F" + number + ".java", "x", "y",
                new Killer.Tests(List.of("a.b.T" + number + "Test#one", "a.b.S" + number + "Test$Inner#two")));
    }

    private static List<String> names(Set<String> changed, String share) {
        return Selection.of(TEN, changed, Share.of(share)).stream().map(Mutant::name).toList();
    }

    @Test
    void aChangedSourceOrTestTakesTheMutantFirst() {
        Set<String> changed = Set.of("a/src/main/java/a/F7.java", "a/src/test/java/a/b/T4Test.java", "z/src/test/java/a/b/S2Test.java", "docs/F1.md");
        assertEquals(List.of("m2", "m4", "m7", "m0", "m5"), names(changed, "0/5"));
    }

    @Test
    void aChangedScenarioTakesItsMutant() {
        Mutant mutant = new Mutant("m", "A1", "a/src/main/java/a/F.java", "x", "y", new Killer.Scenario("a/scenarios/X.jsonl"));
        assertTrue(Selection.hasChanged(mutant, Set.of("a/scenarios/X.jsonl")));
        assertFalse(Selection.hasChanged(mutant, Set.of("a/scenarios/Y.jsonl")));
    }

    @Test
    void theSharesTogetherAreAllAndTheTurnGoesOn() {
        Set<String> together = new HashSet<>();
        for (int turn = 12; turn < 15; turn++) {
            List<String> share = names(Set.of(), turn + "/3");
            assertTrue(share.size() <= 4 && together.addAll(share), share::toString);
        }
        assertEquals(10, together.size());
        assertEquals(Set.copyOf(names(Set.of(), "13/3")), Set.copyOf(names(Set.of(), "1/3")));
    }

    /** With a limit of time the end of a list is not run: it must not be the same each turn. */
    @Test
    void eachTurnBeginsElsewhere() {
        Set<String> first = new HashSet<>();
        for (int turn = 0; turn < 7; turn++) {
            first.add(names(Set.of(), turn + "/1").getFirst());
        }
        assertEquals(7, first.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "3/", "3/0", "-1/4", "a/b", "1/2/3"})
    void whatIsNoShareIsRefused(String text) {
        String message = assertThrows(MutantsException.class, () -> Share.of(text)).getMessage();
        assertEquals("'" + text + "' is no share: it must be TURN/SHARES, for example 7/4", message);
    }

    @Test
    void filesHaveChangedWhenCommittedSinceTheBranchOrNotCommittedYet(@TempDir Path root) throws Exception {
        git(root, "init", "-q", "-b", "trunk");
        commit(root, "old");
        git(root, "checkout", "-q", "-b", "branch");
        commit(root, "new");
        git(root, "checkout", "-q", "trunk");
        commit(root, "trunks");
        git(root, "checkout", "-q", "branch");
        assertEquals(Set.of("new"), ChangedFiles.since(root, "trunk"));

        Files.writeString(root.resolve("old"), "other");
        assertEquals(Set.of("new", "old"), ChangedFiles.since(root, "trunk"));
        assertEquals(Set.of("old"), ChangedFiles.since(root, "HEAD"));
        String absent = assertThrows(MutantsException.class, () -> ChangedFiles.since(root, "absent")).getMessage();
        assertTrue(absent.startsWith("git merge-base absent HEAD: "), absent);
    }

    private static void commit(Path root, String file) throws IOException, InterruptedException {
        Files.writeString(root.resolve(file), file);
        git(root, "add", file);
        git(root, "-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "-q", "-m", file);
    }

    private static void git(Path root, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(List.of("git", "-C", root.toString()))).redirectErrorStream(true);
        builder.command().addAll(List.of(arguments));
        Process git = builder.start();
        String output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, git.waitFor(), output);
    }
}
