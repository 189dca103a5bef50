/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KillPlanTest {
    /** From 20 % of the requests to 80 %, in order, and not all in one corner: some in the first third of these 60 %, and some in the last. */
    @Test
    void killsAreSpreadOverTheMiddleOfTheRun() {
        List<KillPlan.Kill> kills = KillPlan.over(1, Map.of("a", 20, "b", 3)).kills();

        assertEquals(23, kills.size());
        assertEquals(3, kills.stream().filter(kill -> kill.part().equals("b")).count());
        assertEquals(kills.stream().sorted(Comparator.comparing(KillPlan.Kill::share)).toList(), kills);
        assertTrue(kills.getFirst().share() >= 0.2 && kills.getFirst().share() < 0.4, kills.toString());
        assertTrue(kills.getLast().share() > 0.6 && kills.getLast().share() <= 0.8, kills.toString());
    }

    /** The test of one plan could be luck. */
    @Test
    void noSeedKillsBeforeThereIsSomethingToLose() {
        for (long seed = 0; seed < 1_000; seed++) {
            double share = KillPlan.over(seed, Map.of("a", 1)).kills().getFirst().share();
            assertTrue(share >= 0.2 && share <= 0.8, "seed " + seed + ": " + share);
        }
    }

    @Test
    void theSeedDecidesTheMoments() {
        Map<String, Integer> times = Map.of("a", 5);

        assertEquals(KillPlan.over(7, times), KillPlan.over(7, times));
        assertNotEquals(KillPlan.over(7, times), KillPlan.over(8, times));
    }

    @Test
    void nothingIsKilledUnlessAskedFor() {
        assertTrue(KillPlan.over(1, Map.of("a", 0)).isEmpty());
    }
}
