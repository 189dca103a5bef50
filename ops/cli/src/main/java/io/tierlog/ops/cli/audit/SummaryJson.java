/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.OperationCounts;
import io.tierlog.ops.audit.stats.Percentiles;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PromotionOutcome;
import java.util.Locale;
import java.util.Map;

/** Statistics of a log as JSON, names in snake case; the same fields in the report of the demo. Static and without state. */
public final class SummaryJson {
    private SummaryJson() {}

    /** All statistics. */
    static ObjectNode of(LogSummary summary) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("from_ms", summary.records().firstMs()).put("to_ms", summary.records().lastMs());
        LogSummary.Requests requests = summary.requests();
        ObjectNode attempts = json.putObject("attempts")
                .put("submitted", requests.submitted())
                .put("answered_at_once", requests.answeredAtOnce())
                .put("prefilled", requests.hits().requests());
        counts(attempts.putObject("states"), requests.states());
        counts(attempts.putObject("ends"), requests.ends());
        HitCounts hits = requests.hits();
        json.put("block_accesses", hits.accesses());
        json.putObject("hits")
                .put("device", hits.device())
                .put("host", hits.host())
                .put("disk", hits.disk())
                .put("store", hits.store())
                .put("peer", hits.peer());
        json.put("computed_blocks", hits.computed()).put("hit_ratio", hits.ratio());
        counts(json.putObject("computed_by_cause"), requests.misses());
        ObjectNode latencies = json.putObject("latency_ms");
        latencies.set("submit_to_command", json(requests.submitToCommand()));
        latencies.set("submit_to_ready_waited", json(requests.submitToReady()));
        ObjectNode durations = latencies.putObject("operations");
        summary.operations().durations().forEach((kind, times) -> durations.set(lower(kind), json(times)));
        ArrayNode evictions = json.putArray("evictions");
        summary.placements().evictionsOfAll().forEach((eviction, evicted) -> evictions.addObject()
                .put("tier", eviction.tier().name())
                .put("reason", eviction.reason().name())
                .put("blocks", evicted.blocks())
                .put("last_copies", evicted.lastCopies()));
        counts(json.putObject("refused_inputs"), summary.records().refused());
        counts(json.putObject("skipped_records"), summary.records().skipped());
        add(json, summary, hits.disk());
        return json;
    }

    /**
     * Adds what the report of a run takes from the log.
     *
     * @param fetchedFromDisk blocks that were fetched from disks for their requests
     */
    public static void add(ObjectNode json, LogSummary summary, long fetchedFromDisk) {
        operations(json, summary.operations());
        ObjectNode reasons = json.putObject("operation_reasons");
        summary.operations().byKind().forEach((kind, operations) -> counts(reasons.putObject(lower(kind)), operations.reasons()));
        LogSummary.Records records = summary.records();
        json.put("events", records.events());
        json.put("decisions", records.facts());
        json.put("commands", records.commands());
        json.put("waits_expired", summary.requests().waitsExpired());
        json.put("recovered_blocks", summary.placements().recovered());
        json.put("unreadable_records", records.unreadable());
        watermarks(json, summary.watermarks(), summary.operations());
        placements(json, summary.placements());
        promotions(json, summary.promotions(), fetchedFromDisk);
        peerReads(json, summary.peerReads());
    }

    /** Percentiles. */
    public static ObjectNode json(Percentiles times) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("count", times.count())
                .put("p50", times.p50())
                .put("p90", times.p90())
                .put("p99", times.p99())
                .put("max", times.max());
    }

    private static void operations(ObjectNode json, LogSummary.Operations operations) {
        json.putObject("operations")
                .put("unfinished_before", operations.unfinishedBefore())
                .put("started", operations.started())
                .put("done", operations.ended(OperationState.DONE))
                .put("failed", operations.ended(OperationState.FAILED))
                .put("cancelled", operations.ended(OperationState.CANCELLED))
                .put("fenced", operations.ended(OperationState.FENCED))
                .put("unfinished", operations.unfinished())
                .put("breaches", operations.breaches());
        Map<OperationKind, OperationCounts> kinds = operations.byKind();
        ObjectNode started = json.putObject("operations_by_kind");
        ObjectNode bytes = json.putObject("bytes");
        kinds.forEach((kind, counts) -> {
            if (counts.started() > 0) {
                started.put(lower(kind), counts.started());
            }
            if (!counts.ends().isEmpty()) {
                bytes.put(lower(kind), counts.movedBytes());
            }
        });
    }

    private static void watermarks(ObjectNode json, LogSummary.Watermarks watermarks, LogSummary.Operations operations) {
        ArrayNode all = json.putArray("water_levels");
        watermarks.above().forEach((watermark, above) -> all.addObject()
                .put("node", watermark.node())
                .put("tier", watermark.tier().name())
                .put("group", watermark.group())
                .put("crossings", above.crossings())
                .put("longest_ms", above.longestMs())
                .put("sum_ms", above.sumMs()));
        json.put("relief_batches", operations.batches()).put("longest_batch_ms", operations.longestBatchMs());
    }

    private static void placements(ObjectNode json, LogSummary.Placements placements) {
        ArrayNode all = json.putArray("resident_blocks");
        placements.most().forEach((place, most) -> all.addObject()
                .put("namespace", place.namespace())
                .put("node", place.node())
                .put("tier", place.tier().name())
                .put("most", most)
                .put("end", placements.end().getOrDefault(place, 0L)));
        json.put("resident_blocks_whole", placements.complete());
        ArrayNode lost = json.putArray("last_copies_lost");
        placements.evictionsOfAll().forEach((eviction, evicted) -> {
            if (evicted.lastCopies() > 0) {
                lost.addObject()
                        .put("tier", eviction.tier().name())
                        .put("reason", eviction.reason().name())
                        .put("blocks", evicted.lastCopies());
            }
        });
    }

    private static void promotions(ObjectNode json, LogSummary.Promotions promotions, long fetchedFromDisk) {
        ObjectNode all = json.putObject("promotions");
        counts(all.putObject("replies"), promotions.replies());
        counts(all.putObject("outcomes"), promotions.outcomes());
        all.put("begun_blocks", promotions.begun()).put("done_blocks", promotions.done());
        all.put("in_memory_when_read", promotions.inMemory(promotions.of(PromotionOutcome.MISSED_RACE) + fetchedFromDisk));
    }

    private static void peerReads(ObjectNode json, LogSummary.PeerReads reads) {
        ObjectNode all = json.putObject("peer_reads")
                .put("asked", reads.asked())
                .put("asked_blocks", reads.askedBlocks())
                .put("granted", reads.granted())
                .put("fetched_blocks", reads.fetchedBlocks())
                .put("sent_blocks", reads.sentBlocks())
                .put("sent_bytes", reads.sentBytes());
        counts(all.putObject("refused"), reads.refused());
        counts(all.putObject("ended"), reads.ended());
    }

    private static void counts(ObjectNode json, Map<?, Long> counts) {
        counts.forEach((key, count) -> json.put(lower(key), count));
    }

    private static String lower(Object name) {
        return name.toString().toLowerCase(Locale.ROOT);
    }
}
