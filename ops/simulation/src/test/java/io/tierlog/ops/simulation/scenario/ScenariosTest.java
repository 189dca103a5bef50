/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every case that is kept as a scenario, in every mode. */
@Tag("slow")
@Execution(ExecutionMode.SAME_THREAD)
class ScenariosTest {
    private static final Path KEPT = Path.of("scenarios");

    private static List<Path> kept() throws IOException {
        try (Stream<Path> files = Files.list(KEPT)) {
            return files.filter(file -> file.toString().endsWith(".jsonl")).sorted().toList();
        }
    }

    private static List<String> run(Path file, Mode mode) throws IOException {
        List<String> lines = new ArrayList<>();
        Scenario.run(file, mode, line -> lines.add(line.toString()));
        return lines;
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void everyOneHolds(Mode mode) throws IOException {
        List<String> failed = new ArrayList<>();
        for (Path file : kept()) {
            List<String> lines = run(file, mode);
            if (!lines.getLast().startsWith("{\"result\":\"passed\"")) {
                failed.add("ops/tierlog scenario run --mode " + mode.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-')
                        + " ops/simulation/scenarios/" + file.getFileName() + ": " + lines);
            }
        }
        assertEquals(List.of(), failed);
    }

    /** Each file with everything shown after every step. */
    @ParameterizedTest
    @EnumSource(Mode.class)
    void theSameFileGivesTheSameOutput(Mode mode, @TempDir Path directory) throws IOException {
        for (Path file : kept()) {
            List<String> lines = Files.readAllLines(file);
            if (lines.size() > 100) {
                continue; // a hundred rounds of the same
            }
            List<String> shown = new ArrayList<>(List.of(lines.getFirst()));
            for (String line : lines.subList(1, lines.size())) {
                shown.add(line);
                boolean prepares = line.contains("\"do\":\"put\"") || line.contains("\"do\":\"gate\"");
                if (!prepares) {
                    shown.add("{\"show\":[\"" + String.join("\",\"", ScenarioFile.SHOWN) + "\"]}");
                }
            }
            Path copy = Files.write(directory.resolve("shown.jsonl"), shown);
            List<String> once = run(copy, mode);
            assertTrue(once.size() > 1, file::toString);
            assertEquals(once, run(copy, mode), file::toString);
        }
    }

    /** Each case of the list is a file here, or a test that the list names and that is there. */
    @Test
    void theListOfCasesIsComplete() throws IOException {
        List<String> listed = Files.readAllLines(KEPT.resolve("cases.md")).stream().filter(line -> line.startsWith("| ")).toList();
        for (Path file : kept()) {
            String name = String.valueOf(file.getFileName()).replace(".jsonl", "");
            assertTrue(listed.stream().anyMatch(line -> line.contains("`" + name + "`")), () -> name + " is not in cases.md");
        }
        for (String name : everyCase()) {
            assertTrue(listed.stream().anyMatch(line -> line.startsWith("| " + name + " ")), () -> name + " has no row in cases.md");
        }
        Map<String, Path> tests = tests();
        for (String line : listed) {
            for (String word : line.split("`", -1)) {
                if (word.matches("([ABCS][0-9]{2}[a-h]?|M|P|R)-.+")) {
                    assertTrue(Files.exists(KEPT.resolve(word + ".jsonl")), () -> word + " is listed and not there");
                } else if (word.matches("[A-Z][A-Za-z]+Test[.#].*|[A-Z][A-Za-z]+Test")) {
                    assertTrue(testExists(tests, word), () -> word + " is listed and not there");
                }
            }
        }
    }

    private static List<String> everyCase() {
        List<String> all = new ArrayList<>();
        Map.of("A", 8, "B", 14, "C", 16).forEach((letter, last) -> {
            for (int number = 1; number <= last; number++) {
                all.add(letter + number);
            }
        });
        return all;
    }

    private static boolean testExists(Map<String, Path> tests, String word) {
        String[] parts = word.split("[.#]", -1);
        Path found = tests.get(parts[0] + ".java");
        try {
            return found != null && (parts.length == 1 || Files.readString(found).contains("void " + parts[1] + "("));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The test sources of the project by their names. */
    private static Map<String, Path> tests() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("../.."), 14)) {
            return files.filter(file -> file.toString().contains("src/test") && file.toString().endsWith(".java"))
                    .collect(Collectors.toMap(file -> file.getFileName().toString(), file -> file, (first, second) -> first));
        }
    }
}
