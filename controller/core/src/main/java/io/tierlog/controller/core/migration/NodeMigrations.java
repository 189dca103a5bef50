/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.MigrationRows;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.decision.MigrationStopping;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.state.TaskRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node's part of what operators ask for: taken once, and stopped when it is recalled. Without state. */
public final class NodeMigrations {
    private NodeMigrations() {}

    public static void assigned(DecisionContext d, MigrationAssigned e) {
        String aggregate = e.envelope().aggregate();
        if (!isMessage(d, e)) {
            return;
        }
        String migration = id(e);
        List<String> findings = MigrationOrders.findings(d, List.of(aggregate.substring(Aggregates.NODE.length())), e.order());
        long request = MigrationRows.named(d.clock(), e.request());
        NodeContext n = d.node(aggregate);
        TaskRow task = n == null ? null : n.task(migration);
        if (!findings.isEmpty()) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.MIGRATION_INVALID, String.join("; ", findings));
            if (d.clock().coreVersion() > CoreVersion.UNBOUNDED_NAMES) {
                // An older version took the order; its names may not fit in an answer.
                answer(d, aggregate, migration, request, MigrationOrders.nothingOf(List.of(), MigrationRefusal.TARGET_UNAVAILABLE), 0);
            }
        } else if (n == null) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.NODE_UNKNOWN, "No agent has registered this node");
            answer(d, aggregate, migration, request, refused(e.order(), MigrationRefusal.NODE_UNKNOWN), 0);
        } else if (task != null) {
            d.refuse(n.envelope(), e, RefusalReason.REPEATED, "The node has taken migration " + migration + " before");
            // The id is used again, or, where requests have no name, the message may be a repeated one: the migration takes the first report alone.
            if (request < 0 || task.request() != request) {
                answer(d, aggregate, migration, request, refused(e.order(), MigrationRefusal.ID_USED), 0);
            }
        } else {
            MigrationAnswer answer = new NodeMigrationDecision(n, migration, e.order(), request).decide();
            answer(d, aggregate, migration, request, answer, e.order().dryRun() ? 0 : answer.copied().size());
        }
    }

    /** Nothing of an order is done. Of a sample no blocks are known, so the reason stands alone. */
    private static MigrationAnswer refused(MigrationOrder order, MigrationRefusal reason) {
        return MigrationOrders.nothingOf(order.blocks(), reason);
    }

    private static void answer(DecisionContext d, String aggregate, String migration, long request, MigrationAnswer answer, int running) {
        d.message(new MigrationReported(d.messageEnvelope(Aggregates.MIGRATION + migration, aggregate, 1),
                aggregate.substring(Aggregates.NODE.length()), answer, new MigrationProgress(running, 0, 0, 0), request));
    }

    /**
     * What runs is cancelled; its places in the budgets stay taken until it has ended. A recall of a later request stops the part too: it began from
     * an order that was delivered again after the node had forgotten it, and nothing else asks for its end.
     */
    public static void recalled(DecisionContext d, MigrationRecalled e) {
        String aggregate = e.envelope().aggregate();
        if (!isMessage(d, e)) {
            return;
        }
        NodeContext n = d.node(aggregate);
        @Nullable TaskRow task = n == null ? null : n.task(id(e));
        if (n == null) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.NODE_UNKNOWN, "No agent has registered this node");
        } else if (task == null || MigrationRows.isEarlier(e.request(), task.request())) {
            d.refuse(n.envelope(), e, RefusalReason.MIGRATION_UNKNOWN, "The node has no part of migration " + id(e));
        } else if (task.stopping()) {
            d.refuse(n.envelope(), e, RefusalReason.REPEATED, "The node's part of migration " + id(e) + " is stopping");
        } else {
            for (String operation : task.operations()) {
                d.command(new CancelOperation(n.envelope(), n.nextHeader(), operation, OperationKind.COPY));
            }
            n.fact(new MigrationStopping(n.envelope(), id(e), n.commandSequence()));
        }
    }

    private static String id(Event e) {
        return e.envelope().sender().substring(Aggregates.MIGRATION.length());
    }

    /** Whether it is a message of a migration to a node; records when it is not. */
    private static boolean isMessage(DecisionContext d, Event e) {
        String aggregate = e.envelope().aggregate();
        if (Aggregates.isNode(aggregate) && Aggregates.isMigration(e.envelope().sender())) {
            return true;
        }
        d.refuse(d.envelope(aggregate, 0), e, RefusalReason.WRONG_AGGREGATE,
                "This is a message of a migration to a node, not of " + e.envelope().sender() + " to " + aggregate);
        return false;
    }
}
