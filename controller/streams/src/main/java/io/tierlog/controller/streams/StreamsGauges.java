/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.streams.KafkaStreams;

/**
 * The metrics of Kafka Streams and RocksDB that an operator of the controller looks at, read at each scrape. Trade-off: one walk
 * over all of Streams' metrics per scrape and gauge.
 */
final class StreamsGauges {
    private final Supplier<Map<MetricName, ? extends Metric>> metrics;

    private enum Fold {
        SUM,
        MAX
    }

    private StreamsGauges(KafkaStreams streams) {
        metrics = streams::metrics;
    }

    /** Adds the gauges for {@code streams} and {@code health} to {@code registry}. */
    static StreamsGauges register(PrometheusRegistry registry, KafkaStreams streams, Health health) {
        GaugeWithCallback.builder()
                .name("tierlog_controller_state")
                .help("1 for the state the instance is in")
                .labelNames("state")
                .callback(callback -> {
                    Health.State now = health.state();
                    for (Health.State state : Health.State.values()) {
                        callback.call(state == now ? 1 : 0, state.name());
                    }
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("tierlog_rocksdb_cache_bytes")
                .help("Memory of RocksDB in this process: blocks, indexes, filters and write buffers, all bounded together")
                .callback(callback -> callback.call((double) RocksDbSettings.cacheUsedBytes()))
                .register(registry);
        StreamsGauges gauges = new StreamsGauges(streams);
        gauges.add(registry, "tierlog_rocksdb_memtable_bytes", "Write buffers of RocksDB", "size-all-mem-tables", Fold.SUM);
        gauges.add(registry, "tierlog_rocksdb_rows", "Rows in the state of this instance, estimated", "estimate-num-keys", Fold.SUM);
        gauges.add(registry, "tierlog_rocksdb_files_bytes", "Size of RocksDB's files", "total-sst-files-size", Fold.SUM);
        gauges.seconds(registry, "tierlog_streams_commit_max_seconds", "Longest commit lately", "commit-latency-max");
        gauges.seconds(registry, "tierlog_streams_commit_avg_seconds", "Commit on average lately", "commit-latency-avg");
        gauges.add(registry, "tierlog_streams_process_rate", "Records decided per second lately", "process-rate", Fold.MAX);
        GaugeWithCallback.builder()
                .name("tierlog_producer_buffer_free_ratio")
                .help("Free share of the fullest buffer of the transactional producers, 0 to 1")
                .callback(callback -> callback.call(gauges.freeShare()))
                .register(registry);
        return gauges;
    }

    private void add(PrometheusRegistry registry, String name, String help, String metric, Fold fold) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(read(metric, fold)))
                .register(registry);
    }

    private void seconds(PrometheusRegistry registry, String name, String help, String millis) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(read(millis, Fold.MAX) / 1_000))
                .register(registry);
    }

    /** The free share of the fullest buffer of the producers, 0 to 1; 1 before there is one. */
    double freeShare() {
        Map<String, Double> total = producers("buffer-total-bytes");
        return producers("buffer-available-bytes").entrySet().stream()
                .mapToDouble(free -> free.getValue() / Math.max(1, total.getOrDefault(free.getKey(), free.getValue())))
                .min().orElse(1);
    }

    private Map<String, Double> producers(String metric) {
        Map<String, Double> found = new HashMap<>();
        metrics.get().forEach((name, value) -> {
            if (name.name().equals(metric) && name.group().equals("producer-metrics") && value.metricValue() instanceof Number number) {
                found.put(String.valueOf(name.tags().get("client-id")), number.doubleValue());
            }
        });
        return found;
    }

    private double read(String metric, Fold fold) {
        double total = 0;
        for (Map.Entry<MetricName, ? extends Metric> entry : metrics.get().entrySet()) {
            MetricName name = entry.getKey();
            if (name.name().equals(metric) && name.group().startsWith("stream-") && entry.getValue().metricValue() instanceof Number n) {
                double value = n.doubleValue();
                if (!Double.isNaN(value)) {
                    total = fold == Fold.SUM ? total + value : Math.max(total, value);
                }
            }
        }
        return total;
    }
}
