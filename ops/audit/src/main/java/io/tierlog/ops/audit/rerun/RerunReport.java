/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import java.util.List;
import java.util.Optional;

/**
 * Result of a rerun.
 *
 * @param partitions partitions read
 * @param events inputs that were decided again, skipped ones included
 * @param decisions recorded decisions that were compared
 * @param undecided events behind the last decision of their partition: no controller has decided them yet
 * @param differences recorded decisions that differ, are missing, or are too many
 * @param elapsedMs time it took, in milliseconds
 * @param first the difference of the earliest input by append time; empty when there is none
 */
public record RerunReport(
        int partitions, long events, long decisions, long undecided, long differences, long elapsedMs, Optional<Difference> first) {

    /** Whether the core of this build decides as the log says. */
    public boolean isSame() {
        return differences == 0;
    }

    /** Events and decisions a second. */
    public double recordsPerSecond() {
        return (events + decisions) * 1_000.0 / Math.max(1, elapsedMs);
    }

    /**
     * A decision that this build's core does not make as the log has it.
     *
     * @param partition its partition, from 0
     * @param inputOffset offset of the input in the events topic, from 0
     * @param inputTimeMs when the input was appended, milliseconds since 1970
     * @param input the input, as text
     * @param offset offset of the recorded decision in the decisions topic; -1 when none is recorded
     * @param recorded the recorded decision, as text; "none" when there is none
     * @param rerun the decision of the rerun, as text; "none" when there is none, and the failure when the core failed
     * @param rowsRead the rows that the core read for this input before it decided, as text, at most {@link RowTrace#MAX_ROWS}
     */
    public record Difference(
            int partition,
            long inputOffset,
            long inputTimeMs,
            String input,
            long offset,
            String recorded,
            String rerun,
            List<String> rowsRead) {
        /** What stands for a missing decision. */
        public static final String NONE = "none";

        public Difference {
            rowsRead = List.copyOf(rowsRead);
        }
    }
}
