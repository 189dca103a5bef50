/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.TierUsage;
import java.util.List;
import java.util.Map;

/**
 * How an agent is at one moment.
 *
 * @param phase phase of the process
 * @param incarnation number of the process as the controller counts it; 0 before registration
 * @param commandSequence highest command number that was run
 * @param usage use of each tier that is the agent's
 * @param largestFreeRun host pages in the longest run of free neighbours
 * @param liveRequests attempts that live or whose device pages are still pinned
 * @param waitingRequests attempts that wait for the store's answer or for a fetch
 * @param activeOperations operations in progress
 * @param devicePins named pins on device pages
 * @param bounce pages of the agent's own that copies go through
 * @param diskOpen true when all that a start has found on the disk is on the log
 * @param leases leases that are open
 * @param ended operations that have ended, one entry for each kind
 * @param counters everything counted so far
 */
public record AgentStatus(
        AgentPhase phase,
        long incarnation,
        long commandSequence,
        List<TierUsage> usage,
        int largestFreeRun,
        int liveRequests,
        int waitingRequests,
        int activeOperations,
        long devicePins,
        Bounce bounce,
        boolean diskOpen,
        Leases leases,
        List<Ended> ended,
        Map<AgentCounter, Long> counters) {
    /**
     * Pages of the agent's own, in no tier.
     *
     * @param pages all there are
     * @param free those that no operation uses
     * @param quarantined those that a transfer of unknown outcome keeps
     */
    public record Bounce(int pages, int free, int quarantined) {}

    /**
     * Leases that are open.
     *
     * @param engines offers to requests, and reservations of engines
     * @param peers reads of other nodes that are being sent
     */
    public record Leases(int engines, int peers) {}

    /**
     * Operations of one kind that have ended, by what became of their blocks.
     *
     * @param done all blocks are where they were wanted
     * @param partly some are
     * @param failed none is
     */
    public record Ended(OperationKind kind, long done, long partly, long failed) {
        /** Both together. */
        public Ended plus(Ended more) {
            return new Ended(kind, done + more.done, partly + more.partly, failed + more.failed);
        }
    }

    public AgentStatus {
        usage = List.copyOf(usage);
        ended = List.copyOf(ended);
        counters = Map.copyOf(counters);
    }

    /** True while commands are run. */
    public boolean onTheLog() {
        return phase == AgentPhase.ON_LOG;
    }

    /** Value of one counter. */
    public long count(AgentCounter counter) {
        return counters.getOrDefault(counter, 0L);
    }
}
