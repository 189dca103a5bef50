/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Small demos from end to end: a real broker, controller, agents and engines, as a user starts them. */
@Tag("slow")
class DemoCommandTest {
    @TempDir
    Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** Requests wait for a fetch for longer than a slow machine takes. The log that they leave is at rest. */
    @Test
    void everyTierHasHitsAndEveryKindOfOperationHappens() throws Exception {
        String kept = dir.resolve("kept").toString();
        JsonNode report = demo("--requests", "250", "--host", "60blocks", "--decode-us-per-token", "200", "--prefetch-wait-ms", "3000",
                "--keep", "--data", kept);

        assertSound(report, 250);
        for (String tier : List.of("device", "host", "store")) {
            assertTrue(report.get("hits").get(tier).asLong() > 0, tier + " in " + report);
        }
        for (String kind : List.of("write_back", "load_back", "prefetch", "back_up", "drop")) {
            assertTrue(report.get("operations_by_kind").path(kind).asLong() > 0, kind + " in " + report);
        }
        assertTrue(report.get("latency_ms").get("submit_to_command").get("count").asLong() > 0, report.toString());
        JsonNode verified = audit(0, "verify", "--at-rest", "--log", kept);
        assertEquals(report.get("operations").get("done"), verified.get("operations").get("done"), verified.toString());
    }

    @Test
    void withoutAControllerNothingIsMoved() throws Exception {
        JsonNode report = demo("--requests", "60", "--no-controller", "--decode-us-per-token", "200");

        assertSound(report, 60);
        assertEquals(0, report.get("operations").get("started").asLong());
        assertEquals(0, report.get("hits").get("store").asLong());
        assertEquals(0, report.get("commands").asLong());
    }

    /** It goes before most requests and comes back at the end: those that would have been fetched for wait for as long as they may. */
    @Test
    void whileTheControllerIsAwayRequestsGoOnAfterThePrefetchWait() throws Exception {
        JsonNode report = demo(
                "--requests", "300", "--controller-away", "120-1000000", "--prefetch-wait-ms", "70", "--host", "60blocks",
                "--decode-us-per-token", "500", "--concurrency", "16", "--device", "300blocks");

        assertSound(report, 300);
        long expired = report.get("waits_expired").asLong();
        JsonNode ready = report.get("latency_ms").get("submit_to_ready_waited");
        assertTrue(expired > 0, report.toString());
        assertTrue(ready.get("max").asDouble() >= 70, ready.toString());
        assertTrue(ready.get("p90").asDouble() < 1_000, ready.toString());
    }

    /** Two requests with the same prompt of three whole blocks and a bit: the second loads all three from the host. */
    @Test
    void aTraceIsReplayedAsItIsWritten() throws Exception {
        Path trace = Files.write(dir.resolve("trace.jsonl"), List.of(
                "{\"timestamp\": 0, \"input_length\": 1600, \"output_length\": 4, \"hash_ids\": [1, 2, 3, 4]}",
                "{\"timestamp\": 2000, \"input_length\": 1600, \"output_length\": 4, \"hash_ids\": [1, 2, 3, 4]}"));

        JsonNode report = demo("--trace", trace.toString(), "--nodes", "1", "--no-device-retention", "--speed", "1", "--host", "8blocks");

        assertSound(report, 2);
        assertEquals(8, report.get("block_accesses").asLong());
        assertEquals(3, report.get("hits").get("host").asLong(), report.toString());
        assertEquals(5, report.get("computed_blocks").asLong());
    }

    /** What both controllers decided holds, and is decided again the same; at the end no event is undecided, and nothing is open. */
    @Test
    void aKilledControllerLosesNothing() throws Exception {
        String kept = dir.resolve("kept").toString();
        JsonNode report = demo("--processes", "--controller-kills", "1", "--requests", "200", "--host", "60blocks", "--nodes", "1",
                "--keep", "--data", kept);

        assertSound(report, 200);
        assertTrue(err.toString().contains("s (1 of 1)"), err.toString());
        assertTrue(report.get("hits").get("store").asLong() > 0, report.toString());
        assertTrue(controllerStarts(dir.resolve("kept")) > 1, "the log is of one controller");
        JsonNode verified = audit(0, "verify", "--at-rest", "--log", kept);
        assertEquals(report.get("operations").get("done"), verified.get("operations").get("done"), verified.toString());
        JsonNode rerun = audit(0, "rerun", "--log", kept);
        assertEquals(0, rerun.get("differences").asLong(), rerun.toString());
        assertTrue(rerun.get("events").asLong() > 1_000 && rerun.get("decisions").asLong() > 1_000, rerun.toString());
    }

    /** Each controller that starts begins a clock of its own in every partition: the fewest that one of them has. */
    private static long controllerStarts(Path kept) {
        RecordReader<Event> events = new Codec(Schemas.bundled()).reader(Event.class);
        long fewest = Long.MAX_VALUE;
        try (DirectoryLog log = new DirectoryLog(kept)) {
            for (int p = 0; p < log.partitions(Topics.DEFAULT.events()); p++) {
                Set<String> clocks = new HashSet<>();
                try (RecordCursor inputs = new RecordCursor(log, Topics.DEFAULT.events(), p)) {
                    for (LogEntry.Data record = inputs.next(); record != null; record = inputs.next()) {
                        if (events.read(record.value()) instanceof Reading.Decoded<Event>(Event event) && event instanceof Tick) {
                            clocks.add(event.envelope().sender());
                        }
                    }
                }
                fewest = Math.min(fewest, clocks.size());
            }
        }
        return fewest;
    }

    private JsonNode audit(int exitCode, String... flags) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("audit"));
        arguments.addAll(List.of(flags));
        arguments.addAll(List.of("--format", "json"));
        assertEquals(exitCode, run(arguments), () -> err + System.lineSeparator() + out);
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void aKilledAgentFindsItsDiskAgain() throws Exception {
        JsonNode report = demo(
                "--processes", "--agent-kills", "1", "--requests", "400", "--host", "60blocks", "--disk", "400blocks", "--nodes", "1");

        assertSound(report, 400);
        assertTrue(err.toString().contains("s (1 of 1)"), err.toString());
        assertTrue(report.get("recovered_blocks").asLong() > 0, report.toString());
        assertTrue(report.get("hits").get("disk").asLong() > 0, report.toString());
    }

    /** The flood's quota is 6 MiB, which is 384 blocks: it never has more, though it asks for two thirds of everything. */
    @Test
    void aTenantThatFloodsHasNoMoreThanItsQuota() throws Exception {
        JsonNode report = demo(
                "--requests", "400", "--flood", "2", "--nodes", "1", "--host", "1500blocks",
                "--policy", Path.of(System.getProperty("tierlog.root"), "ops/examples/policy-tenants.yaml").toString());

        assertSound(report, 400);
        long most = 0;
        for (JsonNode place : report.get("resident_blocks")) {
            most = place.get("namespace").asText().endsWith("/flood") ? place.get("most").asLong() : most;
        }
        assertTrue(most > 200 && most <= 384, report.toString());
        assertTrue(report.get("tenants").get("tenant-0").get("hits").get("host").asLong() > 0, report.toString());
        assertTrue(report.get("water_levels").size() > 0, report.toString());
    }

    /**
     * 20 prompts of 8 whole blocks are more than a host of 100 blocks: at 90 the coldest go to the disk until fewer than 50 are left, and the
     * first four prompts go first. They come again 7 s after the last of the others, and are probed 2 s before: by then they are on the disk
     * alone, and the host has free pages. The run with promotion comes first here; the order of the rows stays.
     */
    @Test
    void withAndWithoutPromotionIsOneTable() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            int first = i % 20 * 16;
            lines.add("{\"timestamp\": " + (i < 20 ? i * 100 : 7_000 + i * 100) + ", \"input_length\": 4160, \"output_length\": 4, \"hash_ids\": "
                    + IntStream.range(first, first + 9).boxed().toList() + "}");
        }
        Path trace = Files.write(dir.resolve("again.jsonl"), lines);
        JsonNode report = demo(true, "--trace", trace.toString(), "--speed", "1", "--host", "100blocks", "--host-low", "0.5", "--disk", "1000blocks",
                "--nodes", "1", "--no-device-retention", "--probe-ahead", "2s", "--decode-us-per-token", "200", "--promotion-first",
                "--warm-up", "3");

        assertSound(report, 24);
        assertSound(report.get("without_promotion"), 24);
        assertEquals(3, report.get("warm_up_requests").asInt());
        JsonNode each = report.get("promotion_runs");
        assertEquals(List.of("on", "off"), each.valueStream().map(run -> run.get("promotion").asText()).toList());
        JsonNode off = report.get("promotion_table").get(0);
        JsonNode on = report.get("promotion_table").get(1);
        assertEquals("off on", off.get("promotion").asText() + " " + on.get("promotion").asText());
        assertEquals(0, off.get("begun_blocks").asLong(), off.toString());
        for (String number : List.of("disk_blocks_read", "begun_blocks", "waited")) {
            assertEquals(off.get(number).asLong(), each.get(1).get(number).asLong(), number);
            assertEquals(on.get(number).asLong(), each.get(0).get(number).asLong(), number);
        }
        assertTrue(off.get("disk_blocks_read").asLong() > 0, off.toString());
        assertEquals(0, off.get("in_memory_when_read").asDouble(), off.toString());
        assertTrue(on.get("begun_blocks").asLong() > 0, report::toString);
        assertEquals(on.get("begun_blocks").asLong(), on.get("done_blocks").asLong() + on.get("failed").asLong(), report::toString);
        assertTrue(on.get("in_memory_when_read").asDouble() > 0, report::toString);
        assertTrue(on.get("submit_to_ready_p50_ms").asDouble() > 0, on.toString());
    }

    /**
     * Requests go to both nodes in turn, so what one has computed is wanted by the other. Computing is dear here, so that requests wait for their
     * fetches on a busy machine too.
     */
    @Test
    void whatCameFromAnotherNodeIsInTheReport() throws Exception {
        JsonNode report = demo("--requests", "200", "--host", "2000blocks", "--nodes", "2", "--route", "ROUND_ROBIN", "--peers", "--speed", "25",
                "--no-device-retention", "--decode-us-per-token", "200", "--prefetch-wait-ms", "10000");

        assertSound(report, 200);
        JsonNode peers = report.get("peer_reads");
        assertTrue(peers.get("fetched_blocks").asLong() > 0, peers::toString);
        assertTrue(peers.get("sent_blocks").asLong() >= peers.get("fetched_blocks").asLong(), peers::toString);
        assertTrue(peers.get("sent_bytes").asLong() >= peers.get("sent_blocks").asLong(), peers::toString);
        long refused = peers.get("refused").valueStream().mapToLong(JsonNode::asLong).sum();
        assertEquals(peers.get("asked").asLong(), peers.get("granted").asLong() + refused, peers::toString);
    }

    /**
     * Three engines that only publish events beside two that Tierlog serves: at the end the directory says of 200 prompts what the engines hold. One
     * engine starts again with a replay, and its first batches are had; one without, and what it has is UNKNOWN until it is named again.
     */
    @Test
    void aRouterSeesEnginesThatPublishEventsBesideThoseThatAreServed() throws Exception {
        JsonNode report = demo("--requests", "400", "--host", "400blocks", "--engines", "events", "--decode-us-per-token", "200");

        assertSound(report, 400);
        JsonNode router = report.get("router");
        assertEquals(0, router.get("wrong").asInt(), router::toString);
        assertTrue(router.get("prompts_compared").asInt() >= 50, router::toString);
        assertTrue(router.get("unknown").asInt() > 0, router::toString);
        assertTrue(router.get("followed").asInt() > 20, router::toString);
        List<String> engines = List.of("ext-vllm-dp0", "ext-sglang-dp0", "ext-tokenspeed-dp0");
        assertEquals(engines, List.copyOf(router.get("served").propertyStream().map(Map.Entry::getKey).toList()));
        Map<String, JsonNode> looks = new LinkedHashMap<>();
        router.get("looks").valueStream().forEach(look -> looks.put(look.get("when").asText(), look));
        assertTrue(looks.values().stream().anyMatch(look -> look.get("nodes").has("node-1") || look.get("nodes").has("node-2")), router::toString);
        for (String engine : engines.subList(0, 2)) {
            JsonNode before = looks.get("before " + engine + " started again");
            assertTrue(before.get("nodes").path(engine).asInt() > 0, router::toString);
            assertFalse(before.get("unknown").asBoolean(), router::toString);
        }
        assertFalse(looks.get("after ext-vllm-dp0 started again with a replay").get("unknown").asBoolean(), router::toString);
        JsonNode after = looks.get("after ext-sglang-dp0 started again without a replay");
        assertTrue(after.get("unknown").asBoolean(), router::toString);
        // The new process may have stored the first blocks of the prompt again, but nothing that the old one had counts.
        int had = looks.get("before ext-sglang-dp0 started again").get("nodes").path("ext-sglang-dp0").asInt();
        assertTrue(after.get("nodes").path("ext-sglang-dp0").asInt() < had, router::toString);
    }

    @Test
    void badInputIsAnsweredBeforeAnythingStarts() throws Exception {
        Path trace = Files.write(dir.resolve("bad.jsonl"), List.of(
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [1]}", "no"));

        assertRefused("line 2", "--trace", trace.toString());
        assertRefused("absent.jsonl", "--trace", dir.resolve("absent.jsonl").toString());
        assertRefused("--nodes: '0' is not a whole number, 1 to 64", "--nodes", "0");
        assertRefused("is not a size", "--host", "many");
        assertRefused("--host-low must be at most --host-high", "--host-high", "0.5", "--host-low", "0.6");
        assertRefused("--controller-kills needs --processes", "--controller-kills", "1");
        assertRefused("and a controller", "--processes", "--no-controller", "--controller-kills", "1");
        assertRefused("--agent-kills needs --processes", "--agent-kills", "1");
        assertRefused("the run has 60 requests", "--requests", "60", "--controller-away", "60-70");
        assertRefused("is not a span of requests", "--controller-away", "400-200");
        assertRefused("--peers needs a controller in this process", "--peers", "--processes");
        assertRefused("--engines events needs a controller in this process", "--engines", "events", "--processes");
        assertRefused("--promotion-first needs --probe-ahead", "--promotion-first");
        assertRefused("--promotion-first needs --probe-ahead", "--promotion-first", "--probe-ahead", "1s", "--no-compare");
        assertRefused("--rounds needs --probe-ahead", "--rounds", "2");
        assertRefused("--rounds: '0' is not a whole number, 1 to 50", "--rounds", "0", "--probe-ahead", "1s");
        assertRefused("--warm-up needs --probe-ahead", "--warm-up", "5");
        assertRefused("--warm-up: '-1' is not a whole number, 0 or more", "--warm-up", "-1", "--probe-ahead", "1s");
        assertRefused("the largest request needs", "--device", "2blocks");
        assertRefused("Unknown option: '--hots=5%'", "--hots=5%");
    }

    private JsonNode demo(String... flags) throws Exception {
        return demo(false, flags);
    }

    private JsonNode demo(boolean compare, String... flags) throws Exception {
        // Engines that state no cost wait for as long as they may, also on a machine that is busy.
        List<String> arguments = new ArrayList<>(List.of("demo", "--seed", "6", "--format", "json", "--prefill-us-per-token", "0"));
        if (!compare) {
            arguments.addAll(List.of("--no-compare", "--no-dashboard"));
        }
        arguments.addAll(List.of(flags));
        assertEquals(0, run(arguments), () -> err + System.lineSeparator() + out);
        return new ObjectMapper().readTree(out.toString());
    }

    private static void assertSound(JsonNode report, int requests) {
        assertEquals(requests, report.get("requests").asInt());
        JsonNode hits = report.get("hits");
        long hit = hits.get("device").asLong() + hits.get("host").asLong() + hits.get("disk").asLong() + hits.get("store").asLong();
        assertEquals(report.get("block_accesses").asLong(), hit + report.get("computed_blocks").asLong(), report.toString());
        assertEquals(0, report.get("wrong_content").asLong());
        JsonNode operations = report.get("operations");
        long ended = operations.get("done").asLong() + operations.get("failed").asLong() + operations.get("cancelled").asLong()
                + operations.get("fenced").asLong();
        assertEquals(operations.get("started").asLong(), ended, report.toString());
        assertEquals(0, operations.get("unfinished").asLong());
        assertEquals(0, operations.get("breaches").asLong());
        assertEquals(0, report.get("unreadable_records").asLong());
    }

    private void assertRefused(String message, String... flags) {
        List<String> arguments = new ArrayList<>(List.of("demo"));
        arguments.addAll(List.of(flags));
        assertEquals(2, run(arguments), arguments.toString());
        assertTrue(err.toString().contains(message), err.toString());
        assertEquals("", out.toString());
    }

    private int run(List<String> arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return Main.run(line, arguments, Map.of(), dir);
    }
}
