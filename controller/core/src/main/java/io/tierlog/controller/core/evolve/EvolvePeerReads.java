/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;
import io.tierlog.schemas.decision.PeerReadRecalled;
import io.tierlog.schemas.decision.PeerReadRefused;
import io.tierlog.schemas.state.PeerReadLeaseRow;
import java.util.List;

/** How facts about peer reads change the state. Without state. */
final class EvolvePeerReads {
    private EvolvePeerReads() {}

    static void granted(Tables t, PeerReadGranted fact) {
        RowKey.Text key = unknown(t, fact, fact.grant());
        t.put(Rows.GRANTS, key, new PeerReadLeaseRow(fact.envelope().incarnation(), fact.asker(), fact.namespace(), fact.blocks(), fact.promotion(),
                fact.endMs(), 0));
        Timers.set(t, fact, RowKey.Timer.Kind.GRANT, fact.grant());
        count(t, fact, 1, fact.blocks().size());
        Evolve.numbered(t, fact, fact.commandSequence());
    }

    static void refused(Tables t, PeerReadRefused fact) {
        RowKey.Text key = unknown(t, fact, fact.grant());
        t.put(Rows.GRANTS, key, new PeerReadLeaseRow(fact.envelope().incarnation(), fact.asker(), "", List.of(), null, 0, fact.envelope().timeMs()));
        Timers.set(t, fact, RowKey.Timer.Kind.GRANT, fact.grant());
        Evolve.numbered(t, fact, fact.commandSequence());
    }

    static void recalled(Tables t, PeerReadRecalled fact) {
        Evolve.numbered(t, fact, fact.commandSequence());
    }

    static void closed(Tables t, PeerReadClosed fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.grant());
        PeerReadLeaseRow row = t.get(Rows.GRANTS, key);
        if (row == null || row.blocks().isEmpty()) {
            throw new IllegalHistory("Peer read " + fact.grant() + " was never granted, or has ended");
        }
        PeerReadLeaseRow.Edit closed = row.edit();
        closed.blocks = List.of();
        closed.endedMs = fact.envelope().timeMs();
        t.put(Rows.GRANTS, key, closed.row());
        if (row.incarnation() == Evolve.node(t, fact).incarnation()) {
            count(t, fact, -1, -row.blocks().size());
        }
    }

    private static RowKey.Text unknown(Tables t, Fact fact, String grant) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), grant);
        PeerReadLeaseRow row = t.get(Rows.GRANTS, key);
        if (row != null && row.incarnation() == fact.envelope().incarnation()) {
            throw new IllegalHistory("Peer read " + grant + " was answered before");
        }
        return key;
    }

    private static void count(Tables t, Fact fact, int reads, long blocks) {
        NodeState node = NodeState.of(Evolve.node(t, fact));
        PromotionCounts counts = PromotionCounts.of(node.promotions);
        counts.reads += reads;
        counts.leasedBlocks += blocks;
        node.promotions = counts.toRow();
        t.put(Rows.NODES, Evolve.key(fact), node.toRow());
    }
}
