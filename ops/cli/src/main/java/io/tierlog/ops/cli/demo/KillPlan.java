/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Which parts of a demo are killed, and when: at shares of the run's requests, since how long a run takes depends on the machine and on what
 * else it does. Immutable.
 *
 * @param kills in the order of their shares
 */
record KillPlan(List<Kill> kills) {
    /** Before that the tiers hold little, and a kill finds nothing to lose. */
    static final double FIRST = 0.2;

    /** A part that is killed later might be back only after the run. */
    static final double LAST = 0.8;

    /**
     * A part and the moment of its death.
     *
     * @param share of the run's requests that have ended then, {@value #FIRST} to {@value #LAST}
     * @param part name of the part
     */
    record Kill(double share, String part) {}

    KillPlan {
        kills = List.copyOf(kills);
    }

    /**
     * Spreads kills evenly at random over a run.
     *
     * @param seed the same one gives the same shares
     * @param times how often each part is killed, 0 or more
     */
    static KillPlan over(long seed, Map<String, Integer> times) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Kill> kills = new ArrayList<>();
        times.forEach((part, count) -> {
            for (int i = 0; i < count; i++) {
                kills.add(new Kill(FIRST + (LAST - FIRST) * random.nextDouble(), part));
            }
        });
        kills.sort(Comparator.comparingDouble(Kill::share));
        return new KillPlan(kills);
    }

    boolean isEmpty() {
        return kills.isEmpty();
    }
}
