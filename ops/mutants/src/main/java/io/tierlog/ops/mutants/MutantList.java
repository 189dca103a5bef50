/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import io.tierlog.ops.mutants.Mutant.Killer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Reads lists of mutants, *.mutants files of entries like this one. Lines between entries that are empty or begin with # are for people.
 *
 * <pre>
 * mutant  drop-of-a-pinned-page
 * guards  C6
 * file    node-agent/core/src/main/java/io/tierlog/agent/core/command/DropCommands.java
 * killer  io.tierlog.agent.core.LogCasesTest#c6ALateCopyOfARefusedDropIsNeverRun, io.tierlog.agent.core.RandomWalkTest#anyWalk
 * replace
 *         if (!page.pins().isEmpty() || !context.pages().isLeaf(page)) {
 * with
 *         if (!context.pages().isLeaf(page)) {
 * end
 * </pre>
 *
 * <p>The text to replace is what stands between the lines "replace" and "with", blanks at the beginning of its first and the end of its last
 * line left out; it may be a part of a line. A killer that begins with "simulate" has arguments for the simulator after it, one that begins with
 * "scenario" the file of a scenario, from the root.
 */
final class MutantList {
    private static final List<String> FIELDS = List.of("mutant", "guards", "file", "killer");

    private final String source;
    private final List<String> lines;
    private int at;

    private MutantList(String source, List<String> lines) {
        this.source = source;
        this.lines = lines;
    }

    /**
     * All mutants of the *.mutants files of a directory, by file name.
     *
     * @throws MutantsException when one cannot be read, or two have one name
     */
    static List<Mutant> readAll(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.filter(file -> file.toString().endsWith(".mutants")).sorted().toList();
        }
        Map<String, Mutant> mutants = new LinkedHashMap<>();
        for (Path file : files) {
            for (Mutant mutant : parse(String.valueOf(file.getFileName()), Files.readString(file))) {
                if (mutants.put(mutant.name(), mutant) != null) {
                    throw new MutantsException(file + ": there are two mutants of the name " + mutant.name());
                }
            }
        }
        return List.copyOf(mutants.values());
    }

    /**
     * The mutants of one list.
     *
     * @param source its name, for messages
     * @throws MutantsException when it is no such list
     */
    static List<Mutant> parse(String source, String text) {
        return new MutantList(source, text.lines().toList()).parse();
    }

    private List<Mutant> parse() {
        List<Mutant> mutants = new ArrayList<>();
        while (at < lines.size()) {
            String line = lines.get(at);
            if (line.isBlank() || line.startsWith("#")) {
                at++;
            } else {
                mutants.add(entry());
            }
        }
        return mutants;
    }

    private Mutant entry() {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String field : FIELDS) {
            String line = next();
            if (!line.startsWith(field + " ")) {
                throw wrong("'" + field + "' and its value are expected");
            }
            fields.put(field, line.substring(field.length()).strip());
        }
        if (!next().equals("replace")) {
            throw wrong("'replace' is expected");
        }
        String text = until("with");
        if (text.isEmpty()) {
            throw wrong("there is nothing to replace");
        }
        String replacement = until("end");
        if (replacement.equals(text)) {
            throw wrong("this changes nothing");
        }
        return new Mutant(value(fields, "mutant"), value(fields, "guards"), value(fields, "file"), text, replacement,
                killer(value(fields, "killer")));
    }

    private static String value(Map<String, String> fields, String field) {
        return fields.getOrDefault(field, "");
    }

    private Killer killer(String text) {
        if (text.equals("simulate") || text.startsWith("simulate ")) {
            return new Killer.Simulate(Arrays.stream(text.split("\\s+")).skip(1).toList());
        }
        if (text.startsWith("scenario ")) {
            String file = text.substring("scenario ".length()).strip();
            if (!file.matches("\\S+\\.jsonl")) {
                throw wrong("'" + file + "' is no file of a scenario, *.jsonl");
            }
            return new Killer.Scenario(file);
        }
        List<String> methods = Arrays.stream(text.split(",")).map(String::strip).toList();
        for (String method : methods) {
            if (!method.matches("[\\w.]+#\\w+")) {
                throw wrong("'" + method + "' is no CLASS#METHOD");
            }
        }
        return new Killer.Tests(methods);
    }

    private String until(String end) {
        List<String> body = new ArrayList<>();
        for (String line = next(); !line.equals(end); line = next()) {
            body.add(line);
        }
        return String.join("\n", body).strip();
    }

    private String next() {
        if (at == lines.size()) {
            throw wrong("the list ends in the middle of an entry");
        }
        return lines.get(at++);
    }

    private MutantsException wrong(String what) {
        return new MutantsException(source + ":" + at + ": " + what);
    }
}
