/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/** How many records a reader could have read, over the last two minutes. Safe for use by several threads. */
final class Timeline {
    private static final long KEPT_MS = 120_000;
    private static final long STEP_MS = 5;

    private final Deque<Point> points = new ArrayDeque<>();

    private record Point(long atMs, long records) {}

    /**
     * How far a reader is behind.
     *
     * @param records that it could have read and has not
     * @param ms age of the first of them; 0 when there is none
     */
    record Lag(long records, long ms) {}

    /** So many records can be read from now on. */
    synchronized void note(long atMs, long records) {
        Point last = points.peekLast();
        if (last != null && last.records == records) {
            return;
        }
        // Within a step only the last count is kept, at the first time: a lag is never too small by it.
        if (last != null && atMs - last.atMs < STEP_MS) {
            points.removeLast();
            points.addLast(new Point(last.atMs, records));
            return;
        }
        points.addLast(new Point(atMs, records));
        while (points.getFirst().atMs < atMs - KEPT_MS) {
            points.removeFirst();
        }
    }

    /** The lag at a time of a reader that had read so many. */
    synchronized Lag of(long atMs, long read) {
        long present = 0;
        long firstMissed = -1;
        for (Iterator<Point> later = points.iterator(); later.hasNext(); ) {
            Point point = later.next();
            if (point.atMs > atMs) {
                break;
            }
            present = point.records;
            if (firstMissed < 0 && present > read) {
                firstMissed = point.atMs;
            }
        }
        return firstMissed < 0 ? new Lag(0, 0) : new Lag(present - read, atMs - firstMissed);
    }
}
