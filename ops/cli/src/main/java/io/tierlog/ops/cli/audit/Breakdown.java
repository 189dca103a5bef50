/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.LogSummary.Evicted;
import io.tierlog.ops.audit.stats.LogSummary.Eviction;
import io.tierlog.ops.audit.stats.LogSummary.NodeTier;
import io.tierlog.ops.audit.stats.OperationCounts;
import io.tierlog.ops.cli.Columns;
import io.tierlog.schemas.OperationState;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** What {@code audit stats --by} takes; the names are what a user types. Each gives rows with the same fields. */
enum Breakdown {
    /** Each node, with its operations and evictions. */
    node {
        @Override
        ArrayNode rows(LogSummary summary) {
            ArrayNode rows = array();
            Map<String, HitCounts> hits = summary.requests().byNode();
            TreeSet<String> nodes = new TreeSet<>(hits.keySet());
            nodes.addAll(summary.operations().byNode().keySet());
            for (String node : nodes) {
                OperationCounts operations = summary.operations().ofNode(node);
                ObjectNode row = hits(rows.addObject().put("node", shortName(node)), hits.getOrDefault(node, HitCounts.NONE));
                row.put("operations", operations.started()).put("failed", operations.ended(OperationState.FAILED));
                row.put("moved_bytes", operations.movedBytes());
                row.put("evicted_blocks", summary.placements().evictions().getOrDefault(node, Map.of()).values().stream()
                        .mapToLong(Evicted::blocks)
                        .sum());
            }
            return rows;
        }
    },
    /** Each namespace. */
    tenant {
        @Override
        ArrayNode rows(LogSummary summary) {
            ArrayNode rows = array();
            summary.requests().byNamespace().forEach((namespace, hits) -> hits(rows.addObject().put("tenant", namespace), hits));
            return rows;
        }
    },
    /** Each instance group. */
    group {
        @Override
        ArrayNode rows(LogSummary summary) {
            ArrayNode rows = array();
            summary.requests().byGroup().forEach((group, hits) -> hits(rows.addObject().put("group", group), hits));
            return rows;
        }
    },
    /** Each tier of each node: how full it was, and what left it. */
    tier {
        @Override
        ArrayNode rows(LogSummary summary) {
            ArrayNode rows = array();
            TreeSet<NodeTier> tiers = new TreeSet<>(summary.watermarks().use().keySet());
            summary.placements().evictions().forEach(
                    (node, evictions) -> evictions.keySet().forEach(eviction -> tiers.add(new NodeTier(node, eviction.tier()))));
            for (NodeTier tier : tiers) {
                LogSummary.Use use = summary.watermarks().use().getOrDefault(tier, new LogSummary.Use(0, 0, 0));
                Evicted evicted = new Evicted(0, 0);
                for (Map.Entry<Eviction, Evicted> each : summary.placements().evictions().getOrDefault(tier.node(), Map.of()).entrySet()) {
                    evicted = each.getKey().tier() == tier.tier() ? evicted.plus(each.getValue()) : evicted;
                }
                rows.addObject()
                        .put("tier", tier.tier().name().toLowerCase(Locale.ROOT))
                        .put("node", shortName(tier.node()))
                        .put("capacity_blocks", use.capacity())
                        .put("most_used_blocks", use.most())
                        .put("used_blocks_at_end", use.now())
                        .put("evicted_blocks", evicted.blocks())
                        .put("last_copies", evicted.lastCopies());
            }
            return rows;
        }
    },
    /** Each reason for which something ended, left, was missed or was refused. */
    reason {
        @Override
        ArrayNode rows(LogSummary summary) {
            ArrayNode rows = array();
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

    abstract ArrayNode rows(LogSummary summary);

    /** The rows as a table for people. */
    Columns table(LogSummary summary) {
        return RowTable.of(name(), rows(summary));
    }

    private static ArrayNode array() {
        return JsonNodeFactory.instance.arrayNode();
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
