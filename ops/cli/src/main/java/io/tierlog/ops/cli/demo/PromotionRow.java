/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.engine.Latency;
import io.tierlog.schemas.PromotionOutcome;
import java.util.Locale;

/**
 * What one run came to, or several together; blocks, and times of submit to ready.
 *
 * @param fetched blocks that requests had read from a disk
 * @param promoted blocks read that promotions had brought, or were bringing
 * @param missed blocks that came otherwise while they were promoted
 * @param begun blocks of promotions that were begun
 * @param done blocks that promotions have brought
 * @param evicted of those, the ones that left again before anybody read them
 * @param failed blocks of promotions that failed
 * @param ready all requests, by which promotion is judged: it changes which of them wait, so those that do are others with it than without it
 * @param waited requests that had to wait
 * @param hits blocks of prompts that were hits
 * @param accesses blocks of prompts
 */
record PromotionRow(
        long fetched, long promoted, long missed, long begun, long done, long evicted, long failed, Latency ready, Latency waited, long hits,
        long accesses) {
    static final String HEAD = "  promotion    on disk  in memory     begun      done   evicted    missed    failed  p50 ms  p99 ms"
            + "  those that waited    p50     p99  hit ratio";

    static PromotionRow of(DemoReport report) {
        PromotionCount.Counts counts = report.log().orElseThrow().promotions();
        return new PromotionRow(
                report.run().hits().disk(),
                counts.promoted(),
                counts.of(PromotionOutcome.MISSED_RACE),
                counts.begun(),
                counts.done(),
                counts.of(PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE),
                counts.of(PromotionOutcome.FAILED),
                report.run().latencies().submitToReady(),
                report.run().latencies().waited(),
                report.run().hits().total(),
                report.run().blockAccesses());
    }

    /** Both together. */
    PromotionRow plus(PromotionRow other) {
        return new PromotionRow(
                fetched + other.fetched,
                promoted + other.promoted,
                missed + other.missed,
                begun + other.begun,
                done + other.done,
                evicted + other.evicted,
                failed + other.failed,
                ready.plus(other.ready),
                waited.plus(other.waited),
                hits + other.hits,
                accesses + other.accesses);
    }

    /** Blocks read that only a disk had had when their promotion, if any, began. */
    private long fromDisk() {
        return fetched + promoted;
    }

    private double inMemory() {
        return PromotionCount.share(promoted, missed + fetched);
    }

    private double hitRatio() {
        return accesses == 0 ? 0 : (double) hits / accesses;
    }

    String line(String name) {
        return String.format(Locale.ROOT, "  %-10s%,10d%9.1f %%%,10d%,10d%,10d%,10d%,10d%8.1f%8.1f%,19d%7.1f%8.1f%11.4f",
                name, fromDisk(), 100 * inMemory(), begun, done, evicted, missed, failed, ready.p50(), ready.p99(), waited.count(), waited.p50(),
                waited.p99(), hitRatio());
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
