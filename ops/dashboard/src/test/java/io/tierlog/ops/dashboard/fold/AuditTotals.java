/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.Window;
import io.tierlog.schemas.OperationState;

/** Compares the totals of a page with what {@code audit stats} says of the same log. */
public final class AuditTotals {
    private AuditTotals() {}

    /** Fails when a number differs. */
    public static void assertEqual(LogSummary audit, Window page, String when) {
        assertSums(audit, page.counters(), when);
        audit.requests().misses().forEach(
                (cause, blocks) -> assertEquals(blocks, page.counters().get(Names.MISSED + cause), when + " " + cause));
        assertEquals(audit.requests().submitToReady(), page.ready().percentiles(), when);
    }

    /** Fails when a sum differs; times and the causes of misses may. */
    static void assertSums(LogSummary audit, Counters counters, String when) {
        assertEquals(audit.records().events(), counters.get(Names.EVENTS), when);
        assertEquals(audit.records().facts(), counters.get(Names.FACTS), when);
        assertEquals(audit.records().commands(), counters.get(Names.COMMANDS), when);
        assertEquals(audit.requests().submitted(), counters.get(Names.SUBMITTED), when);
        assertEquals(audit.requests().answeredAtOnce(), counters.get(Names.AT_ONCE), when);
        assertEquals(audit.requests().waitsExpired(), counters.get(Names.EXPIRED), when);
        assertEquals(audit.requests().hits(), Names.hits(counters), when);
        assertEquals(audit.requests().misses().values().stream().mapToLong(Long::longValue).sum(), counters.sum(Names.MISSED), when);
        audit.requests().ends().forEach((reason, count) -> assertEquals(count, counters.get(Names.ENDS + reason), when + " " + reason));
        audit.placements().evictionsOfAll().forEach((eviction, evicted) -> {
            assertEquals(evicted.blocks(), counters.get(Names.evicted(eviction.tier(), eviction.reason())), when + " " + eviction);
            assertEquals(evicted.lastCopies(), counters.get(Names.lastCopies(eviction.tier(), eviction.reason())), when + " " + eviction);
        });
        audit.operations().byKind().forEach((kind, counts) -> {
            assertEquals(counts.started(), counters.get(Names.started(kind)), when + " " + kind);
            for (OperationState state : OperationState.values()) {
                assertEquals(counts.ended(state), counters.get(Names.ended(kind, state)), when + " " + kind + " " + state);
            }
        });
        long refused = audit.records().refused().values().stream().mapToLong(Long::longValue).sum();
        assertEquals(refused, counters.get(Names.REFUSED), when);
    }
}
