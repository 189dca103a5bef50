/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import java.util.List;
import java.util.Optional;

/**
 * What a log says about a subject.
 *
 * @param entries its records in the order of append time; within a partition in the order of decisions
 * @param placements where a block is at the end of the log; empty for other subjects
 * @param similar up to 5 ids of the log that contain or begin like the one that was asked for; only when there are no entries
 */
public record History(List<Entry> entries, List<Location> placements, List<String> similar) {
    public History {
        entries = List.copyOf(entries);
        placements = List.copyOf(placements);
        similar = List.copyOf(similar);
    }

    /**
     * One record.
     *
     * @param timeMs when it was appended, milliseconds since 1970
     * @param topic its topic
     * @param partition its partition, from 0
     * @param offset its offset, from 0
     * @param aggregate the aggregate it is about, for example node/a
     * @param type its record type
     * @param fields its fields other than lists, NAME=VALUE; of a list of blocks those of the block in question
     * @param cause of a decision, the type and offset of the input that led to it; empty for events
     * @param departure whether the block leaves a tier, or is ordered to
     * @param level the watermark of that tier that was in force then; empty when none was crossed
     */
    public record Entry(
            long timeMs,
            String topic,
            int partition,
            long offset,
            String aggregate,
            String type,
            List<String> fields,
            String cause,
            boolean departure,
            Optional<String> level) {
        public Entry {
            fields = List.copyOf(fields);
        }
    }

    /**
     * A place where a block serves.
     *
     * @param aggregate node/ID or store/SHARD
     * @param tier the tier
     * @param page its page there, from 0
     * @param generation the page's generation
     * @param sinceMs append time of the decision that placed it
     */
    public record Location(String aggregate, String tier, int page, long generation, long sinceMs) {}
}
