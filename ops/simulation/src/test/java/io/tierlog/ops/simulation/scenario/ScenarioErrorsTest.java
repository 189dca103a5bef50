/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.simulation.ScenarioCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Errors of a file, or of its expectations, are reported with their line. */
class ScenarioErrorsTest {
    private static final String WORLD = "{\"world\":{}}";
    private static final String SUBMIT = "{\"do\":\"submit\",\"request\":\"r1\",\"tokens\":[1,2,3,4,5]}";
    private static final String SETTLE = "{\"do\":\"settle\"}";

    @TempDir
    private Path directory;

    private record Run(int exit, String out, String err) {}

    private Run run(List<String> lines, String... options) throws IOException {
        Path file = directory.resolve("case.jsonl");
        Files.write(file, lines);
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = new CommandLine(new ScenarioCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        List<String> arguments = new java.util.ArrayList<>(List.of("run"));
        arguments.addAll(List.of(options));
        arguments.add(file.toString());
        return new Run(command.execute(arguments.toArray(String[]::new)), out.toString(), err.toString());
    }

    @Test
    void whatHoldsPasses() throws IOException {
        Run run = run(List.of(WORLD, SUBMIT, SETTLE, "{\"expect\":{\"requests\":{\"r1\":{\"state\":\"PREFILLING\"}}}}"));
        assertEquals("{\"result\":\"passed\",\"steps\":3,\"invariants\":\"ok\",\"wrong_content\":0}\n", run.out());
        assertEquals(0, run.exit());
    }

    @Test
    void aWrongExpectationExitsWith1AndTheDifference() throws IOException {
        Run run = run(List.of(WORLD, SUBMIT, SETTLE, "{\"expect\":{\"free\":{\"a\":{\"HOST\":30}},\"pins\":{\"min\":1,\"max\":2}}}"));
        assertEquals(1, run.exit());
        assertEquals("{\"line\":4,\"differences\":[{\"path\":\"free.a.HOST\",\"expected\":30,\"actual\":31},"
                + "{\"path\":\"pins\",\"expected\":{\"min\":1,\"max\":2},\"actual\":0}]}", run.out().lines().findFirst().orElse(""));
        assertTrue(run.out().contains("\"result\":\"failed\""), run.out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "{\"do\":\"submit\"                                              | this is no JSON",
        "[1]                                                             | is no JSON object",
        "{\"do\":\"dance\"}                                              | which is not a step",
        "{\"do\":\"settle\",\"fast\":true}                               | unknown fields [fast]",
        "{\"do\":\"finish\",\"request\":\"r9\"}                            | which no line before has submitted",
        "{\"do\":\"submit\",\"request\":\"r2\",\"tokens\":[1],\"node\":\"z\"}  | the world has [a]",
        "{\"do\":\"submit\",\"request\":\"r2\"}                            | wants \"tokens\"",
        "{\"do\":\"submit\",\"request\":\"r2\",\"tokens\":[1.5]}           | wants whole numbers",
        "{\"do\":\"advance\"}                                            | wants \"ms\"",
        "{\"do\":\"advance\",\"ms\":-1}                                  | from 0 to",
        "{\"do\":\"gate\",\"kind\":\"MOVE\"}                               | wants one of",
        "{\"do\":\"pause\",\"node\":\"z\"}                               | the world has [a]",
        "{\"do\":\"clock\",\"of\":\"moon\"}                               | wants \"ticks\", \"agents\" or \"node\"",
        "{\"do\":\"store\",\"slow\":5}                                  | unknown fields [slow]",
        "{\"do\":\"forge\",\"node\":\"a\"}                               | in \"kind\"",
        "{\"do\":\"complete\",\"kind\":\"COPY\",\"moves\":\"LATER\"}     | goes with \"fail\":\"UNKNOWN\"",
        "{\"do\":\"reserve\",\"tokens\":[1,2],\"blocks\":2}            | from 1 to 1",
        "{\"do\":\"save\",\"request\":\"r9\"}                            | which no line before has submitted",
        "{\"do\":\"put\",\"tier\":\"HOST\",\"tokens\":[1,2],\"indexes\":[1]}  | that has 1 whole blocks",
        "{\"do\":\"put\",\"tier\":\"DISK\",\"tokens\":[1,2]}               | has no disk",
        "{\"do\":\"put\",\"tier\":\"STORE\",\"node\":\"a\",\"tokens\":[1,2]} | the STORE has none",
        "{\"show\":[\"nothing\"]}                                        | cannot show",
        "{\"expect\":{\"weather\":1}}                                    | unknown fields [weather]",
        "{\"expect\":{\"absent\":[{\"tokens\":[1,2],\"tier\":\"HOTS\"}]}}       | wants one of",
        "{\"expect\":{\"absent\":[{\"tokens\":[1,2],\"index\":1,\"tier\":\"HOST\"}]}} | that has 1 whole blocks",
        "{\"expect\":{\"absent\":[{\"tier\":\"HOST\"}]}}                    | wants \"tokens\" or \"name\"",
        "{\"expect\":{\"requests\":[]}}                                  | wants an object",
        "{\"do\":\"cancel_migration\",\"id\":\"m1\"}                      | which no line before has asked for",
        "{\"do\":\"migrate\",\"id\":\"m1\",\"names\":[\"1\"],\"how\":\"fast\"} | unknown fields [how]",
        "{\"do\":\"migrate\",\"names\":[\"1\"]}                            | wants \"id\"",
        "{\"do\":\"migrate\",\"id\":\"m1\",\"sample\":{\"size\":1}}        | the sample has unknown fields [size]",
        "{\"do\":\"migrate\",\"id\":\"m1\",\"target\":\"TAPE\"}             | wants one of",
        "{\"do\":\"drain\",\"node\":\"z\"}                               | the world has [a]",
        "{\"expect\":{\"marks\":{}}}                                  | wants a list",
        "{\"expect\":{\"marks\":[{\"target\":\"DISK\"}]}}               | wants \"tokens\" or \"name\"",
        "{}                                                              | wants \"do\"",
        "{\"do\":\"settle\",\"do\":\"settle\"}                             | this is no JSON"})
    void aWrongLineIsNamed(String line, String reason) throws IOException {
        Run run = run(List.of(WORLD, SUBMIT, line));
        assertEquals(2, run.exit(), run::out);
        assertTrue(run.err().contains("case.jsonl:3: "), run::err);
        assertTrue(run.err().contains(reason), run::err);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "{\"worlds\":{}}                                      | wants \"world\"",
        "{\"world\":{\"size\":3}}                             | unknown fields [size]",
        "{\"world\":{\"block_tokens\":0}}                     | from 1 to",
        "{\"world\":{\"nodes\":[{\"id\":\"a\"},{\"id\":\"a\"}]}}  | two nodes a",
        "{\"world\":{\"nodes\":[{\"id\":\"a b\"}]}}             | has an id of",
        "{\"world\":{\"replicated\":true}}                    | takes 2 ranks or more",
        "{\"world\":{\"nodes\":[]}}                           | at least one node",
        "{\"world\":{\"policy\":{\"reclaim\":{\"host\":{\"low\":0.5}}}}} | reclaim.host.high: must be from",
        "{\"world\":{\"policy\":{\"reclaim\":{\"host\":{\"high\":2}}}}}  | reclaim.host.high: must be from",
        "{\"world\":{\"policy\":{\"host_high_mark\":0.9}}}    | host_high_mark: is unknown; known here are",
        "{\"world\":{\"policy\":7}}                        | the policy: must be a mapping of fields, not 7",
        "{\"world\":{\"policy\":{\"lease\":1,\"back_up\":1}}} | lease: must be a time such as 30s, with ms, s, m or h, not 1; back_up: must be",
        "{\"world\":{\"commit\":\"never\"}}                   | wants one of"})
    void aWrongWorldIsNamed(String line, String reason) throws IOException {
        Run run = run(List.of(line, SUBMIT));
        assertEquals(2, run.exit(), run::out);
        assertTrue(run.err().contains("case.jsonl:1: ") && run.err().contains(reason), run::err);
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        StringWriter err = new StringWriter();
        CommandLine command = new CommandLine(new ScenarioCommand()).setErr(new PrintWriter(err));
        assertEquals(2, command.execute("run", directory.resolve("none.jsonl").toString()));
        assertTrue(err.toString().contains("none.jsonl is not there"), err::toString);
    }

    @Test
    void anUnknownModeIsAnErrorThatNamesThem() throws IOException {
        Run run = run(List.of(WORLD), "--mode", "twice");
        assertEquals(2, run.exit());
        assertTrue(run.err().contains("[straight, replay, duplicates, restart-everywhere]"), run::err);
    }

    /** Marks are compared as a whole, and facts in their order. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "{\"marks\":[{\"name\":\"1\"}]}                          | true",
        "{\"marks\":[]}                                        | false",
        "{\"marks\":[{\"name\":\"2\"}]}                          | false",
        "{\"marks\":[{\"name\":\"1\",\"target\":\"STORE\"}]}         | false",
        "{\"log\":[\"MigrationOpened\",\"MarkAdded\"]}           | true",
        "{\"log\":[\"MarkAdded\",\"MigrationOpened\"]}           | false",
        "{\"migrations\":{\"k1\":{\"method\":\"MARK\",\"marked\":1}}} | true",
        "{\"migrations\":{\"k1\":{\"copied\":1}}}                | false",
        "{\"counters\":{\"controller\":{\"MARKS_ADDED\":1}}}     | true",
        "{\"counters\":{\"controller\":{\"MARKS_ADDED\":2}}}     | false"})
    void whatComesOfMigrationIsCompared(String expected, boolean holds) throws IOException {
        String groups = "\"groups\":[{\"name\":\"g\",\"namespaces\":[\"*\"],\"routes\":[{\"source\":\"host\",\"target\":\"disk\","
                + "\"threshold\":0.9,\"methods\":[\"mark\"]}]}]";
        Run run = run(List.of(
                "{\"world\":{\"nodes\":[{\"id\":\"a\",\"disk_blocks\":4}],\"policy\":{" + groups + "}}}",
                "{\"do\":\"put\",\"tier\":\"HOST\",\"name\":\"1\"}",
                "{\"do\":\"mark\",\"id\":\"k1\",\"name\":\"1\",\"target\":\"DISK\"}",
                SETTLE, "{\"do\":\"commit\"}", SETTLE, "{\"do\":\"commit\"}", SETTLE, "{\"expect\":" + expected + "}"));
        assertEquals(holds ? 0 : 1, run.exit(), () -> run.out() + run.err());
    }

    /** 600 blocks go through as many device pages as it takes; a write-back that stands still does not hold them up. */
    @Test
    void blocksArePutWhateverStandsStill() throws IOException {
        StringBuilder tokens = new StringBuilder("0");
        for (int i = 1; i < 1_200; i++) {
            tokens.append(',').append(i);
        }
        Run run = run(List.of(
                "{\"world\":{\"nodes\":[{\"id\":\"a\",\"host_blocks\":700,\"disk_blocks\":4}]}}",
                "{\"do\":\"gate\",\"kind\":\"WRITE_BACK\"}",
                "{\"do\":\"put\",\"tier\":\"HOST\",\"tokens\":[" + tokens + "]}",
                "{\"do\":\"put\",\"tier\":\"DISK\",\"name\":\"x\"}",
                SUBMIT, SETTLE, "{\"do\":\"finish\",\"request\":\"r1\"}", SETTLE,
                "{\"do\":\"put\",\"tier\":\"HOST\",\"tokens\":[7,7]}",
                "{\"expect\":{\"free\":{\"a\":{\"HOST\":97}},\"placements\":[{\"name\":\"x\",\"tier\":\"DISK\",\"state\":\"SERVING\"}]}}"));
        assertEquals(0, run.exit(), () -> run.out() + run.err());
    }

    @Test
    void completingWhatDoesNotStandStillFails() throws IOException {
        Run run = run(List.of(WORLD, "{\"do\":\"complete\",\"kind\":\"PREFETCH\"}"));
        assertEquals(1, run.exit());
        assertTrue(run.out().contains("no PREFETCH stands still"), run::out);
    }
}
