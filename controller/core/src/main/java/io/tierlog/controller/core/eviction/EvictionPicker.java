/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Picks what leaves next, in the very order in which single drops would take it: the first leaf of the eviction order, then its parent
 * as soon as all its children were picked, at the place that it has with theirs. Reads as many rows as it picks blocks, three times
 * at most, and passes over at most one batch of blocks that must stay. Confined to one call.
 */
public final class EvictionPicker {
    private final Holder holder;
    private final String group;
    private final EvictionRules exits;
    private final int mostBatches;
    private final boolean copying;
    private final int batchBlocks;
    private final List<Batch> batches = new ArrayList<>();
    private final Map<RowKey.Placement, Parent> parents = new LinkedHashMap<>();
    private final PriorityQueue<Leaf> freed = new PriorityQueue<>((a, b) -> a.place().order(b.place()));

    /**
     * Blocks for one operation, the deeper before those they extend.
     *
     * @param namespace their namespace
     * @param way how they leave
     * @param blocks the blocks with pages and generations
     */
    public record Batch(String namespace, EvictionAction way, List<PagedBlock> blocks) {}

    /** A block that may go, at its place in the order, in batch {@code from} or a later one; whether one right below it is copied. */
    private record Leaf(RowKey.Order place, PlacementRow row, int from, boolean aboveCopied) {}

    /** A block that loses children to this choice. */
    private static final class Parent {
        private final PlacementRow row;
        private int children;
        private long place;
        private int from;
        private boolean aboveCopied;

        Parent(PlacementRow row) {
            this.row = row;
            this.children = row.children();
            this.place = PlacementRows.place(row);
        }
    }

    private EvictionPicker(Holder holder, String group, EvictionRules exits, Most most, int batchBlocks) {
        this.holder = holder;
        this.group = group;
        this.exits = exits;
        this.mostBatches = most.batches();
        this.copying = most.copying();
        this.batchBlocks = batchBlocks;
    }

    /** The tier of an aggregate that blocks are picked from. */
    public sealed interface Holder {
        Tables tables();

        String aggregate();

        Tier tier();

        /** Incarnation that the placements belong to; 0 in the store. */
        long incarnation();

        /** The placement of a block if it counts; null when there is none. */
        @Nullable PlacementRow placement(Bytes namespace, Bytes block);

        /** The text of a namespace. */
        String namespace(Bytes digest);
    }

    /** A tier of a node. */
    private record OfNode(NodeContext n, Tier tier) implements Holder {
        @Override
        public Tables tables() {
            return n.tables();
        }

        @Override
        public String aggregate() {
            return n.aggregate();
        }

        @Override
        public long incarnation() {
            return n.row().incarnation();
        }

        @Override
        public @Nullable PlacementRow placement(Bytes namespace, Bytes block) {
            return n.placement(namespace, tier, block);
        }

        @Override
        public String namespace(Bytes digest) {
            return n.namespace(digest);
        }
    }

    /** A shard of the store. */
    public record OfShard(DecisionContext d, String aggregate) implements Holder {
        @Override
        public Tables tables() {
            return d.tables();
        }

        @Override
        public Tier tier() {
            return Tier.STORE;
        }

        @Override
        public long incarnation() {
            return 0;
        }

        @Override
        public @Nullable PlacementRow placement(Bytes namespace, Bytes block) {
            PlacementRow row = d.tables().get(Rows.PLACEMENTS, new RowKey.Placement(aggregate, namespace, Tier.STORE, block));
            return row == null || row.state() == PlacementState.ABSENT ? null : row;
        }

        @Override
        public String namespace(Bytes digest) {
            return d.namespace(aggregate, digest);
        }
    }

    /**
     * How much is chosen.
     *
     * @param blocks most blocks
     * @param batches most batches
     * @param copying whether blocks are chosen that have to be copied; if not, none from the first of them on, so that nothing hotter goes in its
     * place
     */
    public record Most(int blocks, int batches, boolean copying) {}

    /** Batches of one namespace each, not larger than the policy's batch size. */
    public static List<Batch> pick(NodeContext n, EvictionRules exits, Watermark level, Most most) {
        return new EvictionPicker(new OfNode(n, level.tier()), level.group(), exits, most, n.policy().reliefBatchBlocks()).pick(most.blocks());
    }

    /** The same of a shard of the store. */
    public static List<Batch> pick(OfShard shard, EvictionRules exits, Most most, int batchBlocks) {
        return new EvictionPicker(shard, "", exits, most, batchBlocks).pick(most.blocks());
    }

    private List<Batch> pick(int most) {
        RowKey.Order first = RowKey.Order.first(holder.aggregate(), holder.tier(), holder.incarnation(), group, 0);
        RowKey.Order end = RowKey.Order.first(holder.aggregate(), holder.tier(), holder.incarnation(), group, RowKey.Order.END);
        try (Scan<RowKey.Order, EntryRow> scan = holder.tables().range(Rows.ORDER, first, end)) {
            RowKey.Order next = next(scan);
            int picked = 0;
            int passed = 0;
            while (picked < most && passed <= batchBlocks) {
                Leaf leaf = freed.peek();
                if (next != null && (leaf == null || next.order(leaf.place()) < 0)) {
                    leaf = leaf(next);
                    next = next(scan);
                } else if (leaf == null) {
                    break;
                } else {
                    freed.remove();
                }
                EvictionAction way = exits.of(leaf.place().namespace(), leaf.place().block(), leaf.row(), leaf.aboveCopied());
                if (way == null) {
                    passed++;
                    continue;
                }
                int batch = way.isCopy() && !copying ? -1 : batch(leaf, way);
                if (batch < 0) {
                    break;
                }
                batches.get(batch).blocks().add(paged(leaf));
                picked++;
                release(leaf, way, batch);
            }
        }
        return batches;
    }

    /** The next leaf of the order that may leave at all. */
    private RowKey.@Nullable Order next(Scan<RowKey.Order, EntryRow> scan) {
        return scan.next() && scan.key().kept() < exits.endOfOrder() ? scan.key() : null;
    }

    /** Which batch the leaf joins, none before that of a block below it; -1 when it would take one batch too many. */
    private int batch(Leaf leaf, EvictionAction way) {
        String namespace = holder.namespace(leaf.place().namespace());
        for (int i = leaf.from(); i < batches.size(); i++) {
            Batch batch = batches.get(i);
            if (batch.way().equals(way) && batch.namespace().equals(namespace) && batch.blocks().size() < batchBlocks) {
                return i;
            }
        }
        if (batches.size() == mostBatches) {
            return -1;
        }
        batches.add(new Batch(namespace, way, new ArrayList<>()));
        return batches.size() - 1;
    }

    private Leaf leaf(RowKey.Order order) {
        PlacementRow row = holder.placement(order.namespace(), order.block());
        if (row == null || !PlacementRows.isLeaf(row)) {
            throw new IllegalHistory("The eviction order has a block that is not a leaf: " + order);
        }
        return new Leaf(order, row, 0, false);
    }

    private static PagedBlock paged(Leaf leaf) {
        PlacementRow row = leaf.row();
        Block block = new Block(row.index(), leaf.place().block(), row.parent());
        return new PagedBlock(block, row.page(), row.generation(), row.crc32c());
    }

    /** The leaf's parent loses a child, and becomes a leaf when that was the last. */
    private void release(Leaf leaf, EvictionAction way, int batch) {
        Bytes key = leaf.row().parent();
        if (key.isEmpty()) {
            return;
        }
        RowKey.Placement id = new RowKey.Placement(holder.aggregate(), leaf.place().namespace(), holder.tier(), key);
        @Nullable Parent parent = parents.get(id);
        if (parent == null) {
            PlacementRow row = holder.placement(id.namespace(), key);
            if (row == null) {
                return;
            }
            parent = new Parent(row);
            parents.put(id, parent);
        }
        parent.children--;
        parent.place = Math.max(parent.place, leaf.place().place());
        parent.from = Math.max(parent.from, batch);
        parent.aboveCopied |= way.isCopy();
        boolean ofTheOrder = group.isEmpty() || group.equals(parent.row.group());
        if (parent.children == 0 && parent.row.holds() == 0 && parent.row.state() == PlacementState.SERVING && ofTheOrder) {
            freed.add(new Leaf(PlacementRows.orderOf(id, parent.row, parent.place).of(group), parent.row, parent.from, parent.aboveCopied));
        }
    }
}
