/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.state.NodeRow;
import org.jspecify.annotations.Nullable;

/** Whether an event is the next one in its agent's count, by number and by the checksum of the event before. Without state. */
public final class SenderCount {
    private SenderCount() {}

    /** Why an event is not the next one. */
    public record Break(RefusalReason reason, String detail) {}

    /**
     * Compares an event with the last one of the same process that was applied.
     *
     * @return null when it is the next one
     */
    public static @Nullable Break find(NodeRow row, Envelope from) {
        if (from.sequence() <= row.lastSequence()) {
            return new Break(RefusalReason.REPEATED, "Sequence " + from.sequence() + " was applied before");
        }
        if (from.sequence() != row.lastSequence() + 1) {
            // A missing event may have changed what the agent holds. Its later events are refused as well, until the node's session ends.
            return new Break(RefusalReason.SEQUENCE_GAP,
                    "Sequence " + from.sequence() + " does not follow " + row.lastSequence() + ", the last that was applied");
        }
        if (from.previousCrc32c() != row.lastCrc32c()) {
            return new Break(RefusalReason.CHECKSUM_MISMATCH,
                    "The event does not carry the checksum of event " + row.lastSequence() + ", the last that was applied");
        }
        return null;
    }
}
