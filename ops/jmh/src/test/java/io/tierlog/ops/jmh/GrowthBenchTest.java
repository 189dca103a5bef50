/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The load of the benchmark leaves no row behind: it shows growth of the core, not its own. */
class GrowthBenchTest {
    @Test
    void theRowsAreFlatAfterTwoMinutes() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (CoreWorld world = CoreWorld.of("heap", 1 << 20, 0)) {
            long[] rows = new GrowthBench(world, new PrintStream(out, true, StandardCharsets.UTF_8)).run(20, 4);

            // A minute of requests, of their write-backs and backups and of the timers of all three, and some that are late.
            assertTrue(rows[1] > 6 * 60 * 19, () -> out.toString(StandardCharsets.UTF_8));
            assertEquals(rows[1], rows[3], rows[1] / 50.0, () -> out.toString(StandardCharsets.UTF_8));
        }
    }
}
