/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.probe.ProbeCounts;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/** What the directory counts. Safe for use by several threads. */
final class DirectoryMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Counter unreadable = Counter.builder()
            .name("tierlog_directory_unreadable_records_total")
            .help("Records of the placements topic that could not be read")
            .register(registry);
    private final Counter outOfOrder = Counter.builder()
            .name("tierlog_directory_records_out_of_order_total")
            .help("Records of the placements topic whose number is below that of one before them: one of both was not written by the controller")
            .register(registry);
    private final Counter keys = Counter.builder()
            .name("tierlog_directory_keys_total")
            .help("Keys that were looked for, by where the answer came from")
            .labelNames("source")
            .register(registry);
    private final Counter failedForwards = Counter.builder()
            .name("tierlog_directory_failed_forwards_total")
            .help("Calls to other instances that came to nothing, by why")
            .labelNames("reason")
            .register(registry);
    private final Counter threadsReplaced = Counter.builder()
            .name("tierlog_directory_stream_threads_replaced_total")
            .help("Stream threads that another one replaced after a fault of the brokers")
            .register(registry);
    private final Map<Source, CounterDataPoint> bySource = new EnumMap<>(Source.class);

    /** Where an answer comes from. */
    enum Source {
        /** The index of this instance. */
        INDEX,
        /** Another instance. */
        PEER,
        /** A standby, here or elsewhere. */
        STANDBY,
        /** Nowhere. */
        NONE
    }

    DirectoryMetrics(LocalShards copies, ProbeCounts probes) {
        // Looked up once: a batch is counted in less time than its label is found.
        for (Source source : Source.values()) {
            bySource.put(source, keys.labelValues(source.name()));
        }
        gauge(copies, "tierlog_directory_blocks", "Blocks in the indexes of this instance", index -> index.size().blocks());
        gauge(copies, "tierlog_directory_placements", "Copies of blocks in the indexes of this instance", index -> index.size().placements());
        gauge(copies, "tierlog_directory_index_bytes", "Memory of the indexes, outside of the heap", index -> index.size().bytes());
        gauge(copies, "tierlog_directory_full_partitions", "Partitions whose index is full", index -> index.refusal().isPresent() ? 1 : 0);
        CounterWithCallback.builder()
                .name("tierlog_directory_probed_blocks_total")
                .help("Blocks of probes that are on a disk alone, or were not looked for, by what became of them")
                .labelNames("end")
                .callback(callback -> {
                    for (ProbeCounts.End end : ProbeCounts.End.values()) {
                        callback.call((double) probes.of(end), end.name());
                    }
                })
                .register(registry);
        for (ForwardFailures.Reason reason : ForwardFailures.Reason.values()) {
            failedForwards.initLabelValues(reason.name());
        }
    }

    void threadReplaced() {
        threadsReplaced.inc();
    }

    private void gauge(LocalShards copies, String name, String help, ToDoubleFunction<PlacementIndex> of) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(copies.all().values().stream().mapToDouble(of).sum()))
                .register(registry);
    }

    PrometheusRegistry registry() {
        return registry;
    }

    void countUnreadable() {
        unreadable.inc();
    }

    void countOutOfOrder() {
        outOfOrder.inc();
    }

    long outOfOrder() {
        return (long) outOfOrder.get();
    }

    long unreadable() {
        return (long) unreadable.get();
    }

    void forwardFailed(ForwardFailures.Reason reason) {
        failedForwards.labelValues(reason.name()).inc();
    }

    long failedForwards(ForwardFailures.Reason reason) {
        return failedForwards.labelValues(reason.name()).getLongValue();
    }

    void answered(Source source, int count) {
        Objects.requireNonNull(bySource.get(source)).inc(count);
    }
}
