/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What a run came to, as {@code --format json} prints it: one object, names as people read them.
 *
 * @param requests requests replayed
 * @param blockAccesses blocks of all prompts, partial ones included
 * @param hits blocks reused, by the tier they came from
 * @param computedBlocks blocks computed; hits + computed = accesses
 * @param hitRatio hits / accesses
 * @param idealHitRatio the ratio of an infinite cache that every node shares
 * @param missesByCause blocks that an infinite cache would have had and that were computed all the same, by cause
 * @param operations counted from the decisions: started = done + failed + cancelled + fenced + unfinished
 * @param operationsByKind operations started, by kind
 * @param bytes bytes moved, by kind of operation
 * @param events records seen in tierlog.events
 * @param decisions records seen in tierlog.decisions
 * @param commands records seen in tierlog.commands
 * @param wrongContent blocks that held other bytes than were computed under their key
 * @param rejected requests that no device pool could hold
 * @param latencyMs milliseconds: submit to command from the log, submit to ready and time to first token from the engine
 * @param elapsedS seconds of the replay
 * @param withoutTiers the same workload with the device caches alone; absent when it was not run
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record DemoReport(
        long requests,
        @JsonProperty("block_accesses") long blockAccesses,
        Map<String, Long> hits,
        @JsonProperty("computed_blocks") long computedBlocks,
        @JsonProperty("hit_ratio") double hitRatio,
        @JsonProperty("ideal_hit_ratio") double idealHitRatio,
        @JsonProperty("misses_by_cause") Map<String, Long> missesByCause,
        OperationBook.Totals operations,
        @JsonProperty("operations_by_kind") Map<String, Long> operationsByKind,
        Map<String, Long> bytes,
        long events,
        long decisions,
        long commands,
        @JsonProperty("wrong_content") long wrongContent,
        long rejected,
        @JsonProperty("latency_ms") Map<String, Percentiles> latencyMs,
        @JsonProperty("elapsed_s") double elapsedS,
        @JsonProperty("without_tiers") @Nullable WithoutTiers withoutTiers) {

    /** The same workload again, with nothing below the device. */
    record WithoutTiers(
            Map<String, Long> hits,
            @JsonProperty("computed_blocks") long computedBlocks,
            @JsonProperty("hit_ratio") double hitRatio,
            @JsonProperty("time_to_first_token_ms") Percentiles timeToFirstTokenMs) {}

    /** Three percentiles and the count behind them. */
    record Percentiles(double p50, double p90, double p99, long count) {
        /** Of {@code histogram}, whose unit is 1 / {@code perUnit} of the unit wanted. */
        static Percentiles of(Histogram histogram, double perUnit) {
            return new Percentiles(
                    round(histogram.getValueAtPercentile(50) / perUnit),
                    round(histogram.getValueAtPercentile(90) / perUnit),
                    round(histogram.getValueAtPercentile(99) / perUnit),
                    histogram.getTotalCount());
        }

        private static double round(double value) {
            return Math.round(value * 1000) / 1000.0;
        }
    }
}
