/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.LogDetail.Interval;
import io.tierlog.ops.audit.stats.LogSummary.Evicted;
import io.tierlog.ops.audit.stats.LogSummary.Requests;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.Tier;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Numbers of intervals as rows: one for each interval and each value of a breakdown that has numbers in it. */
final class SeriesRows {
    private final List<GroupPolicy> groups;

    SeriesRows(List<GroupPolicy> groups) {
        this.groups = groups;
    }

    private static final class Sum {
        private HitCounts hits = HitCounts.NONE;
        private long movedBytes;
        private Evicted evicted = new Evicted(0, 0);
        /** Of a tier: blocks of prompts that came from it. */
        private long fromTier;
        /** Blocks of all prompts of the interval. */
        private long accesses;
    }

    /** The rows of a breakdown over time; of all together when it is null. */
    ArrayNode rows(@Nullable Breakdown by, List<Interval> intervals) {
        Map<Long, Map<String, Sum>> sums = new TreeMap<>();
        intervals.forEach(interval -> add(sums.computeIfAbsent(interval.atMs(), ms -> new TreeMap<>()), by, interval));
        ArrayNode rows = JsonNodeFactory.instance.arrayNode();
        sums.forEach((atMs, values) -> values.forEach((value, sum) -> row(rows.addObject().put("time_ms", atMs), by, value, sum)));
        return rows;
    }

    /** The rows of a breakdown over all intervals together, with the same fields; {@code values} have a row in any case. */
    ArrayNode whole(Breakdown by, List<Interval> intervals, Collection<String> values) {
        Map<String, Sum> sums = new TreeMap<>();
        values.forEach(value -> sum(sums, value));
        intervals.forEach(interval -> add(sums, by, interval));
        ArrayNode rows = JsonNodeFactory.instance.arrayNode();
        sums.forEach((value, sum) -> row(rows.addObject(), by, value, sum));
        return rows;
    }

    private void add(Map<String, Sum> at, @Nullable Breakdown by, Interval interval) {
        switch (by) {
            case null -> all(at, "all", interval);
            case node -> all(at, Breakdown.shortName(interval.part().node()), interval);
            case tenant -> all(at, interval.part().namespace(), interval);
            case group -> all(at, Requests.groupOf(groups, interval.part().namespace()), interval);
            case tier -> tiers(at, interval);
            case reason -> interval.evicted().forEach((eviction, evicted) -> {
                Sum sum = sum(at, SummaryText.words(eviction.tier()) + ": " + SummaryText.words(eviction.reason()));
                sum.evicted = sum.evicted.plus(evicted);
            });
        }
    }

    private static Sum sum(Map<String, Sum> at, String value) {
        return at.computeIfAbsent(value, any -> new Sum());
    }

    private static void all(Map<String, Sum> at, String value, Interval interval) {
        Sum sum = sum(at, value.isEmpty() ? "(none)" : value);
        sum.hits = sum.hits.plus(interval.hits());
        sum.movedBytes += interval.movedBytes().values().stream().mapToLong(Long::longValue).sum();
        for (Evicted evicted : interval.evicted().values()) {
            sum.evicted = sum.evicted.plus(evicted);
        }
    }

    private static void tiers(Map<String, Sum> at, Interval interval) {
        HitCounts hits = interval.hits();
        for (Tier tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE)) {
            Sum sum = sum(at, SummaryText.words(tier));
            sum.accesses += hits.accesses();
            sum.fromTier += switch (tier) {
                case DEVICE -> hits.device();
                case HOST -> hits.host() + hits.peer();
                case DISK -> hits.disk();
                case STORE -> hits.store();
                case UNKNOWN -> 0;
            };
            sum.movedBytes += interval.movedBytes().getOrDefault(tier, 0L);
            for (var evicted : interval.evicted().entrySet()) {
                sum.evicted = evicted.getKey().tier() == tier ? sum.evicted.plus(evicted.getValue()) : sum.evicted;
            }
        }
    }

    private static void row(ObjectNode row, @Nullable Breakdown by, String value, Sum sum) {
        row.put(by == null ? "what" : by.name(), value);
        if (by == Breakdown.tier) {
            row.put("hits", sum.fromTier).put("hit_ratio", sum.accesses == 0 ? 0 : (double) sum.fromTier / sum.accesses);
        } else if (by != Breakdown.reason) {
            Breakdown.hits(row, sum.hits);
        }
        if (by != Breakdown.reason) {
            row.put("moved_bytes", sum.movedBytes);
        }
        row.put("evicted_blocks", sum.evicted.blocks()).put("last_copies", sum.evicted.lastCopies());
    }
}
