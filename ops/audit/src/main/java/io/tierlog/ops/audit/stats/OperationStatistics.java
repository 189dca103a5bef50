/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * Operations, from the facts alone: unfinished before + started = done + failed + cancelled + fenced + unfinished, and each has one end. What
 * began before the stretch is remembered and not counted. Memory: an entry for each unfinished operation, and one for each node and kind. Not
 * thread-safe.
 */
final class OperationStatistics {
    private final long fromMs;
    private final Map<String, Long> issuedAtMs = new HashMap<>();
    private final Map<String, Map<OperationKind, OperationCounts>> byNode = new TreeMap<>();
    private final Map<OperationKind, Histogram> durations = new EnumMap<>(OperationKind.class);
    private long unfinishedBefore;
    private long breaches;
    private long batches;
    private long longestBatchMs;

    /** Counts what happens from {@code fromMs} on. */
    OperationStatistics(long fromMs) {
        this.fromMs = fromMs;
    }

    void fact(Fact fact, long atMs) {
        if (atMs >= fromMs) {
            OperationCounts.of(fact).ifPresent(more -> byNode
                    .computeIfAbsent(fact.envelope().aggregate(), n -> new EnumMap<>(OperationKind.class))
                    .merge(more.kind(), more.counts(), OperationCounts::plus));
        }
        // Facts of other types do not concern operations.
        switch (fact) {
            case OperationIssued f -> {
                boolean isSecond = issuedAtMs.put(f.operation(), atMs) != null;
                if (atMs >= fromMs) {
                    breaches += isSecond ? 1 : 0;
                } else {
                    unfinishedBefore += isSecond ? 0 : 1;
                }
            }
            case OperationEnded f -> {
                Long since = issuedAtMs.remove(f.operation());
                if (atMs >= fromMs) {
                    if (since == null) {
                        breaches++;
                    } else {
                        duration(f.kind(), atMs - since);
                    }
                } else {
                    unfinishedBefore -= since == null ? 0 : 1;
                }
            }
            default -> {}
        }
    }

    private void duration(OperationKind kind, long ms) {
        durations.computeIfAbsent(kind, k -> Latencies.histogram()).recordValue(Latencies.clamp(ms));
        if (kind == OperationKind.COPY || kind == OperationKind.DROP) {
            batches++;
            longestBatchMs = Math.max(longestBatchMs, ms);
        }
    }

    long unfinished() {
        return issuedAtMs.size();
    }

    LogSummary.Operations summary() {
        Map<String, Map<OperationKind, OperationCounts>> counts = new TreeMap<>();
        byNode.forEach((node, kinds) -> counts.put(node, new EnumMap<>(kinds)));
        Map<OperationKind, Percentiles> times = new EnumMap<>(OperationKind.class);
        durations.forEach((kind, histogram) -> times.put(kind, Percentiles.of(histogram)));
        return new LogSummary.Operations(counts, unfinishedBefore, issuedAtMs.size(), breaches, times, batches, longestBatchMs);
    }
}
