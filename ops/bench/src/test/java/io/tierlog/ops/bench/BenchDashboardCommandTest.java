/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A quick run of the benchmark of the live page: every record is counted once and every page comes; speed does not matter. */
@Tag("slow")
final class BenchDashboardCommandTest {
    private final BenchRun bench = new BenchRun();

    @Test
    void aQuickRunCountsEveryRecordOnceAndFeedsEveryBrowser() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run("dashboard", "--quick", "--past-hours", "1", "--format", "json"));

        assertEquals(0, report.path("unread").asLong(), report.toString());
        assertEquals(0, report.path("ended_streams").asLong(), report.toString());
        // An hour has 360 windows, and a node a heartbeat in each: 10 nodes, and as many decisions.
        assertTrue(report.path("catch_up").path("records").asLong() > 2 * 3_600, report.toString());
        for (String topic : Set.of("events", "decisions", "commands", "placements")) {
            assertTrue(report.path("written").path(topic).asDouble() > 0, topic + " in " + report);
        }
        Set<String> pages = new TreeSet<>();
        for (JsonNode row : report.path("streams")) {
            pages.add(row.path("page").asText().replaceFirst("&.*", ""));
            assertTrue(row.path("updates_per_s").asDouble() > 0 && row.path("kb_per_s").asDouble() > 0, row.toString());
        }
        assertEquals(Set.of("overview", "nodes", "node", "requests", "blocks", "operate", "log"), pages);
        assertEquals(3, report.path("memory").size(), report.toString());
        assertTrue(report.path("memory").path(2).path("heap_mb").asDouble() > 1, report.toString());
        assertTrue(report.path("core_share").asDouble() > 0, report.toString());
        assertTrue(report.path("lag").size() == 3 && !report.path("keeps_up").asText().isEmpty(), report.toString());
        assertTrue(bench.err().contains("measuring for 6 s"), bench.err());
        assertEquals(before, BenchRun.leftovers());
    }

    @Test
    void badInputIsRefusedBeforeFilesAreCreated() throws IOException {
        Set<Path> before = BenchRun.leftovers();
        bench.run("dashboard", "--browsers", "51");
        assertEquals("--browsers 51 is not between 1 and 50", bench.refusal().getMessage());
        bench.run("dashboard", "--past-hours", "24");
        assertEquals("--past-hours 24 is not between 0 and 23", bench.refusal().getMessage());
        bench.run("dashboard", "--nodes", "0");
        assertEquals("--nodes 0 is not between 1 and 2000", bench.refusal().getMessage());
        assertEquals(before, BenchRun.leftovers());
    }
}
