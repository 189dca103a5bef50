/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.threads.Supervised;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the system clock was set. Kafka's clients measure time-outs, retries and heartbeats by it: set back by an hour, they may stand still
 * for an hour, so those who use them must begin with new ones. Set forward, they only time out. One thread of its own.
 */
public final class ClockWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClockWatch.class);
    /** Clients that stand still for so long are no worse than a slow broker. */
    private static final long TOLERATED_MS = 10_000;
    private static final long INTERVAL_MS = 1_000;

    private final LongSupplier wallMs;
    private final LongSupplier monotonicNs;
    private final LongConsumer setBack;
    private long offsetMs;
    private final ScheduledExecutorService thread;

    /**
     * Begins at once.
     *
     * @param setBack receives by how many ms the clock was set back, each time, on the thread of the watch
     */
    public ClockWatch(String name, LongConsumer setBack) {
        this(System::currentTimeMillis, System::nanoTime, setBack, name);
        begin(INTERVAL_MS);
    }

    /** For tests: looks when the test calls, or from {@link #begin}. */
    ClockWatch(LongSupplier wallMs, LongSupplier monotonicNs, LongConsumer setBack, String name) {
        this.wallMs = wallMs;
        this.monotonicNs = monotonicNs;
        this.setBack = setBack;
        thread = Supervised.scheduler(name + "-clock");
        offsetMs = offsetMs();
    }

    /** Looks on its thread from now on; once. */
    final void begin(long everyMs) {
        var _ = thread.scheduleWithFixedDelay(this::look, everyMs, everyMs, TimeUnit.MILLISECONDS);
    }

    private long offsetMs() {
        return wallMs.getAsLong() - TimeUnit.NANOSECONDS.toMillis(monotonicNs.getAsLong());
    }

    /** Compares the two clocks. */
    void look() {
        long now = offsetMs();
        long set = now - offsetMs;
        offsetMs = now;
        if (Math.abs(set) <= TOLERATED_MS) {
            return;
        }
        LOG.warn("the system clock was set {} by {} s", set > 0 ? "forward" : "back", Math.abs(set) / 1_000);
        if (set < 0) {
            setBack.accept(-set);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
