/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A tiny run of the whole benchmark: it is complete and its counts are right; speed does not matter. */
final class BenchControlCommandTest {
    private static final List<String> LATENCIES = List.of(
            "hop",
            "relay",
            "pass_through",
            "pass_through_after_commit",
            "tierlog_before_commit",
            "tierlog_direct",
            "tierlog_transactional",
            "tierlog_after_commit");

    private final BenchRun bench = new BenchRun();

    @Test
    void aTinyRunIsCompleteAndEveryCommandAccountedFor() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run(
                "control", "--format", "json", "--rate", "100", "--seconds", "1", "--rounds", "1", "--records", "300", "--nodes", "2",
                "--partitions", "2", "--blocks", "4", "--commit-interval-ms", "200"));

        // A warm-up of 1 s, 100 requests, is longer than three commits; then 100 for 1 s.
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
        for (String ratio : List.of("submit_to_command_p50", "submit_to_command_p99", "throughput")) {
            assertTrue(report.path("ratios").path(ratio).asDouble() > 0, ratio);
            assertTrue(report.path("aims").path(ratio).asDouble() > 0, ratio);
        }
        assertTrue(report.path("record_bytes").asInt() > 4 * 32);
        assertEquals(before, BenchRun.leftovers());
    }

    /** 300 records are 100 requests: each submitted, prefilled, finished. */
    private static void bulkIsAccountedFor(JsonNode throughput) {
        assertEquals(300, throughput.path("records").asInt());
        assertEquals(300, throughput.path("passed_through").asInt());
        for (String delivery : List.of("direct", "transactional")) {
            JsonNode written = throughput.path("written").path(delivery);
            assertEquals(100, written.path("RequestAdmitted").asInt(), delivery);
            assertEquals(100, written.path("ResumeRequest").asInt(), delivery);
            assertEquals(100, written.path("ReleaseRequest").asInt(), delivery);
            assertEquals(0, written.path("InputRefused").asInt(), delivery);
            assertTrue(throughput.path("by_commands").path(delivery).asDouble() > 0, delivery);
        }
    }

    @Test
    void badInputIsRefusedWithAHint() {
        bench.run("control", "--rate", "0");
        assertEquals("--rate 0 is not between 1 and 20000", bench.refusal().getMessage());

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
