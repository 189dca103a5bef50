/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Latency;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counts what happens in a run. For one thread. */
final class ResultCounts {
    private static final long MAX_MICROS = TimeUnit.DAYS.toMicros(1);
    private static final int DIGITS = 3;

    private final Histogram firstToken = new Histogram(MAX_MICROS, DIGITS);
    private final Map<WhatIfResult.Removed, Long> removed = new HashMap<>();
    private int requests;
    private int rejected;
    private long accesses;
    private Hits hits = Hits.NONE;
    private long savedTokens;
    private long computedTokens;
    private long quotaExceeded;
    private long waterLevels;
    private long lastCopiesLost;
    private long mostPins;
    private long refused;

    void served(Request request, Hits of, long firstTokenMicros) {
        requests++;
        accesses += request.accesses();
        hits = hits.plus(of);
        long saved = of.total() * request.shape().blockTokens();
        savedTokens += saved;
        computedTokens += request.shape().inputTokens() - saved;
        firstToken.recordValue(Math.min(MAX_MICROS, firstTokenMicros));
    }

    void rejected() {
        rejected++;
    }

    void refused() {
        refused++;
    }

    void fact(Fact fact) {
        switch (fact) {
            case BlocksRemoved f -> {
                removed.merge(new WhatIfResult.Removed(f.tier(), f.reason()), (long) f.blocks().size(), Long::sum);
                lastCopiesLost += f.lastCopiesLost();
            }
            case QuotaExceeded _ -> quotaExceeded++;
            case WaterLevelCrossed _ -> waterLevels++;
            default -> {}
        }
    }

    void event(Event event) {
        if (event instanceof AgentHeartbeat heartbeat) {
            for (TierUsage usage : heartbeat.usage()) {
                mostPins = usage.tier() == Tier.HOST ? Math.max(mostPins, usage.pinCount()) : mostPins;
            }
        }
    }

    WhatIfResult result(WhatIfResult.Moved moved, long virtualMs) {
        return new WhatIfResult(
                requests, rejected, accesses, hits, savedTokens, computedTokens, Latency.of(firstToken, TimeUnit.MICROSECONDS), moved, removed,
                new WhatIfResult.Pressure(quotaExceeded, waterLevels, lastCopiesLost, mostPins, refused), virtualMs);
    }
}
