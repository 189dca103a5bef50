/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.migration.Migrations;
import io.tierlog.controller.core.peer.PeerReads;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.state.SweepPhase;
import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Table;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.SweepAdvanced;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SweepRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the rows that ended incarnations of a node left behind. Their incarnation alone fences them at once; this cleanup records the end of each
 * and frees space. It reads no more rows than the budget and goes on at the next tick. Confined to one call.
 */
public final class FencedRowCleanup {
    private final NodeContext n;
    private final SweepRow sweep;
    private final int budget;
    private int seen;
    private @Nullable SweepPhase phase;
    private Bytes cursor;

    private FencedRowCleanup(NodeContext n, SweepRow sweep, int budget) {
        this.n = n;
        this.sweep = sweep;
        this.budget = budget;
        this.phase = SweepPhase.of(sweep.phase());
        this.cursor = sweep.cursor();
    }

    /** Runs the next step of the node's cleanup, if one is in progress; returns the number of rows it has read. */
    public static int decide(NodeContext n, int budget) {
        SweepRow sweep = n.row().sweep();
        if (sweep == null || budget <= 0) {
            return 0;
        }
        FencedRowCleanup step = new FencedRowCleanup(n, sweep, budget);
        step.run();
        n.evolve();
        return step.seen;
    }

    private void run() {
        boolean done = true;
        while (done && phase != null) {
            RowKey.Text first = new RowKey.Text(n.aggregate(), "");
            done = switch (phase) {
                case REQUESTS -> scan(Rows.REQUESTS, first, this::request);
                case OPERATIONS -> scan(Rows.OPERATIONS, first, this::operation);
                case LEASES -> scan(Rows.LEASES, first, this::lease);
                case PLACEMENTS -> placements();
            };
            if (done) {
                phase = phase.next();
                cursor = Bytes.EMPTY;
            }
        }
        n.fact(new SweepAdvanced(n.envelope(), phase == null ? SweepPhase.END : phase.number(), cursor, phase == null));
    }

    /** What to do with one row. */
    private interface Visit<K, V> {
        void row(K key, V row);
    }

    /** Reads rows from the cursor on; true at the end of the table, false when the budget is used up before. */
    private <K extends RowKey<K>, V extends WireRecord> boolean scan(Table<K, V> table, K first, Visit<K, V> visit) {
        K from = cursor.isEmpty() ? first : table.decodeKey(cursor.unshared());
        try (Scan<K, V> scan = n.tables().range(table, from, null)) {
            while (scan.next()) {
                if (seen == budget) {
                    cursor = Bytes.wrapUnshared(table.encodeKey(new KeyWriter(), scan.key()));
                    return false;
                }
                seen++;
                visit.row(scan.key(), scan.value());
            }
        }
        return true;
    }

    private boolean isStale(long incarnation) {
        return incarnation <= sweep.through();
    }

    private void request(RowKey.Text key, RequestRow row) {
        if (isStale(row.incarnation()) && !RequestStates.isEnd(row.state())) {
            Requests.transition(n, key.id(), row.attempt(), row.state(), RequestState.CANCELLED, RequestReason.NODE_LOST);
        }
    }

    private void operation(RowKey.Text key, OperationRow row) {
        if (isStale(row.incarnation()) && OperationRows.isUnfinished(row.state())) {
            n.fact(new OperationEnded(n.envelope(), key.id(), row.kind(), OperationState.FENCED, OperationReason.NODE_LOST, 0,
                    row.blockCount(), 0));
            Migrations.fenced(n, key.id(), row);
            Promotions.fenced(n, key.id(), row);
        }
    }

    private void lease(RowKey.Text key, LeaseRow row) {
        if (isStale(row.incarnation())) {
            n.fact(new LeaseEnded(n.envelope(), key.id(), LeaseEndReason.NODE_LOST));
            PeerReads.leaseEnded(n, key.id(), PeerReadReason.CANCELLED);
        }
    }

    /** Placements of one namespace and tier that are removed together. */
    private record Kind(Bytes namespace, Tier tier) {}

    private static final class Lost {
        private final List<Block> blocks = new ArrayList<>();
        private int last;
    }

    private boolean placements() {
        Map<Kind, Lost> lost = new LinkedHashMap<>();
        boolean done = scan(Rows.PLACEMENTS, new RowKey.Placement(n.aggregate(), Namespaces.NONE, Tier.UNKNOWN, Bytes.EMPTY), (key, row) -> {
            boolean ofAnEngineThatLeft = key.tier() == Tier.DEVICE && row.incarnation() == n.row().incarnation()
                    && row.epoch() < n.row().engineEpoch();
            if (isStale(row.incarnation()) || ofAnEngineThatLeft) {
                Lost kind = lost.computeIfAbsent(new Kind(key.namespace(), key.tier()), k -> new Lost());
                kind.blocks.add(new Block(row.index(), key.block(), row.parent()));
                kind.last += key.tier() == Tier.HOST && isLost(key, row) ? 1 : 0;
            }
        });
        for (Map.Entry<Kind, Lost> entry : lost.entrySet()) {
            String namespace = n.namespace(entry.getKey().namespace());
            n.fact(new BlocksRemoved(n.envelope(), entry.getKey().tier(), namespace, sweep.reason(), entry.getValue().blocks,
                    entry.getValue().last));
        }
        return done;
    }

    /** Whether a host placement was the last one on record: neither the store nor the disk, which outlives the agent, has the block. */
    private boolean isLost(RowKey.Placement key, PlacementRow row) {
        boolean counted = PlacementRows.isServed(row.state()) || row.state() == PlacementState.LEAVING;
        if (!counted || row.stored() || n.row().foreign()) {
            return false;
        }
        PlacementRow disk = n.tables().get(Rows.PLACEMENTS, new RowKey.Placement(key.aggregate(), key.namespace(), Tier.DISK, key.block()));
        return disk == null || disk.state() != PlacementState.SERVING;
    }
}
