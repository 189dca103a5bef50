/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Time that passes from one thing that happens to the next. What happens at the same time happens in the order in which it was planned. */
final class VirtualTime {
    static final long MICROS_IN_MS = 1_000;

    private final PriorityQueue<Due> due = new PriorityQueue<>(Comparator.comparingLong(Due::atMicros).thenComparingLong(Due::number));
    private long nowMicros;
    private long firstRequestMicros = Long.MAX_VALUE;
    private long planned;

    private record Due(long atMicros, long number, Runnable what) {}

    long nowMicros() {
        return nowMicros;
    }

    long nowMs() {
        return nowMicros / MICROS_IN_MS;
    }

    /** A request is here: the first one is what {@link #runMs} counts from. */
    void requested() {
        firstRequestMicros = Math.min(firstRequestMicros, nowMicros);
    }

    /** Since the first request, in milliseconds; -1 before it. */
    long runMs() {
        return nowMicros < firstRequestMicros ? -1 : (nowMicros - firstRequestMicros) / MICROS_IN_MS;
    }

    void after(long micros, Runnable what) {
        due.add(new Due(nowMicros + micros, planned++, what));
    }

    /** At a time; now, when that has passed. */
    void at(long micros, Runnable what) {
        due.add(new Due(Math.max(nowMicros, micros), planned++, what));
    }

    /** Lets happen what is next; false when nothing is planned. */
    boolean step() {
        @Nullable Due next = due.poll();
        if (next == null) {
            return false;
        }
        nowMicros = next.atMicros;
        next.what.run();
        return true;
    }
}
