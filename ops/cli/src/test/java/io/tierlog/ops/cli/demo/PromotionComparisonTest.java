/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.ops.audit.stats.LogStatistics;
import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Latency;
import io.tierlog.ops.engine.RunReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** The runs of a comparison without their brokers: {@code DemoCommandTest} has one round of real runs. */
class PromotionComparisonTest {
    /** Off on, on off, off on. */
    @Test
    void whatIsFirstInItsRoundTakesTurns() {
        assertEquals(List.of(false, true, true, false, false, true), PromotionComparison.order(3, false));
        assertEquals(List.of(true, false, false, true, true, false), PromotionComparison.order(3, true));
    }

    /** Each run has its own power of ten, so that a sum tells which runs are in it. */
    @Test
    void aRowOfTheTableIsOverAllRunsOfItsKind() {
        List<PromotionComparison.Run> runs = new ArrayList<>();
        int blocks = 1;
        for (boolean promotes : PromotionComparison.order(2, true)) {
            runs.add(new PromotionComparison.Run(promotes, report(blocks)));
            blocks *= 10;
        }
        JsonNode report = new PromotionComparison(3, runs).toJson();

        List<String> order = report.get("promotion_runs").valueStream().map(run -> run.get("promotion").asText()).toList();
        assertEquals(List.of("on", "off", "off", "on"), order);
        JsonNode off = report.get("promotion_table").get(0);
        JsonNode on = report.get("promotion_table").get(1);
        assertEquals("off on", off.get("promotion").asText() + " " + on.get("promotion").asText());
        for (String number : List.of("disk_blocks_read", "waited")) {
            assertEquals(110, off.get(number).asLong(), number);
            assertEquals(1_001, on.get(number).asLong(), number);
        }
        // The whole reports are those of the last run of each kind.
        assertEquals(1_000, report.get("hits").get("disk").asLong());
        assertEquals(100, report.get("without_promotion").get("hits").get("disk").asLong());
        assertEquals(3, report.get("warm_up_requests").asInt());
    }

    /** So many requests of one block each, which waited and had it from the disk. */
    private static DemoReport report(int requests) {
        Histogram times = new Histogram(3);
        times.recordValueWithCount(5, requests);
        Latency latency = Latency.of(times, TimeUnit.MILLISECONDS);
        RunReport.Node node = new RunReport.Node(
                "node-1", requests, 0, requests, new Hits(0, 0, requests, 0), 0, 0, 0, 0, 0, new RunReport.PoolEnd(1, 0, 0));
        RunReport run = new RunReport(List.of(node), List.of(), new RunReport.Ideal(requests, 0, Map.of()),
                new RunReport.Latencies(latency, latency, latency, latency), Map.of(), Optional.empty(), 1_000);
        return new DemoReport(run, Optional.of(new LogStatistics().summary(0)), true, Optional.empty());
    }
}
