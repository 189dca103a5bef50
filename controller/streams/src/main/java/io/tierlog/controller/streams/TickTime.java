/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.util.concurrent.TimeUnit;

/**
 * The time that ticks carry: it follows the wall clock, but neither jumps nor stands still with it. From one tick to the next it moves by half to
 * twice of what has really passed, so where a clock was set by hours, time-outs are at most half or twice as long as they should be until log time
 * has caught up. The first tick of an instance takes the wall clock as it is, since the time in which no controller ran has passed. For one thread.
 */
final class TickTime {
    private long lastMs;
    private long lastNs;
    private boolean begun;

    /**
     * The time of the next tick.
     *
     * @param wallMs the wall clock, milliseconds since 1970
     * @param nowNs a monotonic clock
     * @param logMs log time by now: a clock that is behind it goes on from there
     */
    long next(long wallMs, long nowNs, long logMs) {
        long base = Math.max(lastMs, logMs);
        if (begun) {
            long passedMs = TimeUnit.NANOSECONDS.toMillis(nowNs - lastNs);
            lastMs = Math.clamp(wallMs, base + Math.max(1, passedMs / 2), base + Math.max(1, 2 * passedMs));
        } else {
            lastMs = Math.max(wallMs, base + 1);
        }
        begun = true;
        lastNs = nowNs;
        return lastMs;
    }
}
