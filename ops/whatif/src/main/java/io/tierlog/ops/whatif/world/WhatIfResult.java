/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Latency;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import java.util.Map;

/**
 * What a variation came to.
 *
 * @param requests served
 * @param rejected that need more device pages than an engine has
 * @param accesses blocks of the prompts of served requests
 * @param hits of them, by where they were when the request came
 * @param savedTokens prompt tokens that were not computed
 * @param computedTokens prompt tokens that were
 * @param firstToken time to the first token: the wait for the agent's offer, the load, and computing the rest
 * @param moved bytes over all nodes
 * @param removed blocks that left a tier, by reason
 * @param pressure what was short
 * @param virtualMs time that passed in the model
 */
public record WhatIfResult(
        int requests,
        int rejected,
        long accesses,
        Hits hits,
        long savedTokens,
        long computedTokens,
        Latency firstToken,
        Moved moved,
        Map<Removed, Long> removed,
        Pressure pressure,
        long virtualMs) {
    /** Bytes by link. */
    public record Moved(long loaded, long saved, long storeRead, long storeWritten, long diskRead, long diskWritten) {
        /** The sum. */
        public Moved plus(Moved other) {
            return new Moved(loaded + other.loaded, saved + other.saved, storeRead + other.storeRead, storeWritten + other.storeWritten,
                    diskRead + other.diskRead, diskWritten + other.diskWritten);
        }
    }

    /** Where blocks left, and why. */
    public record Removed(Tier tier, RemovalReason reason) {}

    /**
     * What was short.
     *
     * @param quotaExceeded times that a group exceeded a quota
     * @param waterLevels times that a tier reached its high mark
     * @param lastCopiesLost blocks that left and were known nowhere else
     * @param mostPins most named pins on the host pages of a node in a heartbeat
     * @param refusedCalls calls of engines that agents refused
     */
    public record Pressure(long quotaExceeded, long waterLevels, long lastCopiesLost, long mostPins, long refusedCalls) {}

    public WhatIfResult {
        removed = Map.copyOf(removed);
    }

    /** Share of the accesses that were hits. */
    public double hitRatio() {
        return ratio(hits.total());
    }

    /** Share of the accesses that {@code blocks} are. */
    public double ratio(long blocks) {
        return accesses == 0 ? 0 : (double) blocks / accesses;
    }
}
