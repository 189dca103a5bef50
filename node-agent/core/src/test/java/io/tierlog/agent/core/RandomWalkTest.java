/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A core between an engine, a controller and ports that do anything that is allowed, and much that goes wrong: duplicates, late and lost
 * commands and completions, failures, unknown outcomes, rotten pages, engines that vanish, time that jumps. After every step all tables are
 * checked; at rest nothing is pinned.
 *
 * <p>One walk again: {@code mvn -pl node-agent/core test -Dtest=RandomWalkTest -Dtierlog.seed=N}.
 */
class RandomWalkTest {
    private static final int WALKS = 150;
    private static final int STEPS = 1_500;

    @Test
    void anyWalkKeepsThePromises() {
        Long only = Long.getLong("tierlog.seed");
        Map<AgentCounter, Long> seen = new EnumMap<>(AgentCounter.class);
        LongStream seeds = only == null ? LongStream.range(0, WALKS) : LongStream.of(only);
        seeds.forEach(seed -> {
            try {
                RandomWalk walk = new RandomWalk(seed);
                walk.run(STEPS);
                walk.world.core.status().counters().forEach((counter, count) -> seen.merge(counter, count, Long::sum));
            } catch (AssertionError | RuntimeException e) {
                fail("seed " + seed + ": mvn -pl node-agent/core test -Dtest=RandomWalkTest -Dtierlog.seed=" + seed, e);
            }
        });
        if (only == null) {
            for (AgentCounter counter : AgentCounter.values()) {
                assertNotEquals(0, seen.getOrDefault(counter, 0L), () -> "never happened: " + counter);
            }
        }
    }

    @Test
    void theSameInputsHaveTheSameEffects() {
        RandomWalk one = new RandomWalk(42);
        RandomWalk two = new RandomWalk(42);
        one.run(STEPS);
        two.run(STEPS);
        assertEquals(one.world.heard.events, two.world.heard.events);
        assertEquals(one.world.heard.notices, two.world.heard.notices);
        assertEquals(one.world.heard.replies, two.world.heard.replies);
    }
}
