/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.stats.LogSummary.NodeTier;
import io.tierlog.ops.audit.stats.LogSummary.Sample;
import io.tierlog.ops.audit.stats.LogSummary.TimeAbove;
import io.tierlog.ops.audit.stats.LogSummary.Use;
import io.tierlog.ops.audit.stats.LogSummary.Watermark;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Watermarks and use of tiers. Memory: an entry for each watermark and each tier of each node, and {@value #MAX_SAMPLES} samples. Not thread-safe.
 */
final class WatermarkStatistics {
    static final int MAX_SAMPLES = 100_000;

    private final Map<Watermark, TimeAbove> ended = new TreeMap<>();
    private final Map<Watermark, Long> aboveSinceMs = new TreeMap<>();
    private final Map<NodeTier, Use> use = new TreeMap<>();
    private final List<Sample> samples = new ArrayList<>();

    void fact(Fact fact, long atMs) {
        String node = fact.envelope().aggregate();
        // Facts of other types do not concern the use of tiers.
        switch (fact) {
            case WaterLevelCrossed f -> {
                Watermark watermark = new Watermark(node, f.tier(), f.group());
                ended.merge(watermark, new TimeAbove(1, 0, 0), (was, one) -> new TimeAbove(was.crossings() + 1, was.sumMs(), was.longestMs()));
                aboveSinceMs.put(watermark, atMs);
            }
            case WaterLevelRelieved f -> {
                Watermark watermark = new Watermark(node, f.tier(), f.group());
                ended.computeIfPresent(watermark, (key, was) -> until(key, was, atMs));
                aboveSinceMs.remove(watermark);
            }
            case NodeSeen f -> f.usage().forEach(usage -> sample(node, usage, atMs));
            default -> {}
        }
    }

    private TimeAbove until(Watermark watermark, TimeAbove was, long atMs) {
        long ms = Math.max(0, atMs - aboveSinceMs.getOrDefault(watermark, atMs));
        return new TimeAbove(was.crossings(), was.sumMs() + ms, Math.max(was.longestMs(), ms));
    }

    private void sample(String node, TierUsage usage, long atMs) {
        long used = usage.capacityBlocks() - usage.freeBlocks();
        use.merge(new NodeTier(node, usage.tier()), new Use(used, used, usage.capacityBlocks()),
                (was, now) -> new Use(now.now(), Math.max(was.most(), now.most()), now.capacity()));
        if (samples.size() < MAX_SAMPLES) {
            samples.add(new Sample(atMs, node, usage.tier(), used, usage.pinCount(), usage.capacityBlocks()));
        }
    }

    /** A watermark that is still above its low mark counts until {@code nowMs}. */
    LogSummary.Watermarks summary(long nowMs) {
        Map<Watermark, TimeAbove> above = new TreeMap<>();
        ended.forEach((watermark, was) -> above.put(watermark, aboveSinceMs.containsKey(watermark) ? until(watermark, was, nowMs) : was));
        return new LogSummary.Watermarks(above, new TreeMap<>(use), List.copyOf(samples));
    }
}
