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
 * Watermarks and use of tiers. What was reached or reported before the stretch counts from its beginning on. Memory: an entry for each
 * watermark and each tier of each node, and {@value #MAX_SAMPLES} samples. Not thread-safe.
 */
final class WatermarkStatistics {
    static final int MAX_SAMPLES = 100_000;

    private final long fromMs;
    private final Map<Watermark, TimeAbove> ended = new TreeMap<>();
    private final Map<Watermark, Long> aboveSinceMs = new TreeMap<>();
    private final Map<NodeTier, Use> use = new TreeMap<>();
    private final List<Sample> samples = new ArrayList<>();

    /** Counts what happens from {@code fromMs} on. */
    WatermarkStatistics(long fromMs) {
        this.fromMs = fromMs;
    }

    void fact(Fact fact, long atMs) {
        String node = fact.envelope().aggregate();
        // Facts of other types do not concern the use of tiers.
        switch (fact) {
            case WaterLevelCrossed f -> {
                Watermark watermark = new Watermark(node, f.tier(), f.group());
                aboveSinceMs.put(watermark, atMs);
                if (atMs >= fromMs) {
                    ended.merge(watermark, new TimeAbove(1, 0, 0), TimeAbove::plus);
                }
            }
            case WaterLevelRelieved f -> {
                Watermark watermark = new Watermark(node, f.tier(), f.group());
                Long since = aboveSinceMs.remove(watermark);
                if (since != null && atMs >= fromMs) {
                    ended.merge(watermark, above(since, atMs), TimeAbove::plus);
                }
            }
            case NodeSeen f -> f.usage().forEach(usage -> sample(node, usage, atMs));
            default -> {}
        }
    }

    private TimeAbove above(long sinceMs, long atMs) {
        long ms = Math.max(0, atMs - Math.max(sinceMs, fromMs));
        return new TimeAbove(0, ms, ms);
    }

    private void sample(String node, TierUsage usage, long atMs) {
        long used = usage.capacityBlocks() - usage.freeBlocks();
        use.merge(new NodeTier(node, usage.tier()), new Use(used, used, usage.capacityBlocks()),
                (was, now) -> new Use(now.now(), atMs < fromMs ? now.most() : Math.max(was.most(), now.most()), now.capacity()));
        if (atMs >= fromMs && samples.size() < MAX_SAMPLES) {
            samples.add(new Sample(atMs, node, usage.tier(), used, usage.pinCount(), usage.capacityBlocks()));
        }
    }

    /** A watermark that is still above its low mark counts until {@code nowMs}. */
    LogSummary.Watermarks summary(long nowMs) {
        Map<Watermark, TimeAbove> above = new TreeMap<>(ended);
        if (nowMs >= fromMs) {
            aboveSinceMs.forEach((watermark, since) -> above.merge(watermark, above(since, nowMs), TimeAbove::plus));
        }
        return new LogSummary.Watermarks(above, new TreeMap<>(use), List.copyOf(samples));
    }
}
