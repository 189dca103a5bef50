/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each fault of the table in docs/operate.md is injected by a test, for each process that does something about it. {@code faults.tsv} names the
 * tests, and what each of them asserts: what {@code /health} shows, a metric, a line of the log, or the end of the process. The tests are in other
 * modules, so their names are looked for in the sources. Trade-off: what a test asserts is judged by its reader, and not by this class.
 */
class FaultTableTest {
    private static final String SECTION = "## Faults, and what each process does";
    private static final Set<String> SHOWN = Set.of("health", "metric", "line", "exit");

    /** A process and what it does about a fault. */
    private record Cell(String fault, String process) {}

    /**
     * A line of the file.
     *
     * @param test {@code Class#method}
     * @param shown what the test asserts, of {@link #SHOWN}; empty when it injects the fault and another test asserts what names it
     * @param remark what the tests of this cell do not show, each as {@code kind: why}, and what else is to be known; may be empty
     */
    private record Entry(String fault, String process, String test, Set<String> shown, String remark) {
        Cell cell() {
            return new Cell(fault, process);
        }

        /** Whether the remark says why no test asserts this. */
        boolean excuses(String kind) {
            return Stream.of(remark.split("; ", -1)).anyMatch(part -> part.startsWith(kind + ": "));
        }
    }

    @Test
    void everyFaultHasItsTests() throws IOException {
        Map<Cell, String> table = table();
        List<Entry> entries = entries();
        assertTrue(table.size() > 40, table.size() + " cells");
        assertEquals(List.of(), findings(table, entries, testsOf(entries)));
    }

    @Test
    void whatDoesNotFitIsFound() throws IOException {
        Map<Cell, String> table = table();
        List<Entry> entries = entries();
        Map<String, Set<String>> tests = testsOf(entries);
        Entry first = entries.getFirst();
        Cell cell = first.cell();

        List<Entry> without = entries.stream().filter(entry -> !entry.cell().equals(cell)).toList();
        assertEquals(List.of("no test for " + cell), findings(table, without, tests));

        Entry old = new Entry("a fault of last year", "controller", first.test(), first.shown(), "");
        assertEquals(List.of("no such cell in docs/operate.md: " + old.cell()), findings(table, with(entries, old), tests));

        Entry renamed = new Entry(first.fault(), first.process(), first.test() + "Renamed", first.shown(), "");
        assertEquals(List.of("no such test in the sources: " + renamed.test()), findings(table, with(entries, renamed), tests));

        Entry half = new Entry(first.fault(), first.process(), first.test(), Set.of("metric"), "");
        assertEquals(List.of("no test shows health, line, and remarks name : " + cell), findings(table, with(without, half), tests));
        Entry other = new Entry(first.fault(), first.process(), first.test(), Set.of("metric"), "health: of another class; the line is not");
        assertEquals(List.of("no test shows health, line, and remarks name health: " + cell), findings(table, with(without, other), tests));
        Entry needless = new Entry(first.fault(), first.process(), first.test(), Set.of("health", "metric", "line"), "line: it is there");
        assertEquals(List.of("no test shows , and remarks name line: " + cell), findings(table, with(without, needless), tests));
    }

    private static List<Entry> with(List<Entry> entries, Entry one) {
        return Stream.concat(entries.stream(), Stream.of(one)).toList();
    }

    /** Cells of the table that are not empty, and their text. */
    private static Map<Cell, String> table() {
        List<String> lines = Document.read(Document.ROOT.resolve("docs/operate.md")).lines();
        List<List<String>> rows = lines.stream()
                .skip(lines.indexOf(SECTION) + 1)
                .takeWhile(line -> !line.startsWith("## "))
                .filter(line -> line.startsWith("| "))
                .map(line -> Stream.of(line.substring(1).split("\\|", -1)).map(String::strip).toList())
                .toList();
        List<String> processes = rows.getFirst();
        Map<Cell, String> cells = new LinkedHashMap<>();
        for (List<String> row : rows.subList(1, rows.size())) {
            for (int i = 1; i < processes.size(); i++) {
                if (!processes.get(i).isEmpty() && !row.get(i).isEmpty()) {
                    cells.put(new Cell(row.getFirst(), processes.get(i)), row.get(i));
                }
            }
        }
        return cells;
    }

    private static List<Entry> entries() throws IOException {
        try (var file = Objects.requireNonNull(FaultTableTest.class.getResourceAsStream("/faults.tsv"))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("\t", -1))
                    .map(columns -> new Entry(columns[0], columns[1], columns[2], words(columns[3]), columns[4]))
                    .toList();
        }
    }

    private static Set<String> words(String column) {
        return column.isEmpty() ? Set.of() : new TreeSet<>(List.of(column.split(" ", -1)));
    }

    private static List<String> findings(Map<Cell, String> table, List<Entry> entries, Map<String, Set<String>> tests) {
        List<String> findings = new ArrayList<>();
        Map<Cell, List<Entry>> covered = new LinkedHashMap<>();
        table.keySet().forEach(cell -> covered.put(cell, new ArrayList<>()));
        for (Entry entry : entries) {
            List<Entry> of = covered.get(entry.cell());
            if (of == null) {
                findings.add("no such cell in docs/operate.md: " + entry.cell());
            } else {
                of.add(entry);
            }
            String[] test = entry.test().split("#", -1);
            if (test.length != 2 || !tests.getOrDefault(test[0], Set.of()).contains(test[1])) {
                findings.add("no such test in the sources: " + entry.test());
            }
            if (!SHOWN.containsAll(entry.shown())) {
                findings.add("unknown words in " + entry);
            }
        }
        covered.forEach((cell, of) -> {
            Set<String> missing = new LinkedHashSet<>(required(table.getOrDefault(cell, "")));
            of.forEach(entry -> missing.removeAll(entry.shown()));
            Set<String> excused = new LinkedHashSet<>();
            SHOWN.stream().filter(kind -> of.stream().anyMatch(entry -> entry.excuses(kind))).forEach(excused::add);
            if (of.isEmpty()) {
                findings.add("no test for " + cell);
            } else if (!excused.equals(missing)) {
                findings.add("no test shows " + String.join(", ", missing) + ", and remarks name " + String.join(", ", excused) + ": " + cell);
            }
        });
        return findings;
    }

    /** A process that ends has no page any more: its exit code and its last line name the fault. */
    private static List<String> required(String cell) {
        return cell.startsWith("ends") ? List.of("exit", "line") : List.of("health", "metric", "line");
    }

    /** The test methods by the simple name of their class, of the classes that the entries name. */
    private static Map<String, Set<String>> testsOf(List<Entry> entries) throws IOException {
        Map<String, List<String>> wanted = new TreeMap<>();
        entries.stream().map(entry -> entry.test().split("#", 2)).forEach(test ->
                wanted.computeIfAbsent(test[0], _ -> new ArrayList<>()).add(test[test.length - 1]));
        Map<String, Set<String>> found = new TreeMap<>();
        Document.eachFileOfTheTree(file -> {
            String type = String.valueOf(file.getFileName()).replaceFirst("\\.java$", "");
            List<String> methods = file.toString().contains("src") && file.toString().endsWith(".java") ? wanted.get(type) : null;
            if (methods != null) {
                String source = Files.readString(file);
                methods.stream().filter(method -> source.contains(" void " + method + "("))
                        .forEach(method -> found.computeIfAbsent(type, _ -> new TreeSet<>()).add(method));
            }
        });
        return found;
    }
}
