/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.MarkRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.OperationRow;
import org.jspecify.annotations.Nullable;

/**
 * Facts about marks. A mark that expires while an operation writes by it stays until the operation has ended, but no longer counts: the end of the
 * operation reports the reason of the mark. Without state.
 */
final class EvolveMarks {
    private EvolveMarks() {}

    private static RowKey.Mark key(Fact fact, String namespace, Bytes block) {
        return new RowKey.Mark(fact.envelope().aggregate(), Namespaces.digest(namespace), block);
    }

    static void added(Tables t, MarkAdded fact) {
        int more = 0;
        for (Bytes block : fact.keys()) {
            RowKey.Mark key = key(fact, fact.namespace(), block);
            MarkRow earlier = t.get(Rows.MARKS, key);
            more += earlier == null ? 1 : 0;
            String operation = null;
            if (earlier != null) {
                Timers.cancel(t, fact, RowKey.Timer.Kind.MARK, MarkRows.timerId(key), earlier.endMs());
                operation = earlier.target() == fact.target() ? earlier.operation() : null;
            }
            t.put(Rows.MARKS, key, new MarkRow(fact.target(), fact.namespace(), fact.fallbackFrom(), fact.endMs(), fact.clearing(), operation,
                    fact.move()));
            Timers.set(t, fact, RowKey.Timer.Kind.MARK, MarkRows.timerId(key), fact.endMs());
        }
        count(t, fact, more);
    }

    /** Adds to the node's count of marks. */
    private static void count(Tables t, Fact fact, int more) {
        if (more == 0) {
            return;
        }
        NodeState node = NodeState.of(Evolve.node(t, fact));
        node.shares.marks += more;
        if (node.shares.marks < 0) {
            throw new IllegalHistory("A node has fewer than 0 marks: " + fact.envelope().aggregate());
        }
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }

    static void consumed(Tables t, MarkConsumed fact) {
        int less = 0;
        for (Bytes block : fact.keys()) {
            RowKey.Mark key = key(fact, fact.namespace(), block);
            MarkRow row = need(t, key);
            if (row.clearing() == MarkClearing.ON_WRITE) {
                remove(t, fact, key, row);
                less++;
            }
        }
        count(t, fact, -less);
    }

    static void expired(Tables t, MarkExpired fact) {
        RowKey.Mark key = key(fact, fact.namespace(), fact.key());
        MarkRow row = need(t, key);
        if (row.endMs() != fact.endMs()) {
            throw new IllegalHistory("A mark expires at " + fact.endMs() + " that ends at " + row.endMs());
        }
        if (row.operation() == null) {
            remove(t, fact, key, row);
            count(t, fact, -1);
        } else {
            Timers.cancel(t, fact, RowKey.Timer.Kind.MARK, MarkRows.timerId(key), row.endMs());
            t.put(Rows.MARKS, key, by(row, row.operation(), MarkRows.OVER));
        }
    }

    static void cleared(Tables t, MarkCleared fact) {
        for (Bytes block : fact.keys()) {
            RowKey.Mark key = key(fact, fact.namespace(), block);
            remove(t, fact, key, need(t, key));
        }
        count(t, fact, -fact.keys().size());
    }

    /** An operation writes blocks by their marks. */
    static void writing(Tables t, OperationIssued fact) {
        for (Block block : fact.blocks()) {
            RowKey.Mark key = key(fact, fact.namespace(), block.key());
            MarkRow row = t.get(Rows.MARKS, key);
            if (row != null && row.target() == fact.to()) {
                t.put(Rows.MARKS, key, by(row, fact.operation(), row.endMs()));
            }
        }
    }

    /** An operation that wrote blocks by their marks has ended: those that are left are as before, or gone when their time is over. */
    static void written(Tables t, Fact fact, OperationRow operation) {
        for (Block block : operation.blocks()) {
            RowKey.Mark key = key(fact, operation.namespace(), block.key());
            MarkRow row = t.get(Rows.MARKS, key);
            if (row == null || row.operation() == null) {
                continue;
            }
            if (row.endMs() == MarkRows.OVER) {
                t.delete(Rows.MARKS, key);
                count(t, fact, -1);
            } else {
                t.put(Rows.MARKS, key, by(row, null, row.endMs()));
            }
        }
    }

    private static MarkRow by(MarkRow row, @Nullable String operation, long endMs) {
        MarkRow.Edit mark = row.edit();
        mark.endMs = endMs;
        mark.operation = operation;
        return mark.row();
    }

    private static MarkRow need(Tables t, RowKey.Mark key) {
        MarkRow row = t.get(Rows.MARKS, key);
        if (row == null) {
            throw new IllegalHistory("There is no mark " + key);
        }
        return row;
    }

    private static void remove(Tables t, Fact fact, RowKey.Mark key, MarkRow row) {
        t.delete(Rows.MARKS, key);
        Timers.cancel(t, fact, RowKey.Timer.Kind.MARK, MarkRows.timerId(key), row.endMs());
    }
}
