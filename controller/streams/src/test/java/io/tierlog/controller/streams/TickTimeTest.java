/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A tick a second, with wall clocks that are set by hours. */
class TickTimeTest {
    private static final long NOON = 1_000_000_000L;
    private static final long FIVE_HOURS = TimeUnit.HOURS.toMillis(5);

    private final TickTime time = new TickTime();
    private long seconds;
    private long last;

    /** A second passes; log time is that of the tick before. */
    private long after(long wallMs) {
        last = time.next(wallMs, TimeUnit.SECONDS.toNanos(++seconds), last);
        return last;
    }

    @Test
    void itIsTheWallClockWhileThatGoesAtItsPace() {
        for (int i = 0; i < 10; i++) {
            assertEquals(NOON + i * 1_000, after(NOON + i * 1_000));
        }
        assertEquals(NOON + 10_400, after(NOON + 10_400), "small steps are taken as they are");
    }

    @Test
    void aClockThatIsSetForwardIsFollowedAtTwiceThePace() {
        assertEquals(NOON, after(NOON));
        assertEquals(NOON + 2_000, after(NOON + FIVE_HOURS));
        assertEquals(NOON + 4_000, after(NOON + FIVE_HOURS + 1_000));
        assertEquals(NOON + 4_500, after(NOON + 3_000), "and is set back soon: half the pace from there");
    }

    @Test
    void aClockThatIsSetBackDoesNotStopLogTime() {
        assertEquals(NOON, after(NOON));
        assertEquals(NOON + 500, after(NOON - FIVE_HOURS));
        assertEquals(NOON + 1_000, after(NOON - FIVE_HOURS + 1_000));
        assertEquals(NOON + 2_000, after(NOON + 2_000), "set right, it is the wall clock again");
    }

    @Test
    void anInstanceBeginsAtLogTimeOrWhereTheWallClockIs() {
        assertEquals(NOON + 1, time.next(NOON - FIVE_HOURS, 0, NOON));
        assertEquals(NOON + 501, time.next(NOON - FIVE_HOURS, TimeUnit.SECONDS.toNanos(1), NOON + 1));
        assertEquals(NOON + FIVE_HOURS, new TickTime().next(NOON + FIVE_HOURS, 0, NOON), "no controller ran for five hours");
    }

    /** A tick of another clock that was far ahead, or forged, does not stop the time for as long. */
    @Test
    void logTimeThatIsFarAheadGoesOn() {
        assertEquals(NOON, after(NOON));
        last = NOON + FIVE_HOURS;
        assertEquals(NOON + FIVE_HOURS + 500, after(NOON + 1_000));
    }
}
