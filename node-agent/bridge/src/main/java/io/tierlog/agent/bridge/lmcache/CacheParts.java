/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;

/** What all ways share by which LMCache's events arrive. */
public record CacheParts(CacheQueue queue, EventWriter writer, BridgeCounts counts) {
    /** Counts a payload that cannot be read, and puts it into the dead letters. */
    void malformed(String way, byte[] payload, String reason) {
        counts.add(BridgeCounter.MALFORMED, 1);
        writer.deadLetter(way, payload, reason);
    }
}
