/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.ops.cli.command.Sections;
import io.tierlog.ops.engine.Latency;
import io.tierlog.schemas.PromotionOutcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The same requests without promotion from the disk and with it: two rows of one table, each over all the runs of its kind.
 *
 * @param warmUp requests that were replayed before, and are not counted
 * @param runs in the order in which they ran; at least one of either kind
 */
record PromotionComparison(int warmUp, List<Run> runs) {
    private static final String HEAD = "  promotion    on disk  in memory     begun      done   evicted    missed    failed  p50 ms  p99 ms"
            + "  those that waited    p50     p99  hit ratio";

    /**
     * One run.
     *
     * @param promotes whether the probes ahead of requests had blocks promoted that only a disk has; without it they were lookups only
     * @param report its report
     */
    record Run(boolean promotes, DemoReport report) {
        private String name() {
            return promotes ? "on" : "off";
        }
    }

    PromotionComparison {
        runs = List.copyOf(runs);
    }

    /**
     * Which runs have promotion, in order; two runs a round. What is first in its round takes turns, so that a machine that slows down favours
     * neither.
     *
     * @param promotionFirst whether the first run has promotion
     */
    static List<Boolean> order(int rounds, boolean promotionFirst) {
        return IntStream.rangeClosed(1, 2 * rounds).mapToObj(i -> promotionFirst ^ (i % 4 == 2 || i % 4 == 3)).toList();
    }

    /** Prints both and returns the exit code: 0 when all runs are sound. */
    int print(OutputFormat format, PrintWriter out) throws IOException {
        switch (format) {
            case text -> lines().forEach(out::println);
            case json -> out.println(new ObjectMapper().writeValueAsString(toJson()));
        }
        out.flush();
        return runs.stream().allMatch(run -> run.report().sound()) ? 0 : CliError.FAILURE;
    }

    /** The report of the last run with promotion, and the table of all. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(DemoTable.of(last(true)));
        lines.add("");
        lines.add("Promotion from the disk ahead of requests, the same requests without and with it; blocks, and times of submit to ready of all");
        lines.add(HEAD);
        lines.add(sum(false).line("off"));
        lines.add(sum(true).line("on"));
        if (runs.size() > 2) {
            lines.add("  each run:");
            runs.forEach(run -> lines.add(Row.of(run.report()).line("  " + run.name())));
        }
        lines.add("  run first: " + runs.getFirst().name() + ", after " + Sections.count(warmUp) + " requests to warm up, which are not counted");
        return List.copyOf(lines);
    }

    /** The report of the last run with promotion, with that of the last one without and the table inside. */
    ObjectNode toJson() {
        ObjectNode json = last(true).toJson();
        ArrayNode table = json.putArray("promotion_table");
        sum(false).into(table.addObject().put("promotion", "off"));
        sum(true).into(table.addObject().put("promotion", "on"));
        ArrayNode each = json.putArray("promotion_runs");
        runs.forEach(run -> Row.of(run.report()).into(each.addObject().put("promotion", run.name())));
        json.put("warm_up_requests", warmUp);
        json.set("without_promotion", last(false).toJson());
        return json;
    }

    /** The report of the last run of that kind. */
    DemoReport last(boolean promotes) {
        return runs.reversed().stream().filter(run -> run.promotes() == promotes).findFirst().orElseThrow().report();
    }

    private Row sum(boolean promotes) {
        return runs.stream()
                .filter(run -> run.promotes() == promotes)
                .map(run -> Row.of(run.report()))
                .reduce(Row::plus)
                .orElseThrow();
    }

    /**
     * Numbers of one run, or of several together; blocks, and times of submit to ready.
     *
     * @param fetched blocks that requests had read from a disk
     * @param promoted blocks read that promotions had brought, or were bringing
     * @param missed blocks that came otherwise while they were promoted
     * @param begun blocks of promotions that began
     * @param done blocks that promotions brought
     * @param evicted of those, the ones that left again before a request read them
     * @param failed blocks of promotions that failed
     * @param ready all requests: promotion changes which of them wait, so those that wait are others with it than without it
     * @param waited requests that had to wait
     * @param hits blocks of prompts that were hits
     * @param accesses blocks of prompts
     */
    private record Row(
            long fetched, long promoted, long missed, long begun, long done, long evicted, long failed, Latency ready, Latency waited, long hits,
            long accesses) {
        static Row of(DemoReport report) {
            LogSummary.Promotions promotions = report.log().orElseThrow().promotions();
            return new Row(
                    report.run().hits().disk(),
                    promotions.promoted(),
                    promotions.of(PromotionOutcome.MISSED_RACE),
                    promotions.begun(),
                    promotions.done(),
                    promotions.of(PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE),
                    promotions.of(PromotionOutcome.FAILED),
                    report.run().latencies().submitToReady(),
                    report.run().latencies().waited(),
                    report.run().hits().total(),
                    report.run().blockAccesses());
        }

        Row plus(Row o) {
            return new Row(fetched + o.fetched, promoted + o.promoted, missed + o.missed, begun + o.begun, done + o.done, evicted + o.evicted,
                    failed + o.failed, ready.plus(o.ready), waited.plus(o.waited), hits + o.hits, accesses + o.accesses);
        }

        /** Blocks read that only a disk had when their promotion, if any, began. */
        private long fromDisk() {
            return fetched + promoted;
        }

        private double inMemory() {
            return LogSummary.Promotions.inMemory(promoted, missed + fetched);
        }

        private double hitRatio() {
            return accesses == 0 ? 0 : (double) hits / accesses;
        }

        String line(String name) {
            return String.format(Locale.ROOT, "  %-10s%,10d%9.1f %%%,10d%,10d%,10d%,10d%,10d%8.1f%8.1f%,19d%7.1f%8.1f%11.4f",
                    name, fromDisk(), 100 * inMemory(), begun, done, evicted, missed, failed, ready.p50(), ready.p99(), waited.count(),
                    waited.p50(), waited.p99(), hitRatio());
        }

        void into(ObjectNode json) {
            json.put("disk_blocks_read", fromDisk())
                    .put("in_memory_when_read", inMemory())
                    .put("begun_blocks", begun)
                    .put("done_blocks", done)
                    .put("evicted_before_use", evicted)
                    .put("missed_race", missed)
                    .put("failed", failed)
                    .put("submit_to_ready_p50_ms", ready.p50())
                    .put("submit_to_ready_p99_ms", ready.p99())
                    .put("waited", waited.count())
                    .put("waited_p50_ms", waited.p50())
                    .put("waited_p99_ms", waited.p99())
                    .put("hit_ratio", hitRatio());
        }
    }
}
