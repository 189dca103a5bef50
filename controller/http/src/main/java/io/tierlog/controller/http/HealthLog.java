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
 * only when another one asks how long it has been silent. One thread of its own.
 */
public final class HealthLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthLog.class);
    private static final long INTERVAL_MS = 1_000;

    private final HealthParts parts;
    private final Map<String, Level> levels = new HashMap<>();
    private final ScheduledExecutorService thread;

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
        names.forEach(name -> levels.put(name, Level.WELL));
        this.thread = Supervised.scheduler(thread);
        var _ = this.thread.scheduleWithFixedDelay(this::look, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
    }

    private void look() {
        levels.replaceAll((name, before) -> {
            State now = parts.state(name);
            if (now.level().compareTo(before) > 0) {
                LOG.warn("{} is {} at /health: {}", name, now.level(), now.detail());
            } else if (now.level() == Level.WELL && before != Level.WELL) {
                LOG.info("{} is well again at /health", name);
            }
            return now.level();
        });
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
