/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.RecordStamp;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.Map;

/**
 * Where a reader of one partition begins when it does not begin at the beginning: after the decision that a snapshot ends with.
 *
 * @param at the place
 * @param tables the tables there; the reader may change them
 * @param stamps by aggregate, the number and checksum of the last decision about it
 * @param proof what an audit needs to go on
 */
public record PartitionStart(At at, HeapTables tables, Map<String, RecordStamp> stamps, Proof proof) {
    /**
     * A place between two inputs of a partition.
     *
     * @param partition its number, from 0
     * @param nextEvent offset of the first event that is not decided yet
     * @param nextDecision offset after the last decision
     * @param lastTimeMs when the last decision was appended, milliseconds since 1970; 0 when there is none
     * @param applicationId of the controller that opened the partition; empty when none is on record
     */
    public record At(int partition, long nextEvent, long nextDecision, long lastTimeMs, String applicationId) {
        /** Offset of the last decision, -1 when there is none. */
        public long lastDecision() {
            return nextDecision - 1;
        }

        /** Offset of the event that it answers, -1 when there is none. */
        public long lastEvent() {
            return nextEvent - 1;
        }
    }

    /** The state of an audit. */
    @FunctionalInterface
    public interface Proof {
        /** Opens its bytes. */
        DataInputStream open() throws IOException;
    }
}
