/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
        assertEquals("hit ratio   75%     100%", lines.get(1));
        assertEquals("blocks      3       4", lines.get(2));
        assertTrue(lines.get(3).startsWith("optimum     0.4286  0.4286  "), lines.get(3));
        assertTrue(lines.get(4).startsWith("lru         0.0000  0.4286  "), lines.get(4));
        assertEquals(3 + 10, lines.size());
    }

    @Test
    void aGeneratedWorkloadIsTheSameForTheSameSeed() {
        String[] arguments = {"--workload", "scans", "--one-tier", "2.5%", "--policies", "default", "--seed", "5"};
        String first = whatif(arguments).out();

        assertTrue(first.startsWith("scans: "), first);
        assertEquals(first, whatif(arguments).out());
    }

    /** Options of tierlog itself go with every kind of run. */
    @Test
    void theFirstRequestsOfAGeneratedWorkloadAreUsed() {
        Ran run = whatif("--workload", "scans", "--one-tier", "50%", "--policies", "lru", "--requests", "7", "--verbose");

        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("scans, the first 7: 7 requests, "), run.out());
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
        "--one-tier 5% --format html; --one-tier prints text or json, not html; leave out --format",
        "--workload scans; give one of --log, --trace and --workload; --sweep host=1%",
        "--sweep hots=1%,2%; --sweep: there is no 'hots'; did you mean 'host'?",
        "--sweep host; --sweep: 'host' is not KEY=V1,V2, for example host=1%,5%; hint: tierlog whatif --help",
        "--sweep host=0blocks; --host: '0blocks' is 0 blocks; give bytes",
        "--sweep nodes=0; nodes=0: nodes must be 1 or more, not 0; hint: look at",
        "--sweep load.workers=0; --sweep load.workers: workers must be 1 or more, not 0; hint: look at",
        "--set tape.latency_us=1; --set: there is no 'tape.latency_us'; It takes nodes, host, disk",
        "--sweep prefetch-threshold=-1; --sweep prefetch-threshold: ; hint: look at",
        "--device 2blocks; --device comes to 2 blocks, and the largest request needs 4; give at least --device 4blocks",
        "--sweep eviction-order=lru,sieve; --sweep eviction-order: there is no 'sieve'; It takes lru, gaps",
        "--seed 5; --seed is of generated workloads, and --trace is given; hint: leave out --seed",
        "--one-tier 5% --seed 5; --seed is of generated workloads, and --trace is given; hint: leave out --seed",
        "--route recorded; --route recorded: only a log has routes; hint: give --log",
        "--route sticki; --route: 'sticki' is not round-robin, sticky, prefix or recorded; hint: tierlog whatif --help",
        "--gpu-hour-price -1; --gpu-hour-price; '-1.0' is not a price, 0 or more",
        "--check --sweep host=1%; --check does not use --sweep; hint: leave out --sweep, or --check",
        "--check --gpu-hour-price 2 --one-tier 5%; --check does not use --gpu-hour-price, --one-tier; hint: leave out --gpu-hour-price",
        "--check --workload scans --log x; --check does not use --log, --workload; hint: leave out --log, --workload, or --check",
        "--check --format html; --check prints text, json or csv, not html; leave out --format",
        "--one-tier 5% --log x; --one-tier does not use --log; hint: leave out --log, or --one-tier",
        "--one-tier 5% --set a=1 --nodes 3 --set b=2; --one-tier does not use --nodes, --set; hint: leave out --nodes, --set, or --one-tier",
        "--one-tier 5% --requests 0; --requests: '0' is not a whole number, 1 or more; hint: tierlog whatif --help",
        "--report --one-tier 5% --check --policies lru; --report does not use --check, --one-tier, --policies; hint: leave out --check",
        "--report --nodes 3 --host 5% --sweep nodes=2; --report does not use --host, --nodes, --sweep; hint: leave out --host",
        "--report --workload scans; --report does not use --workload; hint: leave out --workload, or --report",
        "--report --format json; --report prints text, not json; hint: leave out --format"
    })
    void wrongUsageIsExplained(String arguments, String error, String hint) {
        Ran run = whatif(("--trace " + trace + " " + arguments).split(" "));

        assertEquals(2, run.exitCode());
        assertEquals("", run.out());
        assertTrue(run.err().contains("error: " + error), run.err());
        assertTrue(run.err().contains(hint), run.err());
    }

    /**
     * The third prompt finds 1 and 2 on the device; 3 has its last token. Two of seven blocks. A node has 90 device pages and 8 host blocks, space
     * for all four blocks, so lru and optimum count the third block too: three of seven.
     */
    @Test
    void aClusterIsOneRowForEachVariation() throws Exception {
        String[] arguments = {
            "--trace", trace.toString(), "--host", "200%", "--sweep", "nodes=1,2", "--gpu-hour-price", "3600", "--format", "json"
        };
        Ran run = whatif(arguments);

        assertEquals(0, run.exitCode(), run.err());
        JsonNode rows = new ObjectMapper().readTree(run.out()).path("rows");
        assertEquals(2, rows.size());
        for (int i = 0; i < 2; i++) {
            JsonNode row = rows.get(i);
            assertEquals("nodes=" + (i + 1), row.path("variation").asText());
            assertEquals(0.2857, row.path("hit_ratio").asDouble());
            assertEquals(0.2857, row.path("device").asDouble());
            assertEquals(0.4286, row.path("lru").asDouble());
            assertEquals(0.4286, row.path("optimum").asDouble());
            // 1,024 tokens at 100 us, rounded to four digits, and a unit of money a second.
            assertEquals(0.1024, row.path("prefill_s_saved").asDouble());
            assertEquals(0.1024, row.path("money_saved").asDouble());
            // Four whole blocks of 64 MiB, on the host and in the store.
            assertEquals(4 * (64L << 20), row.path("saved_bytes").asLong());
            assertEquals(4 * (64L << 20), row.path("store_written_bytes").asLong());
        }
        assertEquals(run.out(), whatif(arguments).out());
    }

    @Test
    void variationsArePoliciesTimesSweeps() throws Exception {
        Path never = Files.writeString(dir.resolve("never.yaml"), "prefetch_threshold: 1000\n");
        Path always = Files.writeString(dir.resolve("always.yaml"), "prefetch_threshold: 0\n");
        Ran run = whatif("--trace", trace.toString(), "--policy", never + "," + always, "--sweep", "route=round-robin,prefix", "--sweep",
                "store_read.latency_us=10,20", "--format", "csv");

        assertEquals(0, run.exitCode(), run.err());
        List<String> lines = run.out().lines().toList();
        assertEquals(1 + 2 * 2 * 2, lines.size());
        assertTrue(lines.get(0).startsWith("variation,hit_ratio,device,host,disk,store,lru,optimum,ttft_p50_ms,"), lines.get(0));
        // Round robin sends the third prompt where the first went.
        assertTrue(lines.get(1).startsWith("never.yaml route=round-robin store_read.latency_us=10,0.2857,0.2857,"), lines.get(1));
        assertTrue(lines.get(8).startsWith("always.yaml route=prefix store_read.latency_us=20,0.2857,0.2857,"), lines.get(8));
    }

    @Test
    void aSeedBesideALogIsRefused() {
        Ran run = whatif("--log", dir.toString(), "--seed", "5");

        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--seed is of generated workloads, and --log is given"), run.err());
    }

    @Test
    void aPolicyThatTheCoreRefusesAndAFileThatIsNoModelAreExplained() throws Exception {
        Path bad = Files.writeString(dir.resolve("bad.yaml"), "reclaim:\n  host:\n    high: 0.5\n    low: 0.9\n");
        Ran policy = whatif("--trace", trace.toString(), "--policy", bad.toString());
        assertEquals(2, policy.exitCode());
        assertTrue(policy.err().contains("bad.yaml is not a policy"), policy.err());
        assertTrue(policy.err().contains("reclaim.host.low"), policy.err());

        Path model = Files.writeString(dir.resolve("model.json"), "{\"load\": {\"latency\": 1}}");
        Ran wrong = whatif("--trace", trace.toString(), "--model", model.toString());
        assertEquals(2, wrong.exitCode());
        assertTrue(wrong.err().contains("model.json there is no 'load.latency' in a model"), wrong.err());

        Ran log = whatif("--log", dir.resolve("absent").toString());
        assertEquals(2, log.exitCode());
        assertTrue(log.err().contains("error: "), log.err());
        assertTrue(log.err().contains("hint: "), log.err());
    }

    /** One file: no script, nothing from a network, texts escaped. */
    @Test
    void thePageNeedsNoServer() {
        Ran run = whatif("--trace", trace.toString(), "--sweep", "host=50%,100%", "--format", "html");

        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("<!doctype html>"), run.out());
        assertTrue(run.out().contains("default-src 'none'"), run.out());
        assertTrue(run.out().contains("host=50%, hit ratio: 0.2857"), run.out());
        assertTrue(!run.out().contains("<script") && !run.out().contains("http://") && !run.out().contains("https://"), run.out());
        assertTrue(run.out().strip().endsWith("</html>"), run.out());
    }

    @Test
    void theTableOfAClusterIsForPeople() {
        Ran run = whatif("--trace", trace.toString());

        assertEquals(0, run.exitCode(), run.err());
        List<String> lines = run.out().lines().toList();
        assertEquals("tiny.jsonl: 3 requests, 7 block accesses, 4 unique blocks; an infinite cache shared by all nodes would hit 0.4286",
                lines.get(0));
        assertTrue(lines.get(2).startsWith("VARIATION  HIT RATIO  DEVICE"), lines.get(2));
        assertTrue(lines.get(3).startsWith("as given   0.2857     0.2857"), lines.get(3));
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
