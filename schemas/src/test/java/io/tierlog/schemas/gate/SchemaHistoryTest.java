/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gate itself: what it lets through, and what it stops, on a schema of four fields. */
class SchemaHistoryTest {
    private static final String FIRST = "{'name':'first','type':'int','doc':'A number.'}";
    private static final String OPTIONAL = "{'name':'optional','type':['null','string'],'default':null}";
    private static final String COLOUR = "{'name':'colour','type':{'type':'enum','name':'Colour','symbols':['UNKNOWN','RED'],'default':'UNKNOWN'}}";
    private static final String INNER = "{'name':'inner','type':{'type':'record','name':'Inner','fields':[{'name':'x','type':'long'}]}}";

    @TempDir
    private Path directory;

    private SchemaHistory history;

    @BeforeEach
    void recordFirstVersion() {
        history = new SchemaHistory(directory);
        assertEquals(1, history.record(List.of(fact(FIRST, OPTIONAL, COLOUR, INNER))).size());
    }

    private static Schema record(String name, String... fields) {
        String json = "{'type':'record','name':'" + name + "','namespace':'t','fields':[" + String.join(",", fields) + "]}";
        return new Schema.Parser().parse(json.replace('\'', '"'));
    }

    private static Schema fact(String... fields) {
        return record("Fact", fields);
    }

    @Test
    void anUnchangedSchemaPassesAndNothingIsWritten() {
        Schema same = fact(FIRST, OPTIONAL, COLOUR, INNER);
        assertEquals(List.of(), history.problems(List.of(same)));
        assertEquals(List.of(), history.record(List.of(same)));
    }

    @Test
    void aDocChangesNothing() {
        assertEquals(List.of(), history.problems(List.of(fact(FIRST.replace("A number.", "Another doc."), OPTIONAL, COLOUR, INNER))));
    }

    @Test
    void compatibleChangesWaitForTheirVersionAndThenPass() {
        Schema field = fact(FIRST, OPTIONAL, COLOUR, INNER, "{'name':'added','type':'long','default':5}");
        Schema symbol = fact(FIRST, OPTIONAL, COLOUR.replace("'RED'", "'RED','BLUE'"), INNER, "{'name':'added','type':'long','default':5}");
        Schema fewer = fact(FIRST, COLOUR.replace("'RED'", "'RED','BLUE'"), INNER, "{'name':'added','type':'long','default':5}");
        Schema other = record("Other", FIRST);
        int versions = 1;
        for (Schema change : List.of(field, symbol, fewer)) {
            List<String> problems = history.problems(List.of(change));
            assertEquals(1, problems.size());
            assertTrue(problems.getFirst().contains(SchemaHistory.COMMAND), problems::toString);
            assertEquals(List.of(directory.resolve("t.Fact").resolve(++versions + ".avsc")), history.record(List.of(change)));
            assertEquals(List.of(), history.problems(List.of(change)));
            assertEquals(versions, history.versions("t.Fact").size());
        }
        assertEquals(List.of(directory.resolve("t.Other").resolve("1.avsc")), history.record(List.of(fewer, other)));
        assertEquals(List.of(), history.problems(List.of(fewer, other)));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            field without default added | today's code cannot read t.Fact version 1: READER_FIELD_MISSING_DEFAULT_VALUE
            field without default gone  | the code of t.Fact version 1 cannot read today's: READER_FIELD_MISSING_DEFAULT_VALUE
            field renamed               | today's code cannot read t.Fact version 1: READER_FIELD_MISSING_DEFAULT_VALUE
            int became long             | the code of t.Fact version 1 cannot read today's: TYPE_MISMATCH
            int became string           | today's code cannot read t.Fact version 1: TYPE_MISMATCH
            null no longer allowed      | today's code cannot read t.Fact version 1: TYPE_MISMATCH
            inner type renamed          | today's code cannot read t.Fact version 1: NAME_MISMATCH
            symbol gone                 | t.Fact version 1 has the symbol t.Colour.RED
            type renamed                | t.Fact has a history but is gone or renamed
            """)
    void incompatibleChangesFailAndCannotBeRecorded(String change, String expected) throws IOException {
        Schema changed = switch (change) {
            case "field without default added" -> fact(FIRST, OPTIONAL, COLOUR, INNER, "{'name':'added','type':'long'}");
            case "field without default gone" -> fact(OPTIONAL, COLOUR, INNER);
            case "field renamed" -> fact(FIRST.replace("'first'", "'premier'"), OPTIONAL, COLOUR, INNER);
            case "int became long" -> fact(FIRST.replace("'int'", "'long'"), OPTIONAL, COLOUR, INNER);
            case "int became string" -> fact(FIRST.replace("'int'", "'string'"), OPTIONAL, COLOUR, INNER);
            case "null no longer allowed" -> fact(FIRST, "{'name':'optional','type':'string','default':''}", COLOUR, INNER);
            case "inner type renamed" -> fact(FIRST, OPTIONAL, COLOUR, INNER.replace("'Inner'", "'Outer'"));
            case "symbol gone" -> fact(FIRST, OPTIONAL, COLOUR.replace(",'RED'", ""), INNER);
            case "type renamed" -> record("Renamed", FIRST, OPTIONAL, COLOUR, INNER);
            default -> throw new IllegalArgumentException(change);
        };
        List<String> problems = history.problems(List.of(changed));
        assertTrue(problems.stream().anyMatch(problem -> problem.startsWith(expected)), problems::toString);
        String before = tree();
        assertThrows(IllegalStateException.class, () -> history.record(List.of(changed)));
        assertEquals(before, tree());
    }

    @Test
    void everyVersionCountsAndNotOnlyTheLast() {
        // Version 2 drops a field that had a default; bringing it back as another type suits version 2, but not version 1.
        Schema second = fact(FIRST, COLOUR, INNER);
        history.record(List.of(second));
        Schema third = fact(FIRST, COLOUR, INNER, "{'name':'optional','type':'int','default':0}");
        List<String> problems = history.problems(List.of(third));
        assertTrue(problems.stream().anyMatch(problem -> problem.startsWith("today's code cannot read t.Fact version 1")), problems::toString);
        assertTrue(problems.stream().noneMatch(problem -> problem.contains("version 2")), problems::toString);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            altered | t.Fact/1.avsc was altered
            gap     | t.Fact/1.avsc is gone
            added   | t.Fact/2.avsc was not written by
            deleted | t.Fact/1.avsc is gone
            """)
    void filesTouchedByHandFail(String touch, String expected) throws IOException {
        Path first = directory.resolve("t.Fact/1.avsc");
        switch (touch) {
            case "altered" -> Files.writeString(first, Files.readString(first).replace("\"int\"", "\"long\""));
            case "gap" -> Files.move(first, first.resolveSibling("2.avsc"));
            case "added" -> Files.copy(first, first.resolveSibling("2.avsc"));
            case "deleted" -> Files.delete(first);
            default -> throw new IllegalArgumentException(touch);
        }
        List<Schema> current = List.of(fact(FIRST, OPTIONAL, COLOUR, INNER));
        List<String> problems = history.problems(current);
        assertTrue(problems.stream().anyMatch(problem -> problem.startsWith(expected)), problems::toString);
        assertThrows(IllegalStateException.class, () -> history.record(current));
    }

    private String tree() throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                text.append(directory.relativize(file)).append('\n').append(Files.readString(file));
            }
        }
        return text.toString();
    }
}
