/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import java.util.Comparator;
import java.util.List;

/**
 * What changed in the tables between two moments of a log.
 *
 * @param from where each partition stood first
 * @param to where each partition stood then
 * @param decisions decisions between the two
 * @param changes the rows that differ, by table, aggregate and name; rows that came and went in between, and index rows, are not among them
 * @param hasNode false when the question was about one node, and the log has none of that name at either moment
 */
public record StateDiff(List<LogState.At> from, List<LogState.At> to, long decisions, List<Change> changes, boolean hasNode) {
    public StateDiff {
        from = List.copyOf(from);
        to = List.copyOf(to);
        changes = List.copyOf(changes);
    }

    /** What became of a row. */
    public enum Kind {
        ADDED,
        REMOVED,
        CHANGED
    }

    /** A decision that changed a row: its offset and its type. */
    public record By(long offset, String type) {}

    /**
     * A field of a row; {@code -} stands for none.
     *
     * @param by the first and the last decision that changed it; one when they are the same
     */
    public record Field(String path, String before, String after, List<By> by) {
        public Field {
            by = List.copyOf(by);
        }
    }

    /**
     * A row that differs.
     *
     * @param partition its partition
     * @param table its table
     * @param aggregate the aggregate that it belongs to, for example node/a
     * @param row its name beside the aggregate; empty when there is one row for each aggregate
     * @param kind what became of it
     * @param fields the fields that differ
     * @param decisions the decisions that its fields name, oldest first
     * @param decisionCount how many changed any field of it, those that others took back too
     */
    public record Change(
            int partition, String table, String aggregate, String row, Kind kind, List<Field> fields, List<By> decisions, long decisionCount) {
        static final Comparator<Change> ORDER = Comparator.comparing(Change::table).thenComparing(Change::aggregate).thenComparing(Change::row);

        public Change {
            fields = List.copyOf(fields);
            decisions = List.copyOf(decisions);
        }
    }
}
