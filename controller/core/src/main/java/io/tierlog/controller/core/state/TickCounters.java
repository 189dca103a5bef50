/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.TickCounter;
import io.tierlog.schemas.event.Tick;
import org.jspecify.annotations.Nullable;

/**
 * Which ticks count. Silence is measured in ticks, so that a pause of the controller ends no node; then two clocks that tick, or a tick that is
 * appended twice, must not make a node look silent. Without state.
 *
 * <p>One clock counts, at most once in each of its intervals on average, and two more after a pause. Another one takes over when it is an interval
 * ahead, which it is as soon as the first one has stopped, or when it alone has ticked {@value #TAKEOVER} times in a row: the first one was ahead,
 * and has stopped. A clock that is set back goes on counting.
 */
public final class TickCounters {
    private static final int TAKEOVER = 3;

    private TickCounters() {}

    /** Whether the tick was taken before: its clock has ticked since. Known of the clock that counts, and of the other one that ticked last. */
    public static boolean isRepeated(@Nullable TickCounter counter, Tick e) {
        long sequence = e.envelope().sequence();
        return counter != null && sequence > 0
                && (isOf(counter, e) ? sequence <= counter.sequence() : isOther(counter, e) && sequence <= counter.otherSequence());
    }

    /** Whether the tick counts. */
    public static boolean counts(@Nullable TickCounter counter, Tick e) {
        Integer intervalMs = e.intervalMs();
        if (counter == null || intervalMs == null || intervalMs < 1) {
            return true;
        }
        long sinceMs = e.timeMs() - counter.countedMs();
        return sinceMs >= intervalMs || (isOf(counter, e) ? sinceMs < 0 : inARow(counter, e) >= TAKEOVER);
    }

    /** How ticks are counted after {@code e}; null when each one counts. */
    public static @Nullable TickCounter after(@Nullable TickCounter counter, Tick e) {
        Integer intervalMs = e.intervalMs();
        if (intervalMs == null || intervalMs < 1) {
            return null;
        }
        String clock = e.envelope().sender();
        long sequence = e.envelope().sequence();
        if (counter != null && !counts(counter, e)) {
            return isOf(counter, e)
                    ? new TickCounter(clock, sequence, counter.countedMs(), counter.intervalMs(), 0, counter.other(), counter.otherSequence())
                    : new TickCounter(counter.clock(), counter.sequence(), counter.countedMs(), counter.intervalMs(), inARow(counter, e), clock,
                            sequence);
        }
        // A tick that is a little early, and so does not count, does not make the next ones early; after a pause the count begins again.
        long nextMs = counter == null ? e.timeMs() : counter.countedMs() + intervalMs;
        long countedMs = nextMs <= e.timeMs() && e.timeMs() - nextMs < 2L * intervalMs ? nextMs : e.timeMs();
        if (counter == null) {
            return new TickCounter(clock, sequence, countedMs, intervalMs, 0, "", 0);
        }
        // The one that another took over from is remembered, so that a repeated tick of it does not count.
        boolean own = isOf(counter, e);
        return new TickCounter(clock, sequence, countedMs, intervalMs, 0, own ? counter.other() : counter.clock(),
                own ? counter.otherSequence() : counter.sequence());
    }

    private static int inARow(TickCounter counter, Tick e) {
        return isOther(counter, e) ? counter.others() + 1 : 1;
    }

    private static boolean isOf(TickCounter counter, Tick e) {
        return counter.clock().equals(e.envelope().sender());
    }

    private static boolean isOther(TickCounter counter, Tick e) {
        return counter.other().equals(e.envelope().sender());
    }
}
