/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.OutputFormat;
import io.tierlog.ops.engine.Latency;
import io.tierlog.schemas.PromotionOutcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The same requests without promotion from the disk and with it: two rows of one table.
 *
 * @param without a directory was asked ahead of each request, and nothing more
 * @param with it was asked to have promoted what only a disk has
 * @param withFirst whether that one was run before the other
 */
record PromotionComparison(DemoReport without, DemoReport with, boolean withFirst) {
    private static final String HEAD = "  promotion   on disk  in memory     begun      done   evicted    missed    failed  p50 ms  p99 ms"
            + "  those that waited    p50     p99  hit ratio";

    /**
     * One row.
     *
     * @param fromDisk blocks read that only a disk had had when their promotion, if any, began
     * @param inMemory share of them that were in memory, or on their way to it, when they were read
     * @param begun blocks of promotions that were begun
     * @param done blocks that promotions have brought
     * @param evicted of those, the ones that left again before anybody read them
     * @param missed blocks that came otherwise while they were promoted
     * @param failed blocks of promotions that failed
     * @param ready submit to ready in milliseconds, all requests
     * @param waited the same, requests that had to wait
     */
    record Row(
            long fromDisk, double inMemory, long begun, long done, long evicted, long missed, long failed, Latency ready, Latency waited,
            double hitRatio) {
        static Row of(DemoReport report) {
            PromotionCount.Counts counts = report.log().orElseThrow().promotions();
            long fetched = report.run().hits().disk();
            long promoted = counts.of(PromotionOutcome.PROMOTED_HIT) + counts.of(PromotionOutcome.PROMOTED_HIT_WAITED);
            return new Row(
                    fetched + promoted,
                    counts.inMemory(fetched),
                    counts.begun(),
                    counts.done(),
                    counts.of(PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE),
                    counts.of(PromotionOutcome.MISSED_RACE),
                    counts.of(PromotionOutcome.FAILED),
                    report.run().latencies().submitToAnswer(),
                    report.run().latencies().submitToReady(),
                    report.run().hitRatio());
        }

        String line(String name) {
            return String.format(Locale.ROOT, "  %-9s%,10d%9.1f %%%,10d%,10d%,10d%,10d%,10d%8.1f%8.1f%,19d%7.1f%8.1f%11.4f",
                    name, fromDisk, 100 * inMemory, begun, done, evicted, missed, failed, ready.p50(), ready.p99(), waited.count(), waited.p50(),
                    waited.p99(), hitRatio);
        }

        void into(ObjectNode json) {
            json.put("disk_blocks_read", fromDisk)
                    .put("in_memory_when_read", inMemory)
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
                    .put("hit_ratio", hitRatio);
        }
    }

    /** Prints both and returns the exit code they deserve. */
    int print(OutputFormat format, PrintWriter out) throws IOException {
        switch (format) {
            case text -> lines().forEach(out::println);
            case json -> out.println(new ObjectMapper().writeValueAsString(toJson()));
        }
        out.flush();
        return without.sound() && with.sound() ? 0 : CliError.FAILURE;
    }

    /** The report of the run with promotion, and the table of both. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(DemoTable.of(with));
        lines.add("");
        lines.add("Promotion from the disk ahead of requests, the same requests without and with it; blocks, and times of submit to ready");
        lines.add(HEAD);
        lines.add(Row.of(without).line("off"));
        lines.add(Row.of(with).line("on"));
        lines.add("  run first: " + first());
        return List.copyOf(lines);
    }

    private String first() {
        return withFirst ? "on" : "off";
    }

    /** The report of the run with promotion, with that of the other one and the table inside. */
    ObjectNode toJson() {
        ObjectNode json = with.toJson();
        ArrayNode table = json.putArray("promotion_table");
        Row.of(without).into(table.addObject().put("promotion", "off"));
        Row.of(with).into(table.addObject().put("promotion", "on"));
        json.put("promotion_run_first", first());
        json.set("without_promotion", without.toJson());
        return json;
    }
}
