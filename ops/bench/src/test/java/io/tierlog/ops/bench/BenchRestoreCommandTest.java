/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code bench restore}: a quick run, and what it refuses. */
@Tag("slow")
final class BenchRestoreCommandTest {
    private final BenchRun bench = new BenchRun();

    @Test
    void aQuickRunStartsTheControllerAfterEachLoss() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run("restore", "--quick", "--format", "json"));

        // 3,000 blocks, 990 in an event.
        assertEquals(4, report.path("state").path("events").asInt(), report.toString());
        assertTrue(report.path("snapshot").path("verified").asBoolean(), report.toString());
        assertEquals(1, report.path("rounds").size());
        JsonNode round = report.path("rounds").path(0);
        assertEquals(3_000, round.path("lost").path("placements").asInt(), report.toString());
        assertTrue(round.path("lost").path("rows").asInt() > 3_000 / 30, report.toString());
        for (String start : Set.of("with_state_s", "without_state_s")) {
            assertTrue(round.path(start).asDouble() > 0, report.toString());
        }
        assertTrue(bench.err().contains("round 1 of 1"), bench.err());
        assertEquals(before, BenchRun.leftovers());
    }

    @Test
    void badInputIsRefusedBeforeFilesAreCreated() throws IOException {
        Set<Path> before = BenchRun.leftovers();
        bench.run("restore", "--placements", "0");
        assertEquals("--placements 0 is not between 1 and 8000000", bench.refusal().getMessage());
        bench.run("restore", "--rounds", "101");
        assertEquals("--rounds 101 is not between 1 and 100", bench.refusal().getMessage());
        assertEquals(before, BenchRun.leftovers());
    }
}
