/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

/** What to say about a log whose first records were deleted. Static and without state. */
public final class TrimmedLog {
    private static final String HINT = "give the last snapshot before that place with --snapshot DIR; snapshot list shows what there is";

    private TrimmedLog() {}

    /** A reader of a whole partition finds that it begins later. */
    public static AuditException beginsAt(String topic, int partition, long begin) {
        return new AuditException("partition " + partition + " of " + topic + " begins at offset " + begin
                + ": what was before was trimmed, and this needs all of it or a snapshot", HINT);
    }

    /** A reader that starts at {@code from} finds that the partition ends before it. */
    static AuditException behind(String topic, int partition, long end, long from) {
        return new AuditException("partition " + partition + " of " + topic + " ends at offset " + end + ", and the snapshot at offset " + from
                + ": the snapshot is of another log or of a later time, or the end of the log was lost",
                "give a snapshot of this log, or an earlier one");
    }

    /** A reader that starts at {@code from} finds that the partition begins after it. */
    static AuditException before(String topic, int partition, long begin, long from) {
        return new AuditException("partition " + partition + " of " + topic + " begins at offset " + begin
                + ", and the snapshot or checkpoint ends before offset " + from + ": records between them were trimmed",
                "give a later snapshot; snapshot list shows what there is");
    }
}
