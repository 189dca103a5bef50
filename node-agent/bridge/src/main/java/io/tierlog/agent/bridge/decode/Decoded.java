/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import java.util.List;
import java.util.OptionalInt;

/** What a payload is: a batch of events, or nothing that can be read. */
public sealed interface Decoded {
    /**
     * A batch.
     *
     * @param rank data-parallel rank of the publisher; empty when the batch names none
     * @param epoch name of the publisher's process, where the dialect has one; else empty
     * @param countsFromOne whether publishers of this dialect give their first batch the number 1
     * @param unknownEvents events of unknown types, which are left out
     * @param unknownFields fields that no known dialect has, which are left out
     */
    record Batch(List<EngineEvent> events, OptionalInt rank, String epoch, boolean countsFromOne, int unknownEvents, int unknownFields)
            implements Decoded {}

    /** Nothing that can be read, and why. */
    record Malformed(String reason) implements Decoded {}
}
