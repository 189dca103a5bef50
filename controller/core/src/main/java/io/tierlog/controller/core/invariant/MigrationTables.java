/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.RouteRow;
import io.tierlog.schemas.state.SharesRow;
import io.tierlog.schemas.state.TaskRow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The migration and mark rows of one node, compared with its operations (I12). Slow and simple. Used for one check. */
final class MigrationTables {
    private final Tables tables;
    private final String aggregate;
    private final NodeRow node;
    private final TableInvariants.Say say;

    MigrationTables(Tables tables, String aggregate, NodeRow node, TableInvariants.Say say) {
        this.tables = tables;
        this.aggregate = aggregate;
        this.node = node;
        this.say = say;
    }

    /** COPY operations in flight on a route. */
    private record Way(String group, Tier source, Tier target) {}

    /** {@code inProgress} are the operations of the node's current incarnation that have not ended. */
    void check(List<OperationRow> inProgress) {
        Map<Way, long[]> ways = new LinkedHashMap<>();
        for (OperationRow row : inProgress) {
            if (row.kind() == OperationKind.COPY && row.move() != null) {
                long[] sum = ways.computeIfAbsent(new Way(row.move().group(), row.from(), row.to()), w -> new long[2]);
                sum[0]++;
                sum[1] += row.blockCount();
            }
        }
        SharesRow shares = node.shares();
        for (RouteRow recorded : shares == null ? List.<RouteRow>of() : shares.routes()) {
            long[] sum = ways.remove(new Way(recorded.group(), recorded.source(), recorded.target()));
            if (sum == null || sum[0] != recorded.operations() || sum[1] != recorded.blocks()) {
                say.that(Invariant.I12, "copies in flight do not match the row " + recorded);
            }
        }
        ways.keySet().forEach(way -> say.that(Invariant.I12, "copies are in flight that are not counted: " + way));
        tasks();
        marks();
    }

    private void tasks() {
        try (var scan = tables.range(Rows.TASKS, new RowKey.Text(aggregate, ""), null)) {
            while (scan.next()) {
                TaskRow row = scan.value();
                if (row.progress().running() != row.operations().size() || (!row.operations().isEmpty() && row.endedMs() != 0)) {
                    say.that(Invariant.I12, "part " + scan.key().id() + " of a migration says otherwise than its operations: " + row);
                }
                for (String id : row.operations()) {
                    OperationRow operation = tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, id));
                    if (operation == null || !NodeTables.isUnfinished(operation) || operation.move() == null
                            || !scan.key().id().equals(operation.move().migration())) {
                        say.that(Invariant.I12, "part " + scan.key().id() + " of a migration waits for " + id + ", which is no copy of it: "
                                + operation);
                    }
                }
            }
        }
    }

    private void marks() {
        RowKey.Mark first = new RowKey.Mark(aggregate, Bytes.wrapUnshared(new byte[Namespaces.DIGEST_BYTES]), Bytes.EMPTY);
        long found = 0;
        try (var scan = tables.range(Rows.MARKS, first, null)) {
            while (scan.next()) {
                found++;
                MarkRow row = scan.value();
                String id = row.operation();
                OperationRow operation = id == null ? null : tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, id));
                boolean writes = operation != null && NodeTables.isUnfinished(operation) && operation.from() == Tier.DEVICE
                        && operation.to() == row.target();
                if (id != null && !writes) {
                    say.that(Invariant.I12, scan.key() + " is written by " + id + ", which does no such thing: " + operation);
                }
                if (!scan.key().namespace().equals(Namespaces.digest(row.namespace()))) {
                    say.that(Invariant.I13, scan.key() + " is a mark of another namespace: " + row.namespace());
                }
            }
        }
        long recorded = node.shares() == null ? 0 : node.shares().marks();
        if (found != recorded) {
            say.that(Invariant.I12, "marks of " + aggregate + ": recorded " + recorded + ", counted " + found);
        }
    }
}
