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
 * ahead, which it is as soon as the first one has stopped, or when it has ticked {@value #TAKEOVER} times in a row: the first one was ahead, and has
 * stopped. A clock that is set back goes on counting.
 */
public final class TickCounters {
    private static final int TAKEOVER = 3;

    private TickCounters() {}

    /** Whether the tick was taken before: its clock has ticked since. */
    public static boolean isRepeated(@Nullable TickCounter counter, Tick e) {
        return counter != null && isOf(counter, e) && e.envelope().sequence() > 0 && e.envelope().sequence() <= counter.sequence();
    }

    /** Whether the tick counts. */
    public static boolean counts(@Nullable TickCounter counter, Tick e) {
        Integer intervalMs = e.intervalMs();
        if (counter == null || intervalMs == null || intervalMs < 1) {
            return true;
        }
        long sinceMs = e.timeMs() - counter.countedMs();
        return sinceMs >= intervalMs || (isOf(counter, e) ? sinceMs < 0 : counter.others() + 1 >= TAKEOVER);
    }

    /** How ticks are counted after {@code e}; null when each one counts. */
    public static @Nullable TickCounter after(@Nullable TickCounter counter, Tick e) {
        Integer intervalMs = e.intervalMs();
        if (intervalMs == null || intervalMs < 1) {
            return null;
        }
        long sequence = e.envelope().sequence();
        if (counter != null && !counts(counter, e)) {
            boolean own = isOf(counter, e);
            return new TickCounter(counter.clock(), own ? sequence : counter.sequence(), counter.countedMs(), counter.intervalMs(),
                    own ? 0 : counter.others() + 1);
        }
        // A tick that is a little early, and so does not count, does not make the next ones early; after a pause the count begins again.
        long nextMs = counter == null ? e.timeMs() : counter.countedMs() + intervalMs;
        boolean inStep = nextMs <= e.timeMs() && e.timeMs() - nextMs < 2L * intervalMs;
        return new TickCounter(e.envelope().sender(), sequence, inStep ? nextMs : e.timeMs(), intervalMs, 0);
    }

    private static boolean isOf(TickCounter counter, Tick e) {
        return counter.clock().equals(e.envelope().sender());
    }
}
