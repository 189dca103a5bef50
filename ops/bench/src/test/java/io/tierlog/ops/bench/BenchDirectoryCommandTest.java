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

/** A quick run of the directory benchmark: it is complete and every answer is right; speed does not matter. */
@Tag("slow")
final class BenchDirectoryCommandTest {
    private final BenchRun bench = new BenchRun();

    @Test
    void aQuickRunTakesEveryPathAndEveryAnswerIsRight() throws IOException {
        Set<Path> before = BenchRun.leftovers();

        JsonNode report = bench.json(bench.run("directory", "--quick", "--format", "json"));

        JsonNode round = report.path("rounds").path(0);
        assertEquals(20_480, round.path("blocks").asInt());
        // A cell of 64 bytes for each block, and its share of the slots.
        assertTrue(round.path("index_bytes_per_block").asDouble() > 64, round.toString());
        assertTrue(round.path("disk_bytes_per_block").asDouble() > 16, round.toString());
        Set<String> paths = new TreeSet<>();
        for (JsonNode row : round.path("rows")) {
            paths.add(row.path("ask").asText() + " " + row.path("way").asText() + " " + row.path("batch"));
            assertEquals(0, row.path("wrong").asLong(), row.toString());
            assertTrue(row.path("keys_per_s").asDouble() > 0 && row.path("p99_us").asDouble() >= row.path("p50_us").asDouble(), row.toString());
        }
        boolean redis = !report.path("redis").asText().contains("NOT RUN");
        // Four paths to the directory, one or two to Redis, with two batches.
        assertEquals(redis ? 2 * (6 + 5) : 2 * (4 + 4), paths.size(), paths.toString());
        assertTrue(bench.err().contains("exist, batches of 64, 90 % present"), bench.err());
        assertEquals(before, BenchRun.leftovers());
    }

    @Test
    void badInputIsRefusedBeforeFilesAreCreated() throws IOException {
        Set<Path> before = BenchRun.leftovers();
        bench.run("directory", "--blocks", "5");
        assertEquals("--blocks 5 is not between 1024 and 50000000", bench.refusal().getMessage());
        bench.run("directory", "--present", "101");
        assertEquals("--present 101 is not between 0 and 100", bench.refusal().getMessage());
        assertEquals(before, BenchRun.leftovers());
    }
}
