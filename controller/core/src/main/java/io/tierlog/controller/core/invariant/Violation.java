/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

/**
 * A violated invariant, and where it shows.
 *
 * @param invariant which one
 * @param topicKind {@link #EVENTS}, {@link #DECISIONS} or {@link #STATE}
 * @param partition the partition, from 0
 * @param offset offset of the record in its topic, from 0; -1 for {@link #STATE}
 * @param detail a sentence for people
 */
public record Violation(Invariant invariant, String topicKind, int partition, long offset, String detail) {
    /** The topic of what was reported. */
    public static final String EVENTS = "events";

    /** The topic of what was decided. */
    public static final String DECISIONS = "decisions";

    /** No record: the tables of a controller. */
    public static final String STATE = "state";

    @Override
    public String toString() {
        String where = offset < 0 ? topicKind + "-" + partition : topicKind + "-" + partition + "@" + offset;
        return invariant + " " + where + ": " + detail;
    }
}
