/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bundled mix is what it says: requests of 30 blocks at hosts that are full. */
final class FullHostTest {
    private static final int REQUESTS = 400;

    private final RecordedLog log = log();

    private static RecordedLog log() {
        FullHost.Shape shape = new FullHost.Shape("events", Workload.nodes(2, 2), 2, 2_000);
        return new FullHost(new Codec(Schemas.bundled()), shape, 1_000_000).record(REQUESTS);
    }

    @Test
    void everyRequestHas30BlocksAndIsFetchedComputedWrittenBackAndBackedUp() {
        RecordedLog.Mix mix = log.mix();

        assertEquals(REQUESTS, mix.requests());
        assertEquals(30 * REQUESTS, mix.promptBlocks());
        for (String type : List.of(
                "RequestSubmitted", "PrefetchDone", "RequestPrefilled", "BlocksSealed", "RequestFinished", "WriteBackDone", "BackUpDone",
                "BlocksStored")) {
            assertEquals(1.0, mix.perRequest(type), type);
        }
        assertEquals(2.0, mix.perRequest("OperationStarted"));
        assertTrue(mix.perRequest("Tick") > 0 && mix.perRequest("AgentHeartbeat") > 0, mix::toString);
        assertTrue(mix.perRequest("BlocksEvicted") > 0, "pages of the device are used again: " + mix);
        assertEquals(0.0, mix.perRequest("AgentRegistering"), "the warm-up is apart");
    }

    /** Twenty blocks a request come to each host, so as many must go: a decision drops the tenth of a host at most. */
    @Test
    void reliefRunsAllTheTime() {
        double dropped = log.mix().perRequest("DropDone");

        assertTrue(dropped >= 1.0 / 20, "drops for a request: " + dropped);
        assertTrue(log.decisions().getOrDefault("BlocksRemoved", 0L) > 0, log.decisions()::toString);
    }

    @Test
    void everyEventIsLegal() {
        assertEquals(0, log.decisions().getOrDefault("InputRefused", 0L), log.decisions()::toString);
        assertEquals(0, log.decisions().getOrDefault("InputSkipped", 0L), log.decisions()::toString);
    }

    @Test
    void itIsTheSameEveryTimeButForTheTimes() {
        RecordedLog again = log();

        assertEquals(log.decisions(), again.decisions());
        assertEquals(log.records().size(), again.records().size());
        assertArrayEquals(log.records().getLast().key(), again.records().getLast().key());
    }
}
