/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogDetail.Interval;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.OperationCounts;
import io.tierlog.schemas.OperationState;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What {@code audit stats --by} takes; the names are what a user types. Each gives rows with the same fields: those of {@link SeriesRows}, and what
 * only a whole stretch has.
 */
enum Breakdown {
    /** Each node, with its operations and evictions. */
    node {
        @Override
        ArrayNode rows(LogSummary summary, List<Interval> intervals) {
            Map<String, OperationCounts> operations = new TreeMap<>();
            summary.operations().byNode().keySet().forEach(of -> operations.put(shortName(of), summary.operations().ofNode(of)));
            ArrayNode rows = series(summary).whole(this, intervals, operations.keySet());
            for (JsonNode row : rows) {
                OperationCounts counts = operations.getOrDefault(row.path(name()).asText(), OperationCounts.NONE);
                ((ObjectNode) row).put("operations", counts.started()).put("failed", counts.ended(OperationState.FAILED));
            }
            return rows;
        }
    },
    /** Each namespace. */
    tenant {
        @Override
        ArrayNode rows(LogSummary summary, List<Interval> intervals) {
            return series(summary).whole(this, intervals, List.of());
        }
    },
    /** Each instance group. */
    group {
        @Override
        ArrayNode rows(LogSummary summary, List<Interval> intervals) {
            return series(summary).whole(this, intervals, List.of());
        }
    },
    /** Each tier of each node: what it gave and got, how full it was, and what left it. */
    tier {
        @Override
        ArrayNode rows(LogSummary summary, List<Interval> intervals) {
            Map<String, List<Interval>> nodes = new TreeMap<>(
                    intervals.stream().collect(Collectors.groupingBy(interval -> interval.part().node())));
            summary.watermarks().use().keySet().forEach(tier -> nodes.putIfAbsent(tier.node(), List.of()));
            ArrayNode rows = JsonNodeFactory.instance.arrayNode();
            nodes.forEach((node, ofNode) -> {
                Map<String, LogSummary.Use> uses = new TreeMap<>();
                summary.watermarks().use().forEach((tier, use) -> {
                    if (tier.node().equals(node)) {
                        uses.put(SummaryText.words(tier.tier()), use);
                    }
                });
                for (JsonNode row : series(summary).whole(this, ofNode, uses.keySet())) {
                    LogSummary.Use use = uses.getOrDefault(row.path(name()).asText(), new LogSummary.Use(0, 0, 0));
                    boolean isUsed = Stream.of("hits", "moved_bytes", "evicted_blocks").anyMatch(field -> row.path(field).asLong() > 0);
                    if (isUsed || use.capacity() > 0) {
                        rows.add(((ObjectNode) row).put("node", shortName(node)).put("capacity_blocks", use.capacity())
                                .put("most_used_blocks", use.most()).put("used_blocks_at_end", use.now()));
                    }
                }
            });
            return rows;
        }
    },
    /** Each reason for which something ended, left, was missed or was refused. */
    reason {
        @Override
        ArrayNode rows(LogSummary summary, List<Interval> intervals) {
            ArrayNode rows = JsonNodeFactory.instance.arrayNode();
            summary.requests().misses().forEach((cause, blocks) -> reason(rows, "computed blocks", cause, blocks));
            summary.requests().ends().forEach((why, requests) -> reason(rows, "ended requests", why.name(), requests));
            summary.operations().byKind().forEach((kind, counts) ->
                    counts.reasons().forEach((why, ended) -> reason(rows, "operations: " + kind.name(), why.name(), ended)));
            summary.placements().evictionsOfAll().forEach(
                    (eviction, evicted) -> reason(rows, "blocks that left: " + eviction.tier(), eviction.reason().name(), evicted.blocks()));
            summary.peerReads().refused().forEach((why, reads) -> reason(rows, "refused peer reads", why.name(), reads));
            summary.records().refused().forEach((why, inputs) -> reason(rows, "refused inputs", why.name(), inputs));
            summary.records().skipped().forEach((why, records) -> reason(rows, "skipped records", why.name(), records));
            return rows;
        }
    };

    /**
     * The rows.
     *
     * @param intervals the stretch in one interval, or in several
     */
    abstract ArrayNode rows(LogSummary summary, List<Interval> intervals);

    private static SeriesRows series(LogSummary summary) {
        return new SeriesRows(summary.requests().groups());
    }

    static String shortName(String aggregate) {
        return aggregate.startsWith("node/") ? aggregate.substring("node/".length()) : aggregate;
    }

    static ObjectNode hits(ObjectNode row, HitCounts hits) {
        return row.put("requests", hits.requests())
                .put("blocks", hits.accesses())
                .put("device", hits.device())
                .put("host", hits.host())
                .put("disk", hits.disk())
                .put("store", hits.store())
                .put("peer", hits.peer())
                .put("computed", hits.computed())
                .put("hit_ratio", hits.ratio());
    }

    private static void reason(ArrayNode rows, String what, String reason, long count) {
        rows.addObject().put("what", what).put("reason", reason.toLowerCase(Locale.ROOT)).put("count", count);
    }
}
