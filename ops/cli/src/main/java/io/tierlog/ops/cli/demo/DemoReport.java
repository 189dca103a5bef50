/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.engine.Latency;
import io.tierlog.ops.engine.RunReport;
import java.util.Locale;
import java.util.Optional;

/**
 * What a run came to.
 *
 * @param run what the engines saw
 * @param log what the log says; empty when there was none
 * @param without the same workload with device caches alone; empty when it was not run
 */
record DemoReport(RunReport run, Optional<LogSummary> log, Optional<RunReport> without) {
    /** Whether the run is what it must be: it adds up, no wrong byte, every operation with exactly one end. */
    boolean sound() {
        boolean logSound = log.map(summary -> summary.settled()
                        && summary.counts().unreadable() == 0
                        && summary.counts().operations().unfinished() == 0
                        && summary.counts().operations().breaches() == 0)
                .orElse(true);
        return run.addsUp() && run.wrongContent() == 0 && logSound;
    }

    /** One object, names in snake case. */
    ObjectNode toJson() {
        ObjectNode json = run.toJson();
        log.ifPresent(summary -> add(json, summary));
        without.ifPresent(other -> {
            ObjectNode report = other.toJson();
            ObjectNode short_ = json.putObject("without_tiers");
            short_.set("hits", report.get("hits"));
            short_.set("computed_blocks", report.get("computed_blocks"));
            short_.set("hit_ratio", report.get("hit_ratio"));
            short_.set("time_to_first_token_ms", report.get("latency_ms").get("time_to_first_token"));
        });
        return json;
    }

    private static void levels(ObjectNode json, LevelBook.Levels levels) {
        ArrayNode all = json.putArray("water_levels");
        levels.stays()
                .forEach((level, stay) -> all.addObject()
                        .put("node", level.node())
                        .put("tier", level.tier().name())
                        .put("group", level.group())
                        .put("crossings", stay.crossings())
                        .put("longest_ms", stay.longestMs())
                        .put("sum_ms", stay.sumMs()));
        json.put("relief_batches", levels.batches()).put("longest_batch_ms", levels.longestBatchMs());
    }

    private static void resident(ObjectNode json, LogSummary.Resident resident) {
        ArrayNode all = json.putArray("resident_blocks");
        resident.most()
                .forEach((place, most) -> all.addObject()
                        .put("namespace", place.namespace())
                        .put("node", place.node())
                        .put("tier", place.tier().name())
                        .put("most", most)
                        .put("end", resident.end().getOrDefault(place, 0L)));
        json.put("resident_blocks_whole", resident.whole());
        ArrayNode lost = json.putArray("last_copies_lost");
        resident.lost()
                .forEach((loss, blocks) -> lost.addObject()
                        .put("tier", loss.tier().name())
                        .put("reason", loss.reason().name())
                        .put("blocks", blocks));
    }

    private static void promotions(ObjectNode json, PromotionCount.Counts promotions) {
        ObjectNode all = json.putObject("promotions");
        ObjectNode replies = all.putObject("replies");
        promotions.replies().forEach((reply, blocks) -> replies.put(reply.name().toLowerCase(Locale.ROOT), blocks));
        ObjectNode outcomes = all.putObject("outcomes");
        promotions.outcomes().forEach((outcome, blocks) -> outcomes.put(outcome.name().toLowerCase(Locale.ROOT), blocks));
        all.put("begun_blocks", promotions.begun()).put("done_blocks", promotions.done());
        all.put("in_memory_when_read", promotions.inMemory(json.path("hits").path("disk").asLong()));
    }

    private static void peers(ObjectNode json, PeerCount.Counts peers) {
        ObjectNode all = json.putObject("peer_reads")
                .put("asked", peers.asked())
                .put("asked_blocks", peers.askedBlocks())
                .put("granted", peers.granted())
                .put("fetched_blocks", peers.fetchedBlocks())
                .put("sent_blocks", peers.sentBlocks())
                .put("sent_bytes", peers.sentBytes());
        ObjectNode refused = all.putObject("refused");
        peers.refused().forEach((reason, reads) -> refused.put(reason.name().toLowerCase(Locale.ROOT), reads));
        ObjectNode ended = all.putObject("ended");
        peers.ended().forEach((reason, reads) -> ended.put(reason.name().toLowerCase(Locale.ROOT), reads));
    }

    private static void add(ObjectNode json, LogSummary summary) {
        OperationBook.Totals totals = summary.counts().operations();
        json.putObject("operations")
                .put("started", totals.started())
                .put("done", totals.done())
                .put("failed", totals.failed())
                .put("cancelled", totals.cancelled())
                .put("fenced", totals.fenced())
                .put("unfinished", totals.unfinished())
                .put("breaches", totals.breaches());
        ObjectNode kinds = json.putObject("operations_by_kind");
        summary.startedByKind().forEach(kinds::put);
        ObjectNode bytes = json.putObject("bytes");
        summary.bytesByKind().forEach(bytes::put);
        json.put("events", summary.counts().events());
        json.put("decisions", summary.counts().decisions());
        json.put("commands", summary.counts().commands());
        json.put("waits_expired", summary.counts().waitsExpired());
        json.put("recovered_blocks", summary.counts().recovered());
        json.put("unreadable_records", summary.counts().unreadable());
        levels(json, summary.levels());
        resident(json, summary.resident());
        promotions(json, summary.promotions());
        peers(json, summary.peers());
        JsonNode latencies = json.get("latency_ms");
        if (latencies instanceof ObjectNode object) {
            Latency latency = summary.submitToCommand();
            object.putObject("submit_to_command")
                    .put("count", latency.count())
                    .put("p50", latency.p50())
                    .put("p90", latency.p90())
                    .put("p99", latency.p99())
                    .put("max", latency.max());
        }
    }
}
