/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.BlockKey;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Counts the misses up to the ideal by cause. Those whose cause depends on when a block reached the store are kept until the end of the run, when the
 * log is complete. Thread-safe. Trade-off: some 40 bytes for each of those, at most {@link #MAX_OPEN}.
 */
final class MissLedger {
    /** Misses beyond these are counted by the agent's answer. */
    private static final int MAX_OPEN = 4_000_000;

    private final StoredAt storedAt;
    private final ReplayConfig config;
    private final Map<MissCause, Long> settled = new EnumMap<>(MissCause.class);
    private final List<Open> open = new ArrayList<>();

    MissLedger(ReplayConfig config) {
        this.config = config;
        this.storedAt = config.storedAt();
    }

    /** An open miss; {@code start} marks the first of its request, {@code NEXT} that the one before it belongs to the same request. */
    private record Open(int tenant, BlockKey key, long submittedMs, MissCause cause, Start start) {}

    private enum Start {
        NEXT,
        /** The first of its request; the blocks before it were hits. */
        WHOLE,
        /** The first of its request; a block before it was not there in time. */
        BROKEN
    }

    /** Notes the misses of a request that was submitted at {@code submittedMs} since the epoch. */
    synchronized void note(Outcome outcome, long submittedMs) {
        Start start = Start.WHOLE;
        for (Outcome.Miss miss : outcome.misses()) {
            if (miss.settled() || !storedAt.known() || open.size() == MAX_OPEN) {
                settled.merge(miss.cause(), 1L, Long::sum);
                start = Start.BROKEN;
            } else {
                BlockKey key = outcome.request().promptKeys().get(miss.index());
                open.add(new Open(outcome.request().tenant(), key, submittedMs, miss.cause(), start));
                start = Start.NEXT;
            }
        }
    }

    /** All misses by cause; settles the open ones by the log. */
    synchronized Map<MissCause, Long> settle() {
        boolean broken = false;
        for (Open miss : open) {
            broken = miss.start == Start.BROKEN || (miss.start == Start.NEXT && broken);
            OptionalLong stored = storedAt.storedAtMs(config.namespace(miss.tenant), miss.key);
            MissCause cause = cause(miss, stored, broken);
            broken |= cause == MissCause.EVICTED_BEFORE_BACKUP || cause == MissCause.IN_FLIGHT;
            settled.merge(cause, 1L, Long::sum);
        }
        open.clear();
        return new EnumMap<>(settled);
    }

    private static MissCause cause(Open miss, OptionalLong stored, boolean broken) {
        if (stored.isEmpty()) {
            return MissCause.EVICTED_BEFORE_BACKUP;
        }
        if (stored.getAsLong() > miss.submittedMs) {
            return MissCause.IN_FLIGHT;
        }
        if (broken) {
            return MissCause.TOO_SHORT_CHAIN;
        }
        return miss.cause == MissCause.NOTHING_BELOW ? MissCause.OTHER : miss.cause;
    }
}
