/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.state.ExpiryRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NodeRow;
import org.jspecify.annotations.Nullable;

/** Rows of nodes and namespaces: when they may expire, and that they have. Without state. */
final class EvolveExpiry {
    private EvolveExpiry() {}

    /** The cleanup of a node's last incarnation is done: sets the timer of its expiry, and returns when that is due. */
    static long ended(Tables t, Fact fact) {
        long due = sum(fact.envelope().timeMs(), policy(t, Aggregates.clockOf(fact.envelope().sender())).nodesMs());
        Timers.set(t, fact, RowKey.Timer.Kind.NODE, "", due);
        return due;
    }

    /** A node comes back: the timer of its last end goes, so it has one at most. */
    static void back(Tables t, Fact fact, NodeRow last) {
        if (last.expiryMs() != 0) {
            Timers.cancel(t, fact, RowKey.Timer.Kind.NODE, "", last.expiryMs());
        }
    }

    /** Blocks of a namespace have gone: its expiry is due the time of the policy after the last of them, unless the aggregate still counts some. */
    static void removed(Tables t, Fact fact, String namespace) {
        RowKey.Namespace key = new RowKey.Namespace(fact.envelope().aggregate(), Namespaces.digest(namespace));
        NamespaceRow row = t.get(Rows.NAMESPACES, key);
        if (row == null || counts(t, key, row)) {
            return;
        }
        long due = sum(fact.envelope().timeMs(), policy(t, Aggregates.clockOf(fact.envelope().sender())).namespacesMs());
        if (row.expiryMs() == due) {
            return;
        }
        if (row.expiryMs() != 0) { // it had blocks again since then
            Timers.cancel(t, fact, RowKey.Timer.Kind.NAMESPACE, ExpiryRows.timerId(key.digest()), row.expiryMs());
        }
        t.put(Rows.NAMESPACES, key, due(row, due));
        Timers.set(t, fact, RowKey.Timer.Kind.NAMESPACE, ExpiryRows.timerId(key.digest()), due);
    }

    /** Whether the counts say that the node's current incarnation has blocks of the namespace; those of the device are not counted. */
    private static boolean counts(Tables t, RowKey.Namespace key, NamespaceRow row) {
        NodeRow node = t.get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
        return node != null && node.alive() && node.incarnation() == row.incarnation() && !row.tiers().isEmpty();
    }

    /** A timer came due for what may not expire: sets it again while the row still waits for it. Returns the number of rows that it changed. */
    static int needed(Tables t, RowKey.Timer timer, long nowMs) {
        return timer.kind() == RowKey.Timer.Kind.NODE ? node(t, timer, nowMs) : namespace(t, timer, nowMs);
    }

    private static int node(Tables t, RowKey.Timer timer, long nowMs) {
        RowKey.Aggregate key = new RowKey.Aggregate(timer.owner());
        NodeRow row = t.get(Rows.NODES, key);
        if (row == null || row.expiryMs() != timer.dueMs()) {
            return 0;
        }
        // What is left of it goes by timers of its own.
        NodeState node = NodeState.of(row);
        node.expiryMs = Timers.later(nowMs);
        t.put(Rows.NODES, key, node.toRow());
        Timers.again(t, timer, node.expiryMs);
        return 1;
    }

    private static int namespace(Tables t, RowKey.Timer timer, long nowMs) {
        RowKey.Namespace key = ExpiryRows.namespace(timer);
        NamespaceRow row = t.get(Rows.NAMESPACES, key);
        if (row == null || row.expiryMs() != timer.dueMs()) {
            return 0;
        }
        if (counts(t, key, row)) {
            t.put(Rows.NAMESPACES, key, due(row, 0)); // the removal of its last block sets one again
        } else {
            long due = sum(nowMs, policy(t, timer.aggregate()).namespacesMs());
            t.put(Rows.NAMESPACES, key, due(row, due));
            Timers.again(t, timer, due);
        }
        return 1;
    }

    private static NamespaceRow due(NamespaceRow row, long expiryMs) {
        NamespaceRow.Edit namespace = row.edit();
        namespace.expiryMs = expiryMs;
        return namespace.row();
    }

    static void expired(Tables t, NodeExpired fact) {
        NodeRow node = Evolve.node(t, fact);
        if (node.alive() || node.sweep() != null || node.incarnation() != fact.lastIncarnation()) {
            throw new IllegalHistory("Incarnation " + fact.lastIncarnation() + " expires, which has not ended or is not the last one");
        }
        Timers.cancel(t, fact, RowKey.Timer.Kind.NODE, "", node.expiryMs());
        t.delete(Rows.NODES, Evolve.key(fact));
        RowKey.Aggregate clock = new RowKey.Aggregate(Aggregates.clockOf(fact.envelope().sender()));
        t.put(Rows.CLOCK, clock, ClockRows.expired(Evolve.clockOf(t, fact), fact.lastIncarnation()));
    }

    static void expired(Tables t, NamespacesExpired fact) {
        for (String namespace : fact.namespaces()) {
            RowKey.Namespace key = new RowKey.Namespace(fact.envelope().aggregate(), Namespaces.digest(namespace));
            NamespaceRow row = t.get(Rows.NAMESPACES, key);
            if (row == null || row.expiryMs() == 0) {
                throw new IllegalHistory("Namespace " + namespace + " expires, which does not wait for that");
            }
            Timers.cancel(t, fact, RowKey.Timer.Kind.NAMESPACE, ExpiryRows.timerId(key.digest()), row.expiryMs());
            t.delete(Rows.NAMESPACES, key);
        }
    }

    private static ExpiryPolicy policy(Tables t, String clock) {
        @Nullable ClockRow row = t.get(Rows.CLOCK, new RowKey.Aggregate(clock));
        if (row == null) {
            throw new IllegalHistory("The partition was never opened");
        }
        return Policies.expiry(row.policy());
    }

    private static long sum(long timeMs, long ms) {
        return timeMs > Long.MAX_VALUE - ms ? Long.MAX_VALUE : timeMs + ms;
    }
}
