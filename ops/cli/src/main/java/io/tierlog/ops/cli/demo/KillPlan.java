/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Which parts of a demo are killed, and when: moments that do not depend on what goes on then. Immutable.
 *
 * @param kills in the order of time
 */
record KillPlan(List<Kill> kills) {
    /** The beginning of a run has nothing to lose yet, and a kill after its end would test nothing. */
    private static final double FIRST = 0.02;

    private static final double LAST = 0.95;

    /** A part, and the time from the start of the engines to its death. */
    record Kill(Duration at, String part) {}

    KillPlan {
        kills = List.copyOf(kills);
    }

    /**
     * Spreads kills evenly at random over a run.
     *
     * @param seed the same one gives the same moments
     * @param run length of the run
     * @param times how often each part is killed, 0 or more
     */
    static KillPlan over(long seed, Duration run, Map<String, Integer> times) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Kill> kills = new ArrayList<>();
        times.forEach((part, count) -> {
            for (int i = 0; i < count; i++) {
                double share = FIRST + (LAST - FIRST) * random.nextDouble();
                kills.add(new Kill(Duration.ofMillis((long) (run.toMillis() * share)), part));
            }
        });
        kills.sort(Comparator.comparing(Kill::at));
        return new KillPlan(kills);
    }

    boolean isEmpty() {
        return kills.isEmpty();
    }
}
