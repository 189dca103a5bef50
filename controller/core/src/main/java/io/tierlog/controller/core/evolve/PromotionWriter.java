/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.MarkRows;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PromotionRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The one writer of a node's promotions: rows of blocks, the queue of those that wait, and the counts of both, kept in step. {@link #close}
 * writes the counts. Rows of earlier incarnations of the node are as good as nothing: they are overwritten, and counted nowhere. A row has one timer
 * from its beginning to its end, and ends with it. Confined to one call of evolve.
 *
 * <pre>
 *   waits (queued) --> under way (operation) --> remembered --> forgotten
 *          +--------------------------------------^
 * </pre>
 */
final class PromotionWriter {
    private final Tables tables;
    private final RowKey.Aggregate node;
    private final NodeState state;
    private final PromotionCounts counts;

    PromotionWriter(Tables tables, String aggregate) {
        this.tables = tables;
        this.node = new RowKey.Aggregate(aggregate);
        NodeRow row = tables.get(Rows.NODES, node);
        if (row == null) {
            throw new IllegalHistory(aggregate + " is not known");
        }
        this.state = NodeState.of(row);
        this.counts = PromotionCounts.of(row.promotions());
    }

    PromotionCounts counts() {
        return counts;
    }

    RowKey.Mark key(String namespace, Bytes block) {
        return new RowKey.Mark(node.aggregate(), Namespaces.digest(namespace), block);
    }

    /** The row of a block if it is of the node's current incarnation; null otherwise. */
    @Nullable PromotionRow find(RowKey.Mark key) {
        PromotionRow row = tables.get(Rows.PROMOTIONS, key);
        return row != null && isCurrent(row) ? row : null;
    }

    private boolean isCurrent(PromotionRow row) {
        return state.alive && row.incarnation() == state.incarnation;
    }

    /** The block waits, by its place: the offset of the probe. */
    void queue(Fact fact, RowKey.Mark key, Block block, long place) {
        put(fact, key, new PromotionRow(state.incarnation, place, null, 0, OperationReason.COMPLETED, block, false));
    }

    /** An operation brings the block. */
    void begin(Fact fact, RowKey.Mark key, Block block, String operation) {
        put(fact, key, new PromotionRow(state.incarnation, 0, operation, 0, OperationReason.COMPLETED, block, false));
    }

    /** Its promotion has ended, or will never begin: none is admitted through {@code untilMs}. */
    void end(Fact fact, RowKey.Mark key, PromotionRow row, long untilMs, OperationReason reason) {
        put(fact, key, new PromotionRow(state.incarnation, 0, null, untilMs, reason, row.block(), row.raced()));
    }

    /** A request needed the block while its promotion was running, and did not wait for it. */
    void race(Fact fact, RowKey.Mark key, PromotionRow row) {
        PromotionRow.Edit raced = row.edit();
        raced.raced = true;
        put(fact, key, raced.row());
    }

    private void put(Fact fact, RowKey.Mark key, PromotionRow after) {
        PromotionRow before = tables.get(Rows.PROMOTIONS, key);
        if (before == null) {
            Timers.set(tables, fact, RowKey.Timer.Kind.PROMOTION, MarkRows.timerId(key));
        } else {
            out(key, before);
        }
        tables.put(Rows.PROMOTIONS, key, after);
        if (after.queued() > 0) {
            tables.put(Rows.QUEUE, place(key, after), Rows.ENTRY);
        }
        count(after, 1);
    }

    /** The row is forgotten. */
    void remove(RowKey.Mark key, PromotionRow row) {
        out(key, row);
        tables.delete(Rows.PROMOTIONS, key);
    }

    private void out(RowKey.Mark key, PromotionRow row) {
        if (row.queued() > 0) {
            tables.delete(Rows.QUEUE, place(key, row));
        }
        if (isCurrent(row)) {
            count(row, -1);
        }
    }

    private void count(PromotionRow row, int more) {
        counts.queuedBlocks += row.queued() > 0 ? more : 0;
        counts.rememberedBlocks += PromotionRows.isRemembered(row) ? more : 0;
    }

    /** All waiting promotions of this incarnation, the next one first. */
    List<RowKey.Order> waiting() {
        return PromotionRows.waiting(tables, node.aggregate(), state.incarnation, Integer.MAX_VALUE);
    }

    /** The place of a block that waits: earlier probes first, of one probe the shallower block. */
    private static RowKey.Order place(RowKey.Mark key, PromotionRow row) {
        return new RowKey.Order(key.aggregate(), Tier.HOST, row.incarnation(), "", 0, row.queued(), row.block().index(), key.namespace(),
                key.block());
    }

    /** Writes the counts. */
    void close() {
        state.promotions = counts.toRow();
        tables.put(Rows.NODES, node, state.toRow());
    }
}
