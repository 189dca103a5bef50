/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.events.Causes;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.TopicAdmin;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the state directory and the brokers' log directories can be written and have space: metrics, a sentence for {@code /health} while
 * something is wrong, and one warning each time that it begins. For one thread.
 *
 * <p>Low is less than 1 GiB, or less than a twentieth of a file system smaller than 20 GiB. Nothing stops: an instance ends when RocksDB must write
 * and cannot, and nothing is lost by that, since the state is in its topic.
 */
public final class FreeSpace {
    private static final Logger LOG = LoggerFactory.getLogger(FreeSpace.class);
    private static final long LOW_BYTES = 1L << 30;
    private static final int LOW_SHARE = 20;
    /** Written and deleted at each look: a file system may be read-only, or full, whatever its free bytes say. */
    static final String PROBE = ".write-probe";
    private static final int PROBE_BYTES = 4_096;

    private final Path stateDir;
    private final Consumer<String> shown;
    private final Gauge free;
    private final Gauge writable;
    private final Map<String, String> wrong = new LinkedHashMap<>();
    private boolean refused;

    /**
     * @param stateDir the state directory of the instance
     * @param shown receives what is wrong after each look, for people; empty when nothing is
     */
    public FreeSpace(Path stateDir, PrometheusRegistry registry, Consumer<String> shown) {
        this.stateDir = stateDir;
        this.shown = shown;
        free = Gauge.builder()
                .name("tierlog_free_bytes")
                .help("Free space of the state directory, and of the broker's log directory that has the least")
                .labelNames("directory")
                .register(registry);
        writable = Gauge.builder()
                .name("tierlog_directory_writable")
                .help("1 while the state directory can be written, and while no broker has stopped to use a log directory")
                .labelNames("directory")
                .register(registry);
    }

    /** Looks at the state directory; needs no broker. */
    public void lookAtState() {
        try {
            FileStore store = Files.getFileStore(stateDir);
            seen("state", "the state directory " + stateDir, store.getUsableSpace(), store.getTotalSpace());
        } catch (IOException e) {
            LOG.debug("the free space of {} is not known: {}", stateDir, e.getMessage());
        }
        try {
            Path probe = stateDir.resolve(PROBE);
            Files.write(probe, new byte[PROBE_BYTES]);
            Files.deleteIfExists(probe);
            usable("state", "");
        } catch (IOException e) {
            usable("state", "the state directory " + stateDir + " cannot be written (" + Causes.of(e) + "): make it writable or free space in it,"
                    + " else this instance ends when it must write there; started again on a good directory it restores its state from the log");
        }
    }

    /** Looks at the brokers; what cannot be looked at is left as it was. */
    void lookAtLog(TopicAdmin admin) {
        try {
            TopicAdmin.LogDirectories found = admin.logDirectories();
            found.least().ifPresent(least -> seen("log", least.where(), least.freeBytes(), least.totalBytes()));
            usable("log", found.offline().isEmpty() ? "" : String.join(", ", found.offline())
                    + ": repair the directory, then start the broker again; partitions with other replicas go on there");
        } catch (LogSetupException e) {
            if (!refused) {
                refused = true;
                LOG.warn("the free space of the brokers is not watched: {} (DESCRIBE on the cluster)", e.getMessage());
            }
        }
    }

    void seen(String directory, String where, long freeBytes, long totalBytes) {
        free.labelValues(directory).set((double) freeBytes);
        show(directory + " space", freeBytes >= Math.min(LOW_BYTES, totalBytes / LOW_SHARE) ? "" : String.format(Locale.ROOT,
                "%s has %,d bytes free of %,d: free some, or move it, before it is full", where, freeBytes, totalBytes));
    }

    private void usable(String directory, String why) {
        writable.labelValues(directory).set(why.isEmpty() ? 1 : 0);
        show(directory, why);
    }

    private void show(String finding, String what) {
        if (what.isEmpty()) {
            wrong.remove(finding);
        } else if (wrong.put(finding, what) == null) {
            LOG.warn("{}", what);
        }
        shown.accept(wrong.values().stream().collect(Collectors.joining("; ")));
    }
}
