/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A tiny run of the whole benchmark: it is complete and its counts are right; speed does not matter. */
@Tag("slow")
final class BenchControlCommandTest {
    private static final List<String> LATENCIES = List.of(
            "hop",
            "relay",
            "pass_through",
            "pass_through_after_commit",
            "tierlog_before_commit",
            "tierlog_direct",
            "tierlog_full",
            "tierlog_transactional",
            "tierlog_after_commit");

    private final BenchRun bench = new BenchRun();

    @Test
    void aTinyRunIsCompleteAndEveryCommandAccountedFor() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run(
                "control", "--format", "json", "--rate", "100", "--seconds", "1", "--rounds", "1", "--work", "0.2", "--nodes", "2",
                "--partitions", "2", "--blocks", "4", "--commit-interval-ms", "50", "--host-blocks", "1000", "--record-codes", "--jfr"));

        // Each part warms up for 1 s, 100 requests, which is longer than three commits; then come 100 in 1 s. No round warms up.
        for (String part : LATENCIES) {
            JsonNode latency = report.path(part);
            assertEquals(100, latency.path("count").asInt(), part);
            assertEquals(200, latency.path("requests").path("answered").asInt(), part);
            assertEquals(0, latency.path("requests").path("missing").asInt(-1), part);
            assertTrue(latency.path("p50").asDouble() > 0, part);
            assertTrue(latency.path("p99").asDouble() >= latency.path("p50").asDouble(), part);
        }
        bulkIsAccountedFor(report.path("throughput"));
        assertTrue(report.path("accounted").asBoolean());
        recordedIsComplete(report);
        for (String ratio : List.of(
                "submit_to_command_p50", "submit_to_command_p99", "submit_to_command_p50_full", "submit_to_command_p99_full", "throughput",
                "recorded_throughput")) {
            assertTrue(report.path("ratios").path(ratio).asDouble() > 0, ratio);
            assertTrue(report.path("aims").path(ratio).asDouble() > 0, ratio);
        }
        assertEquals(60, report.path("aims").path("stream_thread_us").asDouble());
        assertEquals(12_000, report.path("aims").path("request_bytes_written").asDouble());
        assertEquals(4_000, report.path("aims").path("request_bytes_kept").asDouble());
        assertTrue(report.path("record_bytes").asInt() > 4 * 32);
        assertEquals(before, BenchRun.leftovers());
    }

    /** Three records are a request: submitted, prefilled, finished. */
    private static void bulkIsAccountedFor(JsonNode throughput) {
        assertEquals(throughput.path("records").asLong(-1), throughput.path("passed_through").asLong());
        assertTrue(throughput.path("pass_through_seconds").asDouble() >= 0.2);
        assertTrue(throughput.path("tierlog_seconds").asDouble() >= 0.2);
        for (String delivery : List.of("direct", "transactional")) {
            JsonNode written = throughput.path("written").path(delivery);
            long requests = written.path("RequestAdmitted").asLong();
            assertTrue(requests > 0, delivery);
            assertEquals(requests, written.path("ResumeRequest").asLong(), delivery);
            assertEquals(requests, written.path("ReleaseRequest").asLong(), delivery);
            assertEquals(0, written.path("InputRefused").asInt(), delivery);
            assertTrue(throughput.path("by_commands").path(delivery).asDouble() > 0, delivery);
        }
    }

    private static void recordedIsComplete(JsonNode report) {
        JsonNode recorded = report.path("recorded");
        assertEquals(30, recorded.path("blocks_per_request").asDouble());
        assertTrue(recorded.path("same_decisions").asBoolean());
        for (String side : List.of("relay", "pass_through", "same_topics_no_work", "tierlog")) {
            assertTrue(recorded.path("seconds").path(side).asDouble() >= 0.2, side);
        }
        for (String process : List.of("stream_thread", "jvm", "broker")) {
            assertTrue(report.path("event_us").path(process).asDouble() > 0, process);
        }
        assertEquals(1, recorded.path("cold").path("replays_to_warm_up").asInt(), "less than a second to measure needs no warm-up");
        assertTrue(recorded.path("cold").path("event_us").path("jvm").asDouble() > 0);
        for (String topic : List.of("events", "decisions", "commands", "placements", "changelog")) {
            assertTrue(recorded.path("topics").path(topic).path("bytes").asDouble() > 0, topic);
        }
        // An event without a right code would be skipped, and then same_decisions is false.
        assertTrue(recorded.path("compression").path("lz4 codes").path("events_per_s").asDouble() > 0, () -> recorded.path("compression").toString());
        JsonNode bytes = report.path("request_bytes");
        assertTrue(bytes.path("kept").asLong() > 0);
        assertTrue(bytes.path("written").asLong() > bytes.path("kept").asLong());
        assertTrue(report.path("profile").path("stream_thread").size() > 1, () -> report.path("profile").toString());
    }

    @Test
    void badInputIsRefusedWithAHint() {
        bench.run("control", "--rate", "0");
        assertEquals("--rate 0 is not between 1 and 20000", bench.refusal().getMessage());

        bench.run("control", "--work", "0");
        assertEquals("--work 0.0 is not between 0.1 and 600.0", bench.refusal().getMessage());

        bench.run("control", "--events", "no-such-directory");
        assertEquals("there is no Kafka log in no-such-directory", bench.refusal().getMessage());

        bench.run("control", "--bootstrap-servers", "127.0.0.1:1");
        String absent = String.valueOf(bench.refusal().getMessage());
        assertTrue(absent.contains("127.0.0.1:1"), absent);
    }

    @Test
    void theGroupWithoutABenchmarkListsThem() {
        assertEquals(2, bench.run());
        assertTrue(bench.err().contains("control"), bench.err());
    }
}
