/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The load of the benchmark leaves no row behind: it shows growth of the core, not its own. */
class GrowthBenchTest {
    @Test
    void theRowsAreFlatAfterTwoMinutes() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (CoreWorld world = CoreWorld.of("heap", 1 << 20, 0, 1)) {
            long[] rows = new GrowthBench(world, 2, new PrintStream(out, true, StandardCharsets.UTF_8)).run(20, 4);

            // A minute of requests, of their write-backs and backups and of the timers of all three, and some that are late.
            assertTrue(rows[1] > 6 * 60 * 19, () -> out.toString(StandardCharsets.UTF_8));
            assertEquals(rows[1], rows[3], rows[1] / 50.0, () -> out.toString(StandardCharsets.UTF_8));
            assertTrue(world.logBytes() > 20 * 4 * 60 * 1_000, () -> out.toString(StandardCharsets.UTF_8));
        }
    }

    /** 1,000 names in an hour: from the first expiry on, after 24 hours, each hour forgets as many nodes as come. */
    @Test
    void nodesAreFlatAfterADay() throws Exception {
        List<ExpiryBench.Hour> hours = hours(true, 24_000, 28);

        assertEquals(28_000, hours.getLast().names(), 1);
        assertEquals(hours.get(25).nodes(), hours.getLast().nodes(), 5);
        assertEquals(hours.get(25).rows(), hours.getLast().rows(), hours.getLast().rows() / 50.0);
        // Those that serve, 1,000 an hour for ten minutes each, and node a.
        assertEquals(168, hours.getLast().members(), 5);
    }

    /** 10,000 in an hour: from the second hour on each hour forgets as many as come. */
    @Test
    void namespacesAreFlatAfterAnHour() throws Exception {
        List<ExpiryBench.Hour> hours = hours(false, 240_000, 4);

        assertEquals(40_000, hours.getLast().names(), 10);
        assertEquals(hours.get(1).namespaces(), hours.getLast().namespaces(), 200);
        assertEquals(hours.get(1).rows(), hours.getLast().rows(), hours.getLast().rows() / 50.0);
    }

    private static List<ExpiryBench.Hour> hours(boolean nodes, int perDay, int hours) throws Exception {
        try (CoreWorld world = CoreWorld.of("heap", 1 << 20, 0, 1)) {
            return new ExpiryBench(world, new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8)).run(nodes, perDay, hours);
        }
    }
}
