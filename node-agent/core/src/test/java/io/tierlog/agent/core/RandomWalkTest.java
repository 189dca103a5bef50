/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.tierlog.agent.core.api.AgentCounter;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A core between an engine, a controller and ports that do anything that is allowed, and much that goes wrong: duplicates, late and lost
 * commands and completions, failures, unknown outcomes, rotten pages, a disk that lies, tears and fills, engines that vanish, time that jumps,
 * kills after which the next process finds the disk as it was left. After every step all tables are checked, and the disk's against what the log
 * has; at rest no pin is left.
 *
 * <p>One walk again: {@code mvn -pl node-agent/core test -Dtest=RandomWalkTest -Dtierlog.seed=N}.
 */
class RandomWalkTest {
    private static final int WALKS = 180;
    private static final int STEPS = 1_500;
    private static final int LIVES = 3;

    /** The walk has one node, and no shard; PeerCasesTest and DeleteCasesTest have the others, and the simulation. */
    private static final EnumSet<AgentCounter> OF_OTHERS = EnumSet.of(AgentCounter.DELETED_OBJECTS, AgentCounter.FETCHED_FROM_PEERS,
            AgentCounter.PEER_READS_FALLEN_BACK, AgentCounter.FINDS_UNANSWERED, AgentCounter.SENT_BLOCKS, AgentCounter.PEER_READS_RETRIED);

    @Test
    void anyWalkKeepsThePromises() {
        Long only = Long.getLong("tierlog.seed");
        Map<AgentCounter, Long> seen = new EnumMap<>(AgentCounter.class);
        LongStream seeds = only == null ? LongStream.range(0, WALKS) : LongStream.range(only, only + Long.getLong("tierlog.seeds", 1));
        seeds.forEach(seed -> {
            try {
                RandomWalk walk = new RandomWalk(seed);
                for (int life = 1; life < LIVES; life++) {
                    RandomWalk next = walk.killedAfter(STEPS / LIVES);
                    count(walk, seen);
                    walk = next;
                }
                walk.run(STEPS);
                count(walk, seen);
            } catch (AssertionError | RuntimeException e) {
                fail("seed " + seed + ": mvn -pl node-agent/core test -Dtest=RandomWalkTest -Dtierlog.seed=" + seed, e);
            }
        });
        if (only == null) {
            for (AgentCounter counter : EnumSet.complementOf(OF_OTHERS)) {
                assertNotEquals(0, seen.getOrDefault(counter, 0L), () -> "never happened: " + counter);
            }
        }
    }

    private static void count(RandomWalk walk, Map<AgentCounter, Long> seen) {
        walk.world.core.status().counters().forEach((counter, count) -> seen.merge(counter, count, Long::sum));
    }

    @Test
    void theSameInputsHaveTheSameEffects() {
        RandomWalk one = new RandomWalk(42).killedAfter(STEPS);
        RandomWalk two = new RandomWalk(42).killedAfter(STEPS);
        one.run(STEPS);
        two.run(STEPS);
        assertEquals(one.world.seen.events, two.world.seen.events);
        assertEquals(one.world.seen.notices, two.world.seen.notices);
        assertEquals(one.world.seen.replies, two.world.seen.replies);
    }
}
