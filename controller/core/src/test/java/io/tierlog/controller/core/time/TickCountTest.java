/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A tick counts once an interval, also when two clocks send it; nodes that do not report for three ticks are lost. */
class TickCountTest {
    private final World w = new World();

    private void tick(String clock, long sequence, long timeMs) {
        w.input(new Tick(new Envelope("clock/0", "clock/0/" + clock, 0, sequence, 0, timeMs, null, null, null), timeMs, 1_000));
    }

    private long ticks() {
        return Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).ticks();
    }

    @Test
    void twoOwnersOfAClockDoNotMakeANodeLookSilent() {
        tick("a", 1, 1_000);
        w.register("n", 10);
        for (int i = 2; i <= 4; i++) {
            tick("a", i, i * 1_000L);
            tick("b", i, i * 1_000L + 300);
            assertEquals("TimeAdvanced", w.factNames());
        }
        assertEquals(4, ticks());
        assertEquals(4_300, w.fact(TimeAdvanced.class).logTimeMs(), "time goes on with both");
        tick("b", 5, 5_200);
        assertEquals("TimeAdvanced NodeEnded SweepAdvanced", w.factNames(), "the fourth tick without an event");
    }

    @Test
    void aTickThatIsAppendedTwiceCountsOnce() {
        tick("a", 1, 1_000);
        tick("a", 2, 2_000);
        tick("a", 3, 3_000);
        tick("a", 2, 2_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        tick("a", 3, 3_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(3, ticks());
    }

    /** The clock of the machine is adjusted by little: at most one tick does not count. */
    @Test
    void ticksThatAreALittleEarlyOrLateCount() {
        long[] times = {1_000, 1_990, 3_000, 3_990, 5_010, 5_990, 7_000};
        for (int i = 0; i < times.length; i++) {
            tick("a", i + 1, times[i]);
        }
        assertEquals(6, ticks());
    }

    @Test
    void aClockThatIsSetBackGoesOnCounting() {
        tick("a", 1, 100_000);
        tick("a", 2, 101_000);
        tick("a", 3, 42_000);
        tick("a", 4, 43_000);
        assertEquals(4, ticks());
        assertEquals(101_000, w.fact(TimeAdvanced.class).logTimeMs());
    }

    /** One that is behind takes over once the other one has stopped. */
    @Test
    void aClockThatIsBehindTakesOver() {
        tick("ahead", 1, 100_000);
        for (int i = 1; i <= 2; i++) {
            tick("behind", i, 50_000 + i * 1_000L);
        }
        assertEquals(1, ticks());
        tick("ahead", 2, 101_000);
        for (int i = 3; i <= 4; i++) {
            tick("behind", i, 50_000 + i * 1_000L);
        }
        assertEquals(2, ticks());
        tick("behind", 5, 55_000);
        tick("behind", 6, 56_000);
        assertEquals(4, ticks());
    }

    /** Clocks that end after a tick or two each, as where ticks are lost: none of them has ticked three times in a row. */
    @Test
    void clocksThatEndSoonDoNotTakeOverTogether() {
        tick("a", 1, 100_000);
        tick("b", 1, 99_000);
        tick("c", 1, 99_400);
        tick("d", 1, 100_100);
        tick("d", 2, 100_400);
        assertEquals(1, ticks());
        tick("e", 1, 100_600);
        tick("d", 3, 100_800);
        assertEquals(1, ticks());
        tick("d", 4, 100_900);
        tick("d", 5, 100_950);
        assertEquals(2, ticks());
    }

    @Test
    void aRepeatedTickDoesNotHelpAClockToTakeOver() {
        tick("ahead", 1, 100_000);
        tick("behind", 1, 51_000);
        tick("behind", 2, 52_000);
        tick("behind", 2, 52_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        tick("behind", 1, 51_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(1, ticks());
        tick("behind", 3, 53_000);
        assertEquals(2, ticks());
    }

    /** It has ended ahead of the one that counts now, so it would take over at once. */
    @Test
    void aRepeatedTickOfTheClockThatCountedBeforeDoesNotCount() {
        tick("ahead", 1, 100_000);
        tick("ahead", 2, 101_000);
        for (int i = 1; i <= 3; i++) {
            tick("behind", i, 50_000 + i * 1_000L);
        }
        assertEquals(3, ticks());
        tick("ahead", 1, 100_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        tick("behind", 4, 54_000);
        tick("ahead", 2, 101_000);
        World.assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(4, ticks());
    }

    /** Its agent sends heartbeats as its session allows: those of three ticks come after a whole one of a single tick. */
    @Test
    void aShorterSessionHoldsFromTheNextRegistrationOn() {
        tick("a", 1, 1_000);
        w.register("n", 10);
        w.policy(new Policy(2, World.POLICY.writePolicy(), 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 1, true, null, null));
        for (int i = 2; i <= 4; i++) {
            tick("a", i, i * 1_000L);
            assertEquals("TimeAdvanced", w.factNames());
        }
        tick("a", 5, 5_000);
        assertEquals("TimeAdvanced NodeEnded SweepAdvanced", w.factNames());
    }

    /** An agent is given the node session in milliseconds: three ticks of a second. */
    @Test
    void theSessionIsKnownOnceAClockHasTicked() {
        Agent before = w.register("before", 10);
        assertEquals(null, w.fact(AgentAccepted.class).sessionMs());
        tick("a", 1, 1_000);
        w.register(new Agent("n", "n-1", 10));
        assertEquals(3_000, w.fact(AgentAccepted.class).sessionMs());
        assertEquals(1, w.node(before).incarnation());
    }

    /** Only a partition without a living node, and without a timer that is due, may go without a tick. */
    @Test
    void onlyWhereNothingLivesATickMayBeLeftOut() {
        assertFalse(Ticks.isQuiet(w.tables, 0, 1_000), "no clock has ticked yet");
        assertFalse(Ticks.areNodesGone(w.tables, 0), "no clock has ticked yet");
        tick("a", 1, 1_000);
        assertTrue(Ticks.isQuiet(w.tables, 0, 2_000));
        Agent n = w.register("n", 10);
        assertFalse(Ticks.isQuiet(w.tables, 0, 2_000), "each tick counts for the node");
        assertFalse(Ticks.areNodesGone(w.tables, 0));
        w.input(n.stopping());
        assertTrue(Ticks.isQuiet(w.tables, 0, 2_000));
        assertTrue(Ticks.areNodesGone(w.tables, 0));
    }
}
