/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.probe.ProbeSink.Probe;
import io.tierlog.controller.directory.probe.WaitingProbes.Waiting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Ten probes with 100 keys together may wait. */
class WaitingProbesTest {
    private final WaitingProbes waiting = new WaitingProbes(10, 100);

    private static Waiting probe(String caller, int keys) {
        return new Waiting(new Probe(caller, "model/a", new byte[keys * 16], 16, 0), List.of());
    }

    private static String names(List<Waiting> probes) {
        return probes.stream().map(each -> each.probe().caller() + each.keys()).collect(Collectors.joining(" "));
    }

    private String drained() {
        List<Waiting> all = new ArrayList<>();
        for (var next = waiting.next(); next.isPresent(); next = waiting.next()) {
            all.add(next.get());
            waiting.done(next.get());
        }
        return names(all);
    }

    @Test
    void oneCallerMayUseAllOfIt() {
        for (int i = 0; i < 10; i++) {
            assertEquals("", names(waiting.add(probe("a", 10))));
        }
        assertEquals("a1", names(waiting.add(probe("a", 1))), "it is dropped itself");
        assertEquals("a10 a10 a10 a10 a10 a10 a10 a10 a10 a10", drained());
        assertEquals("", names(waiting.add(probe("a", 100))), "its place is free again");
    }

    @Test
    void aFullQueueTakesFromTheCallerWithTheMostKeys() {
        waiting.add(probe("flood", 60));
        waiting.add(probe("flood", 30));
        waiting.add(probe("b", 10));
        assertEquals("flood30", names(waiting.add(probe("c", 5))));
        assertEquals("", names(waiting.add(probe("c", 20))));
        assertEquals("c50", names(waiting.add(probe("c", 50))), "75 keys would be more than the flood has");
        assertEquals("flood60", names(waiting.add(probe("b", 20))));
    }

    /** 10 of 10: the flood has small probes, so only their number is in the way. */
    @Test
    void aFullQueueOfSmallProbesTakesFromIt() {
        for (int i = 0; i < 10; i++) {
            waiting.add(probe("flood", 2));
        }
        assertEquals("flood2", names(waiting.add(probe("b", 3))));
        assertEquals("flood2", names(waiting.add(probe("b", 3))));
        assertEquals("b30", names(waiting.add(probe("b", 30))), "it would have more than the flood");
    }

    /** b begins at 30, where the probe ends that is looked at. The flood is at 30 too, and has more keys: b, the flood, b, the flood. */
    @Test
    void callersTakeTurnsByTheirKeys() {
        waiting.add(probe("flood", 30));
        waiting.add(probe("flood", 30));
        waiting.add(probe("flood", 30));
        Waiting first = waiting.next().orElseThrow();
        waiting.add(probe("b", 5));
        waiting.add(probe("b", 5));
        waiting.done(first);
        assertEquals("b5 flood30 b5 flood30", drained());
    }

    /** Two probes of a are looked at, so both are at 20, and a has fewer keys left. With credit all of b came first. */
    @Test
    void aCallerThatPausedHasNoCredit() {
        for (int i = 0; i < 3; i++) {
            waiting.add(probe("a", 10));
        }
        waiting.next().ifPresent(waiting::done);
        waiting.next().ifPresent(waiting::done);
        for (int i = 0; i < 4; i++) {
            waiting.add(probe("b", 6));
        }
        assertEquals("a10 b6 b6 b6 b6", drained());
    }

    /** b has one probe of 30 keys at each turn, and a has three of 30: a is next at least every second time. */
    @Test
    void aCallerThatComesBackAtEachTurnTakesNoTurnOfOthers() {
        for (int i = 0; i < 3; i++) {
            waiting.add(probe("a", 30));
        }
        List<Waiting> first = new ArrayList<>();
        waiting.next().ifPresent(waiting::done);
        for (int turn = 0; turn < 4; turn++) {
            waiting.add(probe("b", 30));
            Waiting next = waiting.next().orElseThrow();
            waiting.done(next);
            first.add(next);
        }
        assertEquals(2, first.stream().filter(each -> each.probe().caller().equals("a")).count(), () -> names(first));
    }

    /** A new caller with 20 keys at each turn: two probes of a at least are among the next six. */
    @Test
    void newCallersWithoutEndDoNotStopTheOthers() {
        for (int i = 0; i < 3; i++) {
            waiting.add(probe("a", 20));
        }
        int ofA = 0;
        for (int turn = 0; turn < 6; turn++) {
            waiting.add(probe("new" + turn, 20));
            Waiting next = waiting.next().orElseThrow();
            waiting.done(next);
            ofA += next.probe().caller().equals("a") ? 1 : 0;
        }
        assertTrue(ofA >= 2, "a had " + ofA + " turns");
    }

    /** Keys that are looked at keep their place: the memory of what waits and of what is looked at is bounded. */
    @Test
    void whatIsLookedAtKeepsItsPlace() {
        waiting.add(probe("a", 90));
        Waiting first = waiting.next().orElseThrow();
        assertEquals("b20", names(waiting.add(probe("b", 20))));
        waiting.done(first);
        assertEquals("", names(waiting.add(probe("b", 20))));
    }

    /** A caller that probes 50 times as much as each of three others: what these lose is nothing, as long as they ask for less than a quarter. */
    @Test
    void aFloodCostsTheOthersNothing() {
        SplittableRandom random = new SplittableRandom(5);
        Map<String, Integer> lost = new HashMap<>();
        for (int turn = 0; turn < 10_000; turn++) {
            for (int i = 0; i < 5; i++) {
                waiting.add(probe("flood", random.nextInt(1, 30))).forEach(each -> lost.merge(each.probe().caller(), each.keys(), Integer::sum));
            }
            String other = "other" + turn % 3;
            waiting.add(probe(other, random.nextInt(1, 5))).forEach(each -> lost.merge(each.probe().caller(), each.keys(), Integer::sum));
            for (int i = 0; i < 2; i++) {
                waiting.next().ifPresent(waiting::done);
            }
        }
        assertEquals(List.of("flood"), List.copyOf(lost.keySet()));
        assertTrue(lost.get("flood") > 100_000, () -> lost.toString());
    }
}
