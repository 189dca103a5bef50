/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.TopicAdmin;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The free space of the state directory and of the brokers' log directories: a metric, a sentence at {@code /health} while it is low, and one warning
 * each time that it becomes low. For one thread.
 *
 * <p>Low is less than 1 GiB, or less than a twentieth of a file system smaller than 20 GiB. Nothing stops: a full disk stops by itself.
 */
final class FreeSpace {
    private static final Logger LOG = LoggerFactory.getLogger(FreeSpace.class);
    private static final long LOW_BYTES = 1L << 30;
    private static final int LOW_SHARE = 20;

    private final Path stateDir;
    private final Health health;
    private final Gauge free;
    private final Map<String, String> low = new LinkedHashMap<>();
    private boolean refused;

    FreeSpace(Path stateDir, PrometheusRegistry registry, Health health) {
        this.stateDir = stateDir;
        this.health = health;
        free = Gauge.builder()
                .name("tierlog_free_bytes")
                .help("Free space of the state directory, and of the broker's log directory that has the least")
                .labelNames("directory")
                .register(registry);
    }

    /** Looks at both; what cannot be looked at is left as it was. */
    void look(TopicAdmin admin) {
        try {
            FileStore store = Files.getFileStore(stateDir);
            seen("state", "the state directory " + stateDir, store.getUsableSpace(), store.getTotalSpace());
        } catch (IOException e) {
            LOG.debug("the free space of {} is not known: {}", stateDir, e.getMessage());
        }
        try {
            admin.leastFreeSpace().ifPresent(least -> seen("log", least.where(), least.freeBytes(), least.totalBytes()));
        } catch (LogSetupException e) {
            if (!refused) {
                refused = true;
                LOG.warn("the free space of the brokers is not watched: {} (DESCRIBE on the cluster)", e.getMessage());
            }
        }
    }

    void seen(String directory, String where, long freeBytes, long totalBytes) {
        free.labelValues(directory).set((double) freeBytes);
        if (freeBytes >= Math.min(LOW_BYTES, totalBytes / LOW_SHARE)) {
            low.remove(directory);
        } else {
            String what = String.format(Locale.ROOT, "%s has %,d bytes free of %,d: free some, or move it, before it is full",
                    where, freeBytes, totalBytes);
            if (low.put(directory, what) == null) {
                LOG.warn("{}", what);
            }
        }
        health.lowSpace(low.values().stream().collect(Collectors.joining("; ")));
    }
}
