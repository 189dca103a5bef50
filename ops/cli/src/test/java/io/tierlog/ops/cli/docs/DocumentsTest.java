/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** README.md, ARCHITECTURE.md and docs: how long they are, what they link to, and that the names in them exist. */
class DocumentsTest {
    private static final Pattern SOURCE = Pattern.compile(".*\\.(java|avdl|proto|json|yaml|xml|py|c|vm)|.*/ops/[\\w-]+|.*/ops/mutants/run");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern PATH = Pattern.compile("(schemas|events|controller|node-agent|ops|docs)/[\\w./-]+");

    /** A type of Java or of a schema, with two capitals at least, or a metric. */
    private static final Pattern NAME = Pattern.compile("[A-Z]\\w*[a-z]\\w*[A-Z]\\w*|tierlog_\\w+");

    private final List<Document> documents = readAll();

    private static List<Document> readAll() {
        try {
            return Document.all();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void theyKeepTheirLength() {
        assertLength(document("README.md"), 150, 150, 150);
        assertLength(document("ARCHITECTURE.md"), 350, 120, 120);
        documents.stream().filter(document -> document.path().startsWith("docs/")).forEach(document -> assertLength(document, 280, 150, 250));
    }

    private static void assertLength(Document document, int lines, int columns, int tableColumns) {
        assertTrue(document.lines().size() <= lines, () -> document.path() + " has " + document.lines().size() + " lines of at most " + lines);
        List<String> wide = document.lines().stream().filter(line -> line.length() > (line.startsWith("| ") ? tableColumns : columns)).toList();
        assertEquals(List.of(), wide, () -> document.path() + " has lines of more than " + columns + " columns");
    }

    @Test
    void theGlossaryHasAtMostFortyTerms() {
        String text = document("ARCHITECTURE.md").prose();
        String section = text.substring(text.indexOf("## Glossary"));
        section = section.substring(0, section.indexOf("\n## "));
        long terms = section.lines().filter(line -> line.startsWith("| ") && !line.startsWith("| term")).count();
        assertTrue(terms >= 20 && terms <= 40, () -> terms + " terms");
    }

    @Test
    void everyLinkLeadsToAFileOrAHeading() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Document document : documents) {
            for (String link : document.links()) {
                if (!link.startsWith("https://") && !link.startsWith("http://") && !leadsSomewhere(document, link)) {
                    broken.add(document.path() + ": " + link);
                }
            }
        }
        assertEquals(List.of(), broken);
    }

    private static boolean leadsSomewhere(Document from, String link) throws IOException {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path source = Document.ROOT.resolve(from.path());
        Path target = file.isEmpty() ? source : source.resolveSibling(file).normalize();
        if (!target.startsWith(Document.ROOT) || !Files.exists(target)) {
            return false;
        }
        // Anchors of lines move with every edit: only headings may be named.
        return hash < 0 || Files.readAllLines(target).stream()
                .filter(line -> line.startsWith("#"))
                .anyMatch(line -> slug(line).equals(link.substring(hash + 1)));
    }

    private static String slug(String heading) {
        return heading.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
    }

    @Test
    void everyPageIsLinkedFromTheReadmeOrTheArchitecture() {
        Set<String> linked = new TreeSet<>(document("README.md").links());
        linked.addAll(document("ARCHITECTURE.md").links());
        // The decisions have a page of their own that lists them.
        document("docs/decisions/README.md").links().forEach(link -> linked.add("docs/decisions/" + link));
        List<String> lost = documents.stream()
                .map(Document::path)
                .filter(path -> path.startsWith("docs/") && !linked.contains(path))
                .toList();
        assertEquals(List.of(), lost);
    }

    @Test
    void everyDecisionHasItsThreeParts() {
        for (Document document : documents) {
            if (document.path().matches("docs/decisions/\\d{4}-.*")) {
                List<String> parts = document.lines().stream().filter(line -> line.startsWith("## ")).toList();
                assertEquals(List.of("## Context", "## Decision", "## Trade-off"), parts, document.path());
                assertTrue(document.lines().size() <= 60, document.path());
            }
        }
    }

    /** So that a renamed type, file or metric shows here and not to a reader. */
    @Test
    void everyNameIsOfTheSourceTree() throws IOException {
        Set<String> words = wordsOfTheSource();
        List<String> unknown = new ArrayList<>();
        for (Document document : documents) {
            for (String span : document.spans()) {
                String first = span.split("[#.(: ]", 2)[0];
                // MonitoringFilesTest compares the page of metrics with the code, which makes some names of constants.
                if (NAME.matcher(first).matches() && !words.contains(first) && !document.path().equals("docs/metrics.md")) {
                    unknown.add(document.path() + ": " + span);
                }
                if (PATH.matcher(span).matches() && !Files.exists(Document.ROOT.resolve(span))) {
                    unknown.add(document.path() + ": no file " + span);
                }
            }
        }
        assertEquals(List.of(), unknown);
    }

    private static Set<String> wordsOfTheSource() throws IOException {
        Set<String> words = new TreeSet<>();
        Document.eachFileOfTheTree(file -> {
            if (SOURCE.matcher(file.toString().replace('\\', '/')).matches()) {
                WORD.matcher(Files.readString(file)).results().forEach(found -> words.add(found.group()));
            }
        });
        return words;
    }

    private Document document(String path) {
        return documents.stream().filter(document -> document.path().equals(path)).findFirst().orElseThrow();
    }
}
