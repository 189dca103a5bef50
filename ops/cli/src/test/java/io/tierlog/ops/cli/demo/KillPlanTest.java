/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KillPlanTest {
    private static final Duration RUN = Duration.ofSeconds(100);

    /** From the first 2 s of 100 to the last 5, in the order of time, and not all in one corner. */
    @Test
    void killsAreSpreadOverTheRun() {
        List<KillPlan.Kill> kills = KillPlan.over(1, RUN, Map.of("a", 20, "b", 3)).kills();

        assertEquals(23, kills.size());
        assertEquals(3, kills.stream().filter(kill -> kill.part().equals("b")).count());
        assertEquals(kills.stream().sorted(Comparator.comparing(KillPlan.Kill::at)).toList(), kills);
        assertTrue(kills.getFirst().at().toMillis() >= 2_000, kills.toString());
        assertTrue(kills.getLast().at().toMillis() <= 95_000, kills.toString());
        assertTrue(kills.getFirst().at().toSeconds() < 33 && kills.getLast().at().toSeconds() > 66, kills.toString());
    }

    @Test
    void theSeedDecidesTheMoments() {
        Map<String, Integer> times = Map.of("a", 5);

        assertEquals(KillPlan.over(7, RUN, times), KillPlan.over(7, RUN, times));
        assertNotEquals(KillPlan.over(7, RUN, times), KillPlan.over(8, RUN, times));
    }

    @Test
    void nothingIsKilledUnlessAskedFor() {
        assertTrue(KillPlan.over(1, RUN, Map.of("a", 0)).isEmpty());
    }
}
