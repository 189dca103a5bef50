/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.EntryRow;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Picks what leaves next, in the very order in which single drops would take it: the first leaf of the order of leaving, then its parent
 * as soon as all its children were picked, at the place that it has with their last use. Reads as many rows as it picks blocks, twice at
 * most. Confined to one call.
 */
final class Victims {
    private final NodeDraft n;
    private final Tier tier;
    private final List<Batch> batches = new ArrayList<>();
    private final Map<Bytes, Batch> latest = new LinkedHashMap<>();
    private final Map<RowKey.Copy, Parent> parents = new LinkedHashMap<>();
    private final PriorityQueue<Leaf> freed = new PriorityQueue<>((a, b) -> a.place().order(b.place()));

    /**
     * Blocks for one DROP, the deeper before those they extend.
     *
     * @param namespace their namespace
     * @param stored whether the store holds all of them; else none
     * @param blocks the blocks with pages and generations
     */
    record Batch(String namespace, boolean stored, List<PagedBlock> blocks) {}

    /** A block that may go, at its place in the order. */
    private record Leaf(RowKey.Order place, PlacementRow row) {}

    /** A block that loses children to this choice. */
    private static final class Parent {
        private final PlacementRow row;
        private int children;
        private long touch;

        Parent(PlacementRow row) {
            this.row = row;
            this.children = row.children();
            this.touch = row.touch();
        }
    }

    private Victims(NodeDraft n, Tier tier) {
        this.n = n;
        this.tier = tier;
    }

    /** At most {@code most} blocks, in at most {@code mostBatches} batches, each of one namespace. */
    static List<Batch> pick(NodeDraft n, Tier tier, int most, int mostBatches) {
        return new Victims(n, tier).pick(most, mostBatches);
    }

    private List<Batch> pick(int most, int mostBatches) {
        long incarnation = n.row().incarnation();
        try (Scan<RowKey.Order, EntryRow> scan = n.d.tables.range(Rows.ORDER, RowKey.Order.first(n.aggregate, tier, incarnation),
                RowKey.Order.first(n.aggregate, tier, incarnation + 1))) {
            RowKey.Order next = scan.next() ? scan.key() : null;
            for (int picked = 0; picked < most; picked++) {
                Leaf first = freed.peek();
                boolean fromScan = next != null && (first == null || next.order(first.place()) < 0);
                Leaf leaf = fromScan && next != null ? leaf(next) : first;
                if (leaf == null) {
                    break;
                }
                Batch batch = batch(leaf, mostBatches);
                if (batch == null) {
                    break;
                }
                batch.blocks().add(paged(leaf));
                if (fromScan) {
                    next = scan.next() ? scan.key() : null;
                } else {
                    freed.remove();
                }
                release(leaf);
            }
        }
        return batches;
    }

    /** The batch that the leaf may join; null when it would take one batch too many. It never joins one before that of a block below it. */
    private @Nullable Batch batch(Leaf leaf, int mostBatches) {
        Batch last = latest.get(leaf.place().namespace());
        if (last != null && last.stored() == leaf.row().stored()) {
            return last;
        }
        if (batches.size() == mostBatches) {
            return null;
        }
        Bytes namespace = leaf.place().namespace();
        Batch batch = new Batch(n.d.namespace(n.aggregate, namespace), leaf.row().stored(), new ArrayList<>());
        batches.add(batch);
        latest.put(namespace, batch);
        return batch;
    }

    private Leaf leaf(RowKey.Order order) {
        PlacementRow row = n.copy(order.namespace(), tier, order.block());
        if (row == null || !Copies.isLeaf(row)) {
            throw new IllegalHistory("The order of leaving has a block that cannot leave: " + order);
        }
        return new Leaf(order, row);
    }

    private static PagedBlock paged(Leaf leaf) {
        PlacementRow row = leaf.row();
        Block block = new Block(row.index(), leaf.place().block(), row.parent());
        return new PagedBlock(block, row.page(), row.generation(), row.crc32c());
    }

    /** The leaf's parent loses a child, and becomes a leaf when that was the last. */
    private void release(Leaf leaf) {
        Bytes key = leaf.row().parent();
        if (key.isEmpty()) {
            return;
        }
        RowKey.Copy id = new RowKey.Copy(n.aggregate, leaf.place().namespace(), tier, key);
        @Nullable Parent parent = parents.get(id);
        if (parent == null) {
            PlacementRow row = n.copy(id.namespace(), tier, key);
            if (row == null) {
                return;
            }
            parent = new Parent(row);
            parents.put(id, parent);
        }
        parent.children--;
        parent.touch = Math.max(parent.touch, leaf.place().touch());
        if (parent.children == 0 && parent.row.holds() == 0 && parent.row.state() == CopyState.SERVING) {
            freed.add(new Leaf(Copies.orderOf(id, parent.row, parent.touch), parent.row));
        }
    }
}
