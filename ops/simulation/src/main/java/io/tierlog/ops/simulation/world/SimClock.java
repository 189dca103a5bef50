/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;
import java.util.function.Consumer;

/**
 * The clocks of the partitions, as the shell has them: a clock is a sender of its own that counts from 1, and a tick of unknown outcome ends it, so
 * that no number is used twice. For one thread.
 */
final class SimClock {
    private final int partitions;
    private final Consumer<Tick> log;
    private long skewMs;
    /** How far another owner of the partitions is ahead, who ticks too; 0 when there is none. */
    private long secondMs;
    private int names;
    private long ticks;

    SimClock(int partitions, Consumer<Tick> log) {
        this.partitions = partitions;
        this.log = log;
    }

    /** The machine that appends ticks is wrong by so much. */
    void skew(long ms) {
        skewMs = ms;
    }

    /** Says what time it is, to every partition. */
    void tick(long rightMs) {
        ticks++;
        append(Integer.toString(names), rightMs + skewMs);
        if (secondMs != 0) {
            append(names + "b", rightMs + skewMs + secondMs);
        }
    }

    private void append(String name, long timeMs) {
        for (int p = 0; p < partitions; p++) {
            String clock = "clock/" + p;
            log.accept(new Tick(new Envelope(clock, clock + "/" + name, 0, ticks, 0, timeMs, null, null, null), timeMs, (int) World.TICK_MS));
        }
    }

    /**
     * The transaction of a tick aborts, its outcome is unknown: other clocks go on. Every other time two instances then believe that they own the
     * partitions, and both tick.
     */
    void lose(long rightMs, boolean arrives) {
        if (arrives) {
            tick(rightMs);
        }
        names++;
        ticks = 0;
        secondMs = secondMs != 0 ? 0 : arrives ? 400 : -400;
    }
}
