/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The answers to one stretch of load, and their times from the moment at which each request should have been sent: a sender that falls behind makes
 * the numbers worse, not fewer. Safe for use by several threads.
 *
 * <pre>
 * number    first ... first + warmUp ... first + count
 *           |  counted, not timed  |  counted and timed  |
 * </pre>
 */
final class Arrivals {
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(2);
    private static final int DIGITS = 3;

    private final Stretch stretch;
    private final Histogram micros = new Histogram(LONGEST_MICROS, DIGITS);
    private final BitSet seen = new BitSet();
    private long startNanos;
    private int repeats;
    private int foreign;

    /**
     * The requests of a stretch, and their times.
     *
     * @param first number of the first
     * @param warmUp how many of them are not timed
     * @param count how many there are, the warm-up included
     * @param periodNanos distance between two of them
     */
    record Stretch(long first, int warmUp, int count, long periodNanos) {}

    Arrivals(Stretch stretch) {
        this.stretch = stretch;
    }

    Stretch stretch() {
        return stretch;
    }

    /** The load begins now. */
    synchronized void begin(long nowNanos) {
        startNanos = nowNanos;
    }

    /** When the request with this index should be sent. */
    synchronized long dueNanos(int index) {
        return startNanos + index * stretch.periodNanos();
    }

    /** The answer to the request with this number has arrived. */
    synchronized void arrived(long number, long nowNanos) {
        long index = number - stretch.first();
        if (index < 0 || index >= stretch.count()) {
            foreign++;
            return;
        }
        int at = Math.toIntExact(index);
        if (seen.get(at)) {
            repeats++;
            return;
        }
        seen.set(at);
        if (at >= stretch.warmUp()) {
            long taken = TimeUnit.NANOSECONDS.toMicros(nowNanos - startNanos - at * stretch.periodNanos());
            micros.recordValue(Math.clamp(taken, 1, LONGEST_MICROS));
        }
        if (isComplete()) {
            notifyAll();
        }
    }

    private boolean isComplete() {
        return seen.cardinality() == stretch.count();
    }

    /** Waits until every request was answered, at most so long. */
    synchronized void await(long timeoutMs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!isComplete()) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (leftMs <= 0) {
                return;
            }
            wait(leftMs);
        }
    }

    /** A copy of the times, in microseconds. */
    synchronized Histogram micros() {
        return micros.copy();
    }

    /** The requests and answers so far. */
    synchronized Count count() {
        int answered = seen.cardinality();
        return new Count(stretch.count(), answered, stretch.count() - answered, repeats, foreign);
    }

    /**
     * Requests and answers.
     *
     * @param sent requests
     * @param answered those with an answer
     * @param missing those without one
     * @param repeated further answers to an answered one
     * @param foreign answers to requests that were not sent here
     */
    record Count(long sent, long answered, long missing, long repeated, long foreign) {
        static final Count NONE = new Count(0, 0, 0, 0, 0);

        Count plus(Count other) {
            return new Count(
                    sent + other.sent,
                    answered + other.answered,
                    missing + other.missing,
                    repeated + other.repeated,
                    foreign + other.foreign);
        }

        boolean isClean() {
            return sent == answered && missing == 0 && repeated == 0 && foreign == 0;
        }
    }
}
