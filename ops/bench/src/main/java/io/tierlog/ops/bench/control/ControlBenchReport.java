/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.tierlog.controller.streams.CommandDelivery;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What the control benchmark came to, as {@code --format json} prints it: one object. Times are milliseconds. A part that was not asked for
 * is absent.
 *
 * @param hop produce, consume
 * @param relay produce, consume, produce, consume
 * @param passThrough an empty Kafka Streams application, its output read before the commit
 * @param passThroughAfterCommit the same, read after the commit
 * @param tierlogBeforeCommit submit to command by the way that the ratios are about, read before the commit
 * @param tierlogDirect commands sent directly
 * @param tierlogTransactional commands in the transaction, read before it commits
 * @param tierlogAfterCommit commands in the transaction, read after it committed
 * @param throughput records worked off in a second
 * @param ratios what the aims are about: latencies against the relay, throughput against the empty pass-through
 * @param aims what the ratios should be
 * @param recordBytes bytes of the submitted request's record, the same in all parts
 * @param measuredFrom what a latency is counted from
 * @param rate requests a second of the open loop
 * @param rounds rounds that were measured
 * @param blocks blocks of each prompt
 * @param nodes nodes that submitted
 * @param partitions partitions of every topic
 * @param commitIntervalMs commit interval of controller and pass-through
 * @param recordCacheBytes record cache of the controller
 * @param accounted whether every request was answered exactly once, and every bulk record led to what it must lead to
 * @param elapsedS seconds the whole run took
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ControlBenchReport(
        Latency hop,
        Latency relay,
        @JsonProperty("pass_through") Latency passThrough,
        @JsonProperty("pass_through_after_commit") @Nullable Latency passThroughAfterCommit,
        @JsonProperty("tierlog_before_commit") Latency tierlogBeforeCommit,
        @JsonProperty("tierlog_direct") @Nullable Latency tierlogDirect,
        @JsonProperty("tierlog_transactional") @Nullable Latency tierlogTransactional,
        @JsonProperty("tierlog_after_commit") @Nullable Latency tierlogAfterCommit,
        Rates throughput,
        Map<String, Double> ratios,
        Map<String, Double> aims,
        @JsonProperty("record_bytes") int recordBytes,
        @JsonProperty("measured_from") String measuredFrom,
        int rate,
        int rounds,
        int blocks,
        int nodes,
        int partitions,
        @JsonProperty("commit_interval_ms") int commitIntervalMs,
        @JsonProperty("record_cache_bytes") long recordCacheBytes,
        boolean accounted,
        @JsonProperty("elapsed_s") double elapsedS) {
    /** Aims by ratio: latencies at most, throughput at least. */
    static final Map<String, Double> AIMS = aims(1.3, 3.0, 0.7);

    private static final double MICROS_PER_MS = 1_000;

    /**
     * Times of one part in milliseconds, and what became of its requests.
     *
     * @param count answers that were timed
     * @param roundP50 the median of each round
     * @param requests requests and answers, those of the warm-up included
     */
    public record Latency(
            double p50,
            double p90,
            double p99,
            double max,
            long count,
            @JsonProperty("round_p50") List<Double> roundP50,
            Requests requests) {}

    /** Requests sent, and what became of them. */
    public record Requests(long sent, long answered, long missing, long repeated, long foreign) {
        /** Each was answered exactly once. */
        @JsonIgnore
        public boolean isClean() {
            return sent == answered && missing == 0 && repeated == 0 && foreign == 0;
        }
    }

    /**
     * Records worked off in a second, and blocks that the prompts among them name.
     *
     * @param tierlogEventsPerS by the way of sending commands that the ratio is about
     * @param byCommands events a second by each way of sending commands
     * @param streamThreadMicros processor time of the stream threads for one event, in microseconds, by application: steadier than the
     *     rates on a machine that does other things too
     * @param decisionsPerEvent decisions that the controller writes for each of these events
     * @param records records sent, to each of the applications
     * @param passedThrough records that came out of the pass-through
     * @param written decisions and commands of the controllers, by type
     */
    public record Rates(
            @JsonProperty("pass_through_events_per_s") double passThroughEventsPerS,
            @JsonProperty("tierlog_events_per_s") double tierlogEventsPerS,
            @JsonProperty("tierlog_blocks_per_s") double tierlogBlocksPerS,
            @JsonProperty("by_commands") Map<String, Double> byCommands,
            @JsonProperty("stream_thread_us_per_event") Map<String, Double> streamThreadMicros,
            @JsonProperty("decisions_per_event") double decisionsPerEvent,
            long records,
            @JsonProperty("passed_through") long passedThrough,
            Map<String, Map<String, Long>> written) {}

    static ControlBenchReport of(ControlBenchConfig config, ControlBench.Measured measured, double elapsedS) {
        return ReportMaker.make(config, measured, round(elapsedS));
    }

    static Latency latency(LatencyResult result) {
        Histogram micros = result.micros();
        Arrivals.Count count = result.count();
        return new Latency(
                ms(micros.getValueAtPercentile(50)),
                ms(micros.getValueAtPercentile(90)),
                ms(micros.getValueAtPercentile(99)),
                ms(micros.getMaxValue()),
                micros.getTotalCount(),
                result.roundMedians().stream().map(ControlBenchReport::ms).toList(),
                new Requests(count.sent(), count.answered(), count.missing(), count.repeated(), count.foreign()));
    }

    /** Name of a way of sending commands, for programs. */
    static String name(CommandDelivery commands) {
        return switch (commands) {
            case DIRECT -> "direct";
            case TRANSACTIONAL -> "transactional";
        };
    }

    static double round(double value) {
        return Math.round(value * 1_000) / 1_000.0;
    }

    private static double ms(long micros) {
        return round(micros / MICROS_PER_MS);
    }

    private static Map<String, Double> aims(double p50, double p99, double throughput) {
        Map<String, Double> aims = new LinkedHashMap<>();
        aims.put("submit_to_command_p50", p50);
        aims.put("submit_to_command_p99", p99);
        aims.put("throughput", throughput);
        return aims;
    }
}
