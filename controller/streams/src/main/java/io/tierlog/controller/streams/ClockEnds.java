/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ends the clocks of an instance before it is closed, so that no tick is appended which no instance decides: a partition that needs no tick gets none
 * from then on. Safe for use by several threads.
 */
final class ClockEnds {
    private final Map<Integer, Long> restedAtNs = new ConcurrentHashMap<>();
    private volatile boolean begun;

    /** From now on clocks tick only where that is needed. */
    void begin() {
        begun = true;
    }

    boolean hasBegun() {
        return begun;
    }

    /** A partition needs no tick now, and none is under way. */
    void rests(int partition) {
        restedAtNs.put(partition, System.nanoTime());
    }

    /** How many partitions have needed no tick since then, a value of {@link System#nanoTime}. */
    int restedSince(long ns) {
        return (int) restedAtNs.values().stream().filter(at -> at - ns > 0).count();
    }
}
