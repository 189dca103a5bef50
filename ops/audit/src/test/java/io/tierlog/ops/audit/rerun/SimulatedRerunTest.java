/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Random histories with crashes and undone transactions are decided again: the same, byte by byte. */
class SimulatedRerunTest {
    private static final int EPISODES = 20;

    /** Reruns the episodes of some seeds; together they have restarts and undone transactions. */
    static void assertSame(long first, int count) {
        long decisions = 0;
        long starts = 0;
        long decidedAgain = 0;
        for (long seed = first; seed < first + count; seed++) {
            SimulatedRerun log = SimulatedRerun.of(seed);
            for (PartitionRerun.Result result : log.rerun()) {
                assertEquals(0, result.differences(), "seed " + seed + ": " + result);
                decisions += result.decisions();
            }
            starts += log.starts();
            decidedAgain += log.decidedAgain();
        }
        assertTrue(decisions > 1_000L * count, "decisions " + decisions);
        assertTrue(starts > 2L * count, "starts of the controller " + starts);
        assertTrue(decidedAgain > count, "events that were decided again " + decidedAgain);
    }

    @Test
    void simulatedLogsAreDecidedTheSame() {
        assertSame(1, EPISODES);
    }

    /** What follows the altered decision is decided as it was: the rerun goes on from what it decided itself. */
    @Test
    void oneAlteredDecisionIsOneDifference() {
        SimulatedRerun log = SimulatedRerun.of(1);
        List<LogEntry> decisions = log.decisions(0);
        int altered = decisions.size() / 2;
        while (!(read(log, decisions.get(altered)) instanceof TimeAdvanced)) {
            altered++;
        }
        TimeAdvanced was = (TimeAdvanced) read(log, decisions.get(altered));
        Fact other = new TimeAdvanced(was.envelope(), was.logTimeMs() + 1, was.ticks(), was.counter());
        decisions.set(altered, log.data(altered, other));
        List<PartitionRerun.Result> results = log.rerun();

        assertEquals(1, results.stream().mapToLong(PartitionRerun.Result::differences).sum());
        RerunReport.Difference first = results.getFirst().first().orElseThrow();
        assertEquals(altered, first.offset());
        assertEquals(other.toString(), first.recorded());
        assertEquals(was.toString(), first.rerun());
    }

    private static Fact read(SimulatedRerun log, LogEntry entry) {
        Codec codec = log.codec();
        return ((Reading.Decoded<Fact>) codec.reader(Fact.class).read(((LogEntry.Data) entry).value())).value();
    }
}
