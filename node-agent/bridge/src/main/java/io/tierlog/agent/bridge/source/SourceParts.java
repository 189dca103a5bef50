/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.decode.BatchDecoder;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.log.NodeSessions;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;

/** What all sources of a bridge share. */
public record SourceParts(SourceRules rules, NodeSessions sessions, EventWriter writer, BridgeCounts counts) {
    /** What a payload says; one that cannot be read goes to the dead letters. */
    Decoded decoded(String source, byte[] payload) {
        Decoded decoded = BatchDecoder.decode(payload);
        if (decoded instanceof Decoded.Malformed bad) {
            counts.add(BridgeCounter.MALFORMED, 1);
            writer.deadLetter(source, payload, bad.reason());
        }
        return decoded;
    }
}
