/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the decisions on the log say of water levels: how long each stood at its high mark or was on the way down from it, and how long the copies
 * and drops took that brought it down. Bounded: one entry for each level, one for each operation in flight, and {@value #MAX_SAMPLES} samples of
 * how full tiers were as the agents said. Not thread-safe.
 */
final class LevelBook {
    private static final int MAX_SAMPLES = 100_000;

    private final Map<Level, Stay> stays = new LinkedHashMap<>();
    private final Map<String, Long> begun = new LinkedHashMap<>();
    private final List<Sample> samples = new ArrayList<>();
    private long longestBatchMs;
    private long batches;

    /** A level: of a group on a tier, or of a tier when the group is empty text. */
    record Level(String node, Tier tier, String group) {}

    /**
     * Times of one level.
     *
     * @param crossings how often it came to its high mark
     * @param sumMs time in which it stood there or was on the way down, in milliseconds
     * @param longestMs the longest of these times
     * @param openSinceMs when the present one began, milliseconds since 1970; 0 when none is
     */
    record Stay(long crossings, long sumMs, long longestMs, long openSinceMs) {}

    /** Pages of a tier as an agent said it, at a time in milliseconds since 1970. */
    record Sample(long atMs, String node, Tier tier, long used, long pins, long capacity) {}

    /**
     * What was found.
     *
     * @param stays times of each level
     * @param batches copies and drops that have ended
     * @param longestBatchMs the longest time from a copy's or drop's decision to its end, in milliseconds
     * @param samples how full tiers were
     */
    record Levels(Map<Level, Stay> stays, long batches, long longestBatchMs, List<Sample> samples) {}

    void take(Fact decision, long atMs) {
        switch (decision) {
            case WaterLevelCrossed c -> {
                Level level = new Level(c.envelope().aggregate(), c.tier(), c.group());
                Stay was = stays.getOrDefault(level, new Stay(0, 0, 0, 0));
                stays.put(level, new Stay(was.crossings + 1, was.sumMs, was.longestMs, atMs));
            }
            case WaterLevelRelieved r -> stays.computeIfPresent(
                    new Level(r.envelope().aggregate(), r.tier(), r.group()), (level, was) -> ended(was, atMs));
            case OperationIssued o when isBatch(o.kind()) -> begun.put(o.operation(), atMs);
            case OperationEnded o when isBatch(o.kind()) -> {
                Long since = begun.remove(o.operation());
                if (since != null) {
                    batches++;
                    longestBatchMs = Math.max(longestBatchMs, atMs - since);
                }
            }
            case NodeSeen seen -> seen.usage().forEach(usage -> sample(seen.envelope().aggregate(), usage, atMs));
            default -> {}
        }
    }

    private static boolean isBatch(OperationKind kind) {
        return kind == OperationKind.COPY || kind == OperationKind.DROP;
    }

    private static Stay ended(Stay was, long atMs) {
        long ms = Math.max(0, atMs - was.openSinceMs);
        return new Stay(was.crossings, was.sumMs + ms, Math.max(was.longestMs, ms), 0);
    }

    private void sample(String node, TierUsage usage, long atMs) {
        if (samples.size() < MAX_SAMPLES) {
            long used = usage.capacityBlocks() - usage.freeBlocks();
            samples.add(new Sample(atMs, node, usage.tier(), used, usage.pinCount(), usage.capacityBlocks()));
        }
    }

    /** What was found so far; a level that is not down yet counts until {@code nowMs}. */
    Levels levels(long nowMs) {
        Map<Level, Stay> all = new LinkedHashMap<>();
        stays.forEach((level, stay) -> all.put(level, stay.openSinceMs == 0 ? stay : ended(stay, nowMs)));
        return new Levels(all, batches, longestBatchMs, List.copyOf(samples));
    }
}
