/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code tierlog whatif} as a user types it. */
class WhatIfCommandTest {
    @TempDir
    Path dir;

    private Path trace;

    /** Three prompts: 1 2 3, then 4, then 1 2 3 again. Seven accesses, four unique blocks: 75 % are 3 blocks, 100 % are 4. */
    @BeforeEach
    void writeTrace() throws Exception {
        trace = Files.write(dir.resolve("tiny.jsonl"), List.of(
                "{\"timestamp\": 0, \"input_length\": 1536, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}",
                "{\"timestamp\": 4000, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [4]}",
                "{\"timestamp\": 8000, \"input_length\": 1536, \"output_length\": 1, \"hash_ids\": [1, 2, 3]}"));
    }

    /** LRU drops 1 for 4, so 2 and 3 cannot be hit; the default drops 3 and hits 2 of 7; the optimum does not admit 4 and hits 3 of 7. */
    @Test
    void jsonHasOneRowForEachSizeAndPolicy() {
        Ran run = whatif("--trace", trace.toString(), "--one-tier", "75%,100%", "--policies", "lru,optimum,default", "--format", "json");

        assertEquals(0, run.exitCode(), run.err());
        assertEquals("{\"rows\":["
                + "{\"capacity\":0.75,\"policy\":\"lru\",\"hit_ratio\":0.0},{\"capacity\":0.75,\"policy\":\"optimum\",\"hit_ratio\":0.4286},"
                + "{\"capacity\":0.75,\"policy\":\"default\",\"hit_ratio\":0.2857},{\"capacity\":1.0,\"policy\":\"lru\",\"hit_ratio\":0.4286},"
                + "{\"capacity\":1.0,\"policy\":\"optimum\",\"hit_ratio\":0.4286},{\"capacity\":1.0,\"policy\":\"default\",\"hit_ratio\":0.4286}"
                + "]}\n", run.out());
    }

    @Test
    void theTableIsForPeople() {
        Ran run = whatif("--trace", trace.toString(), "--one-tier", "75%,100%", "--policies", "optimum,all");

        assertEquals(0, run.exitCode(), run.err());
        List<String> lines = run.out().lines().toList();
        assertEquals("tiny.jsonl: 3 requests, 7 block accesses, 4 unique blocks", lines.get(0));
        assertEquals("hit ratio  75%     100%", lines.get(1));
        assertEquals("blocks     3       4", lines.get(2));
        assertTrue(lines.get(3).startsWith("optimum    0.4286  0.4286  "), lines.get(3));
        assertTrue(lines.get(4).startsWith("lru        0.0000  0.4286  "), lines.get(4));
        assertEquals(3 + 9, lines.size());
    }

    @Test
    void aGeneratedWorkloadIsTheSameForTheSameSeed() {
        String[] arguments = {"--workload", "scans", "--one-tier", "2.5%", "--policies", "default", "--seed", "5"};
        String first = whatif(arguments).out();

        assertTrue(first.startsWith("scans: "), first);
        assertEquals(first, whatif(arguments).out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
        "--one-tier 0%; --one-tier: '0%' is not a share of the unique blocks, more than 0% and at most 100%; hint: tierlog whatif --help",
        "--one-tier 100.1%; --one-tier: '100.1%' is not a share of the unique blocks, more than 0% and at most 100%; hint: tierlog whatif --help",
        "--one-tier 5,6%; --one-tier: '5' is not a share of the unique blocks, more than 0% and at most 100%; hint: tierlog whatif --help",
        "--one-tier -5%; --one-tier: '-5%' is not a share of the unique blocks, more than 0% and at most 100%; hint: tierlog whatif --help",
        "--policies all; --one-tier is missing; --one-tier 1%,5%,10%,25% --policies all",
        "--one-tier 5% --policies sive; --policies: there is no 'sive'; did you mean 'sieve'?",
        "--one-tier 5% --policies belady; --policies: there is no 'belady'; It takes lru, optimum, default",
        "--one-tier 5% --workload agent; give either --trace or --workload; --one-tier 1%",
        "--one-tier 5% --requests 0; --requests: '0' is not a whole number, 1 or more; hint: tierlog whatif --help",
        "--report --one-tier 5%; --report has its own sizes; leave out --one-tier"
    })
    void wrongUsageIsExplained(String arguments, String error, String hint) {
        Ran run = whatif(("--trace " + trace + " " + arguments).split(" "));

        assertEquals(2, run.exitCode());
        assertEquals("", run.out());
        assertTrue(run.err().contains("error: " + error), run.err());
        assertTrue(run.err().contains(hint), run.err());
    }

    @Test
    void aTraceThatCannotBeReadIsNamedWithItsLine() throws Exception {
        Ran absent = whatif("--trace", dir.resolve("absent").toString(), "--one-tier", "5%");
        assertEquals(2, absent.exitCode());
        assertTrue(absent.err().contains("absent' is not a file that can be read"), absent.err());

        Files.writeString(trace, "{\"timestamp\": 9000, \"input_length\": 512, \"output_length\": 1}\n", StandardOpenOption.APPEND);
        Ran bad = whatif("--trace", trace.toString(), "--one-tier", "5%");
        assertEquals(2, bad.exitCode());
        assertTrue(bad.err().contains("tiny.jsonl, line 4: expected the field hash_ids"), bad.err());
        assertTrue(bad.err().contains("hint: --trace wants one JSON object per line"), bad.err());
        assertEquals(0, whatif("--trace", trace.toString(), "--one-tier", "5%", "--requests", "3").exitCode());
    }

    @Test
    void anUnknownWorkloadNamesTheNearest() {
        Ran run = whatif("--workload", "agnets", "--one-tier", "5%");

        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--workload: there is no 'agnets'"), run.err());
        assertTrue(run.err().contains("did you mean 'agents'?"), run.err());
    }

    private record Ran(int exitCode, String out, String err) {}

    private Ran whatif(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        List<String> all = new ArrayList<>(List.of("whatif"));
        all.addAll(List.of(arguments));
        return new Ran(Main.run(line, all, Map.of(), dir), out.toString(), err.toString());
    }
}
