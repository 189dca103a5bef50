/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.RandomHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.schemas.decision.Fact;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the core decides in random histories breaks none of the invariants that decisions can break. */
class LogInvariantsHistoryTest {
    /** The agents of these histories keep no pages: what agents alone can break is left to logs of real ones. */
    private static final Set<Invariant> OF_AGENTS = EnumSet.of(Invariant.I2, Invariant.I3, Invariant.I4, Invariant.I9, Invariant.I10);

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void randomHistoriesBreakNothing(long seed) {
        RandomHistory history = new RandomHistory(seed, (w, e) -> {}, () -> {}).run(1_500);
        List<Violation> found = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(v -> {
            if (!OF_AGENTS.contains(v.invariant())) {
                found.add(v);
            }
        });
        List<Fact> facts = history.world().facts;
        int next = 0;
        for (Input input : history.world().log) {
            if (input instanceof Input.Recorded recorded) {
                invariants.event(0, recorded.offset(), recorded.event());
            } else {
                invariants.unreadable(0, input.offset());
            }
            while (next < facts.size() && String.valueOf(facts.get(next).envelope().cause()).endsWith("@" + input.offset())) {
                invariants.decision(0, next, facts.get(next++));
            }
        }
        invariants.atEnd(false);

        assertEquals(facts.size(), next, "every fact answers an input");
        assertEquals(List.of(), found, () -> "seed " + seed);
        LogInvariants.Counts counts = invariants.counts();
        assertEquals(counts.started(), counts.done() + counts.failed() + counts.cancelled() + counts.fenced() + counts.unfinished());
    }
}
