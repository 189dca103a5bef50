/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.state.ExpiryRows;
import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.state.NamespaceRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Forgets nodes whose last incarnation ended long ago and namespaces of which an aggregate holds nothing: a bounded number at each tick, on record.
 * Without state.
 */
public final class Expiry {
    /** Most namespaces in one fact: with the longest texts it stays well below the longest record. */
    static final int NAMESPACES_PER_FACT = 256;

    private Expiry() {}

    public static void decide(DecisionContext d) {
        Map<String, List<String>> namespaces = new LinkedHashMap<>();
        for (RowKey.Timer timer : TimerRows.due(d.tables(), d.clockAggregate(), d.clock(), RowKey.Timer.Queue.EXPIRE, ExpiryRows.PER_TICK)) {
            if (!ExpiryRows.mayExpire(d.tables(), timer)) {
                continue; // the next tick sets its timer again, or drops it
            }
            NodeContext n = d.node(timer.owner());
            if (timer.kind() == RowKey.Timer.Kind.NODE && n != null) {
                d.fact(new NodeExpired(n.envelope(), n.row().incarnation()));
                continue;
            }
            NamespaceRow row = d.tables().get(Rows.NAMESPACES, ExpiryRows.namespace(timer));
            if (row != null) {
                List<String> some = namespaces.computeIfAbsent(timer.owner(), any -> new ArrayList<>());
                some.add(row.namespace());
                if (some.size() == NAMESPACES_PER_FACT) {
                    expired(d, timer.owner(), some);
                    some.clear();
                }
            }
        }
        namespaces.forEach((owner, some) -> expired(d, owner, some));
        d.evolve();
    }

    private static void expired(DecisionContext d, String owner, List<String> namespaces) {
        if (!namespaces.isEmpty()) {
            NodeContext n = d.node(owner);
            d.fact(new NamespacesExpired(d.envelope(owner, n == null ? 0 : n.row().incarnation()), namespaces));
        }
    }
}
