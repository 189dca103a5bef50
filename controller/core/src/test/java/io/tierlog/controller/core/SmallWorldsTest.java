/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.SmallWorld.Side;
import io.tierlog.controller.core.api.Limits;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every world that a few inputs can lead to, in every order, with nothing left to chance: {@link SmallWorldRules} hold after each step, and from
 * the worlds nearer to the start everything comes to rest. Worlds that are the same up to renaming are gone on from once.
 */
@Tag("slow")
class SmallWorldsTest {
    private final Core core = new Core(Limits.DEFAULTS);
    private final SmallWorldRules rules = new SmallWorldRules(core);

    /**
     * The start is what has happened already; it leads to a few worlds more than stated, so that a start that has lost its subject shows. Worlds
     * after the last input are checked like the others, but not told apart: nothing follows them.
     */
    @ParameterizedTest(name = "from \"{0}\": {1} inputs more lead to {3} different worlds before the last one, and {4} steps, and some")
    @CsvSource({
        // No node is registered.
        "'', 6, 5, 5800, 92000",
        // Both nodes live and have nothing.
        "a.START b.START, 5, 4, 10500, 235000",
        // On both a fetch runs.
        "a.START b.START a.SUBMIT b.SUBMIT, 4, 3, 6200, 170000",
        // On one a fetch has arrived for a request that waits, on the other a write-back is under way.
        "a.START b.START a.SUBMIT a.DONE b.ANSWER b.SEALED b.FINISHED, 4, 3, 3900, 112000",
        // Both blocks are on the host of one, and a drop of the deeper one runs; the other node has gone.
        "a.START b.START a.SUBMIT a.DONE a.FINISHED b.STOPPING, 4, 3, 1400, 36000",
    })
    void everyWorldKeepsTheRules(String start, int depth, int restDepth, int worlds, int steps) {
        Set<String> seen = new HashSet<>();
        List<SmallWorld> frontier = List.of(start(start));
        long taken = 0;
        for (int i = 1; i < depth; i++) {
            List<SmallWorld> next = frontier.parallelStream().flatMap(this::successors).peek(rules::check).toList();
            taken += next.size();
            frontier = distinct(next, seen);
            if (i <= restDepth) {
                frontier.parallelStream().forEach(rules::comesToRest);
            }
        }
        long all = taken + frontier.parallelStream().mapToLong(this::checkedSuccessors).sum();
        assertTrue(seen.size() >= worlds, () -> seen.size() + " worlds");
        assertTrue(all >= steps, () -> all + " steps");
    }

    private long checkedSuccessors(SmallWorld world) {
        List<SmallWorld> next = successors(world).toList();
        next.forEach(rules::check);
        return next.size();
    }

    /** Those of {@code worlds} that are seen for the first time, one of each kind. */
    private static List<SmallWorld> distinct(List<SmallWorld> worlds, Set<String> seen) {
        List<String> keys = worlds.parallelStream().map(SmallWorldKey::of).toList();
        List<SmallWorld> fresh = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            if (seen.add(keys.get(i))) {
                fresh.add(worlds.get(i));
            }
        }
        return fresh;
    }

    private Stream<SmallWorld> successors(SmallWorld world) {
        Stream.Builder<SmallWorld> next = Stream.builder();
        next.add(world.tick(core));
        for (Side side : world.sides()) {
            for (SmallMove move : SmallMove.values()) {
                SmallWorld after = move.play(core, world, side);
                if (after != null) {
                    next.add(after);
                }
            }
        }
        return next.build();
    }

    private SmallWorld start(String moves) {
        SmallWorld world = SmallWorld.empty();
        for (String move : moves.isEmpty() ? new String[0] : moves.split(" ")) {
            world = play(world, move);
            rules.check(world);
        }
        return world;
    }

    private SmallWorld play(SmallWorld world, String move) {
        Side side = move.startsWith("a") ? world.a() : world.b();
        return Objects.requireNonNull(SmallMove.valueOf(move.substring(2)).play(core, world, side), move);
    }

    /** The moves are worth the time: each kind of fact that two tiers and no disk can bring about occurs within three moves of some start. */
    @Test
    void theAlphabetIsVaried() {
        Map<String, Integer> facts = new TreeMap<>();
        List<SmallWorld> frontier = List.of(start("a.START b.START a.SUBMIT b.ANSWER b.SEALED"), start("a.START a.SUBMIT a.DONE"));
        for (int i = 0; i < 3; i++) {
            frontier = distinct(frontier.stream().flatMap(this::successors).toList(), new HashSet<>());
            frontier.stream().map(SmallWorld::decided).filter(Objects::nonNull).flatMap(d -> d.facts().stream())
                    .forEach(fact -> facts.merge(fact.getClass().getSimpleName(), 1, Integer::sum));
        }
        assertEquals("""
                AgentAccepted AgentRefused BlocksPlaced BlocksRemoved BlocksTouched InputApplied InputRefused LeaseEnded LeaseHeld LeaseRequested \
                NodeEnded OperationEnded OperationIssued OperationOverdue OrphanAdopted RequestAdmitted RequestTransitioned SealedNoted \
                SweepAdvanced TimeAdvanced WaterLevelCrossed WaterLevelRelieved""", String.join(" ", facts.keySet()));
    }

    /** Renaming is sound where it matters: worlds that differ in an order, or in who has a block, stay different. */
    @Test
    void differentWorldsHaveDifferentHashes() {
        SmallWorld one = start("a.START b.START");
        assertEquals(SmallWorldKey.of(one), SmallWorldKey.of(start("b.START a.START")));
        assertNotEquals(SmallWorldKey.of(one), SmallWorldKey.of(start("a.START")));
        assertNotEquals(SmallWorldKey.of(start("a.START")), SmallWorldKey.of(start("b.START")));
        SmallWorld begun = start("a.START b.START a.SUBMIT b.SUBMIT");
        assertEquals(SmallWorldKey.of(begun), SmallWorldKey.of(start("a.START b.START b.SUBMIT a.SUBMIT")));
        assertNotEquals(SmallWorldKey.of(play(begun, "a.DONE")), SmallWorldKey.of(play(begun, "b.DONE")));
        assertNotEquals(SmallWorldKey.of(play(begun, "a.DONE")), SmallWorldKey.of(play(begun, "a.PART")));
        assertNotEquals(SmallWorldKey.of(play(begun, "a.LOST")), SmallWorldKey.of(begun));
    }
}
