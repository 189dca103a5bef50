/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.events.Causes;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the end of the committed log periodically, so that answers can report their age. One thread of its own. While the brokers do
 * not answer, nothing is noted, and answers grow old.
 */
final class LogEnds implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogEnds.class);
    private static final int PATIENCE_S = 5;
    private static final long SILENT_S = 30;

    private final RareWarning warning = new RareWarning(LOG);
    private final Admin admin;
    private final String topic;
    private final LocalShards copies;
    private final Runnable before;
    private final Runnable after;
    private volatile long answeredNs = System.nanoTime();
    private final ScheduledExecutorService thread = Supervised.scheduler("tierlog-directory-ends");

    /**
     * Begins at once.
     *
     * @param before runs before each look, whether or not the brokers answer
     * @param after runs after each look that the brokers answered
     */
    LogEnds(DirectoryConfig config, LocalShards copies, Runnable before, Runnable after) {
        admin = Admin.create(config.kafka().client(Map.of()));
        topic = config.topics().placements();
        this.copies = copies;
        this.before = before;
        this.after = after;
        var _ = thread.scheduleWithFixedDelay(this::look, 0, config.limits().lookEveryMs(), TimeUnit.MILLISECONDS);
    }

    private void look() {
        Map<TopicPartition, OffsetSpec> asked = new LinkedHashMap<>();
        for (int partition = 0; partition < copies.partitions(); partition++) {
            asked.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        try {
            before.run();
            long askedMs = System.currentTimeMillis();
            Map<TopicPartition, ListOffsetsResultInfo> ends = admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                    .all()
                    .get(PATIENCE_S, TimeUnit.SECONDS);
            ends.forEach((partition, end) -> copies.reach(partition.partition()).ended(end.offset(), askedMs));
            answeredNs = System.nanoTime();
            after.run();
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            warning.warn("the end of {} cannot be looked at: {}", topic, Causes.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** DEGRADED when the brokers have not answered for {@value #SILENT_S} s: answers grow old meanwhile. */
    HealthParts.State state() {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - answeredNs);
        return seconds < SILENT_S ? HealthParts.State.WELL
                : HealthParts.State.degraded("the brokers have not answered for " + seconds + " s: answers are as old as that");
    }

    @Override
    public void close() {
        thread.shutdownNow();
        admin.close(Duration.ofSeconds(1));
    }
}
