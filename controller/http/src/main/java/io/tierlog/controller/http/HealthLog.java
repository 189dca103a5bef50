/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.tierlog.controller.http.HealthParts.Level;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.threads.Supervised;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line when a part of {@code /health} becomes worse. For parts that no other line names: a thread that is stuck reports nothing, and shows
 * only when another one asks how long it has been silent. A part is well again after {@value #STEADY_LOOKS} good looks in turn, so that one that
 * comes and goes is not a line each second. One thread of its own.
 */
public final class HealthLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthLog.class);
    private static final long INTERVAL_MS = 1_000;
    static final int STEADY_LOOKS = 10;

    private final HealthParts parts;
    private final Map<String, Named> named = new HashMap<>();
    private final ScheduledExecutorService thread;

    /**
     * What was logged of a part.
     *
     * @param level the worst since it was well
     * @param goodLooks in turn, until now
     */
    private record Named(Level level, int goodLooks) {}

    /**
     * Begins at once.
     *
     * @param thread name of its thread
     * @param names the parts that it looks at, each second
     */
    public HealthLog(String thread, HealthParts parts, Set<String> names) {
        this(thread, parts, names, INTERVAL_MS);
    }

    /** For tests: with another interval, in ms. */
    HealthLog(String thread, HealthParts parts, Set<String> names, long intervalMs) {
        this.parts = parts;
        names.forEach(name -> named.put(name, new Named(Level.WELL, 0)));
        this.thread = Supervised.scheduler(thread);
        var _ = this.thread.scheduleWithFixedDelay(this::look, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
    }

    private void look() {
        named.replaceAll((name, before) -> {
            State now = parts.state(name);
            if (now.level().compareTo(before.level()) > 0) {
                LOG.warn("{} is {} at /health: {}", name, now.level(), now.detail());
                return new Named(now.level(), 0);
            }
            int goodLooks = now.level() == Level.WELL ? before.goodLooks() + 1 : 0;
            if (before.level() == Level.WELL || goodLooks < STEADY_LOOKS) {
                return new Named(before.level(), goodLooks);
            }
            LOG.info("{} is well again at /health", name);
            return new Named(Level.WELL, 0);
        });
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
