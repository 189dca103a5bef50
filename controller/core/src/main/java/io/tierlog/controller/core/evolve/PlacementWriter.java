/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.retention.UseGaps;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.NamespaceTierRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The only writer of placements: rows of one tier and namespace of one aggregate, changed by one fact, together with the eviction order and the
 * counts of the tier.
 *
 * <p>Exact recency at one row write for a hit, whatever the length of the path. Only a leaf may leave a tier: a serving placement that no other
 * placement of the tier extends. So the order table holds only leaves, coldest first, among equals the deeper first, and the first row of a scan
 * leaves next. A hit uses a whole path, but is written at its deepest block only: as long as the blocks above it have that child they cannot leave.
 * When a leaf leaves, its parent takes over the later of the two uses, loses a child, and enters the order when that was its last child. So each
 * block enters the order with the time of the last use of anything below it. A prefix is trimmed from its end and never gets a hole, and every
 * change of recency costs a bounded number of rows.
 *
 * <pre>
 *   a0 - a1 - a2      hits: a2 at 5, b1 at 7, a0 at 9 (deepest match a0)
 *      \ b1           order: a2(5) b1(7);  after a2: b1(7) a1(5);  at last a0 with max(9, 7, 5)
 * </pre>
 *
 * <p>Under the order GAPS a hit earns credit ({@link UseGaps}), and a leaf stands at its last use and its credit. A parent takes over the later of
 * the two places too. So credit moves a leaf back in the order and changes nothing else.
 *
 * <p>A block that is copied to the tier below before it leaves (COPYING) serves on and keeps its parent, so no block above it is dropped before it.
 *
 * <p>A leased block, and one that a backup reads, is held: not in the order. The deepest block of a run holds the run. A block that is not
 * there while something refers to it (a child that came before it, a hold) has a stand-in row, state ABSENT.
 *
 * <p>Rows of earlier incarnations of the node do not count: they are overwritten. Two rows are kept open, because the blocks of a fact come as
 * chains, up or down: a block and its parent, which is the next block or was the last one. {@link #close} writes them. Confined to one call of
 * evolve. Trade-off: a placement costs one row and a leaf two.
 */
final class PlacementWriter {
    /** Key of the counts of all placements; no group has this name. */
    static final String ALL = "*";

    private final Tables tables;
    private final String aggregate;
    private final Bytes digest;
    private final String namespace;
    private final Tier tier;
    private final long incarnation;
    private final long epoch;
    private final boolean alive;
    /** Whether an eviction order is kept: of what the controller decides about on nodes, and of a shard of the store. */
    private final boolean ordered;
    /** Whether placements count for groups. */
    private final boolean grouped;
    private final Rules rules;
    private final long nowMs;
    private final Map<String, Deltas> deltas = new LinkedHashMap<>();
    private long rows;
    private boolean newlyUnsaved;
    private Slot near = new Slot();
    private Slot far = new Slot();

    /** What the policy in force says of placements of the namespace on the tier. */
    interface Rules {
        /** Group that new placements count for. */
        String groupOfNew();

        /** Eviction order of a group's placements. */
        EvictionOrder order(String group);
    }

    /** The changes of a group's counts; under {@link #ALL} those of all placements. */
    static final class Deltas {
        long used;
        long leaving;

        private void add(int moreUsed, int moreLeaving) {
            used += moreUsed;
            leaving += moreLeaving;
        }
    }

    /**
     * Placements on {@code tier} of {@code aggregate}; {@code node} is null for the store.
     *
     * @param rules the policy in force
     * @param nowMs log time, milliseconds since 1970
     */
    PlacementWriter(Tables tables, String aggregate, @Nullable NodeRow node, Tier tier, String namespace, Rules rules, long nowMs) {
        this.tables = tables;
        this.rules = rules;
        this.nowMs = nowMs;
        this.aggregate = aggregate;
        this.digest = Namespaces.digest(namespace);
        this.namespace = namespace;
        this.tier = tier;
        this.incarnation = node == null ? 0 : node.incarnation();
        this.epoch = node == null || tier != Tier.DEVICE ? 0 : node.engineEpoch();
        this.alive = node == null || node.alive();
        this.grouped = PlacementRows.isOrdered(tier);
        this.ordered = grouped || node == null;
    }

    /** The changes of the counts: of all placements under {@link #ALL}, and of each group. */
    Map<String, Deltas> deltas() {
        return deltas;
    }

    /** Whether a placement has come that the store is not known to have, or has become such a one. To be called after {@link #close}. */
    boolean hasNewlyUnsaved() {
        return newlyUnsaved;
    }

    /** Stores the text of the namespace, for facts about placements that carry only its digest. */
    void rememberNamespace() {
        RowKey.Namespace key = new RowKey.Namespace(aggregate, digest);
        if (tables.get(Rows.NAMESPACES, key) == null) {
            tables.put(Rows.NAMESPACES, key, new NamespaceRow(namespace, incarnation, List.of(), 0));
        }
    }

    /** Rows that were added, less those that were removed. To be called after {@link #close}. */
    long rows() {
        return rows;
    }

    String namespace() {
        return namespace;
    }

    /** Adds to the namespace's count of placements on the tier. */
    void countNamespace(long more) {
        rememberNamespace();
        RowKey.Namespace key = new RowKey.Namespace(aggregate, digest);
        NamespaceRow row = tables.get(Rows.NAMESPACES, key);
        List<NamespaceTierRow> tiers = new ArrayList<>();
        long used = more;
        if (row != null && row.incarnation() == incarnation) {
            for (NamespaceTierRow candidate : row.tiers()) {
                if (candidate.tier() == tier) {
                    used += candidate.usedBlocks();
                } else {
                    tiers.add(candidate);
                }
            }
        }
        if (used < 0) {
            throw new IllegalHistory("Namespace " + namespace + " holds fewer than 0 blocks of " + tier);
        }
        if (used > 0) {
            tiers.add(new NamespaceTierRow(tier, used));
        }
        tables.put(Rows.NAMESPACES, key, new NamespaceRow(namespace, incarnation, tiers, row == null ? 0 : row.expiryMs()));
    }

    /**
     * Records that a missing block is being written. If several fetches write it, the last one counts; a write-back is never displaced, so that no
     * second one is issued while it runs. The block's last use so far was at {@code touch}.
     */
    void write(Block block, String operation, long touch) {
        Slot slot = open(block.key());
        if (slot.state == PlacementState.ABSENT) {
            name(slot, block);
            slot.page = -1;
            slot.generation = 0;
            slot.crc32c = 0;
            slot.stored = false;
            slot.refused = false;
            slot.operation = operation;
            become(slot, PlacementState.WRITING);
        } else if (slot.state == PlacementState.WRITING && !isWriteBack(slot.operation)) {
            slot.operation = operation;
            slot.dirty = true;
        }
        slot.use(touch, nowMs);
    }

    private boolean isWriteBack(@Nullable String operation) {
        OperationRow row = operation == null ? null : tables.get(Rows.OPERATIONS, new RowKey.Text(aggregate, operation));
        return row != null && row.kind() == OperationKind.WRITE_BACK;
    }

    /** Makes a placement serve. One that is leaving keeps leaving, unless the block was written again. */
    void place(PagedBlock paged, long touch, boolean stored) {
        Slot slot = open(paged.block().key());
        boolean anew = slot.state == PlacementState.ABSENT || slot.page != paged.page() || slot.generation != paged.generation();
        if (slot.state == PlacementState.ABSENT) {
            name(slot, paged.block());
            slot.stored = false;
        }
        slot.refused &= !anew;
        slot.page = paged.page();
        slot.generation = paged.generation();
        slot.crc32c = paged.crc32c();
        slot.use(touch, nowMs);
        slot.stored |= stored;
        slot.dirty = true;
        if (!PlacementRows.isGoing(slot.state) || anew) {
            slot.operation = null;
            become(slot, PlacementState.SERVING);
        }
    }

    /** A DROP was issued. */
    void leave(Block block, String operation) {
        go(block, operation, PlacementState.LEAVING);
    }

    /** A COPY of it to another tier was issued, after which it shall leave; returns its last use. */
    long copy(Block block, String operation) {
        return go(block, operation, PlacementState.COPYING);
    }

    /** A COPY of it to another tier was issued, after which it shall stay; returns its last use. */
    long copyAndKeep(Block block, String operation) {
        return go(block, operation, PlacementState.COPYING_KEEP);
    }

    private long go(Block block, String operation, PlacementState state) {
        Slot slot = open(block.key());
        if (slot.state != PlacementState.SERVING) {
            throw new IllegalHistory("A block that is " + slot.state + " cannot become " + state + ": " + block);
        }
        slot.operation = operation;
        long touch = slot.touch;
        become(slot, state);
        return touch;
    }

    /** An operation has ended: what it was still writing is gone, what it was to take away serves on. */
    void settle(Block block, String operation) {
        Slot slot = open(block.key());
        if (operation.equals(slot.operation)) {
            slot.operation = null;
            boolean serves = PlacementRows.isGoing(slot.state) || slot.state == PlacementState.COPYING_KEEP;
            become(slot, serves ? PlacementState.SERVING : PlacementState.ABSENT);
        }
    }

    /** A COPY of it has ended: it serves on, and is marked when the other tier did not take it. */
    void copied(Block block, String operation, boolean taken) {
        Slot slot = open(block.key());
        if (operation.equals(slot.operation)) {
            slot.refused = !taken;
            settle(block, operation);
        }
    }

    /** Whether the store has the block, as far as the rows record. */
    boolean isStored(Block block) {
        Slot slot = open(block.key());
        return slot.state != PlacementState.ABSENT && slot.stored;
    }

    /** The copy counts for another group from here on, and keeps no credit that its order does not give. */
    void regroup(Block block, String group) {
        Slot slot = open(block.key());
        if (slot.credit > 0 && rules.order(group) == EvictionOrder.LRU) {
            slot.credit = 0;
            slot.dirty = true;
        }
        if (slot.state != PlacementState.ABSENT && !slot.group.equals(group)) {
            int leaves = PlacementRows.isGoing(slot.state) ? 1 : 0;
            count(slot.group, -1, -leaves);
            count(group, 1, leaves);
            slot.group = group;
            slot.dirty = true;
        }
    }

    /** Whether the block serves here and is to stay. */
    boolean serves(Block block) {
        return open(block.key()).state == PlacementState.SERVING;
    }

    /** A copy is gone. */
    void remove(Block block) {
        RowKey.Placement key = new RowKey.Placement(aggregate, digest, tier, block.key());
        Slot slot = open(block.key());
        if (slot.state != PlacementState.ABSENT) {
            slot.operation = null;
            become(slot, PlacementState.ABSENT);
        } else if (slot.before != null && !isCurrent(slot.before) && !slot.dirty) {
            erase(key, slot.before);
            slot.key = null;
        }
    }

    /** A path down to this block was used. */
    void touch(Block block, long touch) {
        Slot slot = open(block.key());
        if (slot.state != PlacementState.ABSENT && slot.touch < touch) {
            slot.branch |= slot.children > 0;
            // A block without a use is one that is only being written.
            boolean earns = grouped && slot.touch > 0 && rules.order(slot.group) == EvictionOrder.GAPS;
            slot.credit = earns ? UseGaps.credit(slot.touch, slot.credit, touch, slot.branch) : 0;
            slot.touch = touch;
            slot.usedMs = nowMs;
            slot.refused = false;
            slot.dirty = true;
            if (ordered && !grouped) {
                usedLeaving(slot);
            }
        }
    }

    /**
     * What leaves has passed its uses to its parent before. A later use passes up to the first block that stays: a read of the store, or the use of
     * a block that was put behind it meanwhile and has gone first.
     */
    private void usedLeaving(Slot used) {
        Slot child = used;
        while (child.state == PlacementState.LEAVING && !child.parent.isEmpty()) {
            Slot parent = open(child.parent);
            if (parent.state == PlacementState.ABSENT) {
                return;
            }
            inherit(parent, child);
            parent.dirty = true;
            child = parent;
        }
    }

    /** A promotion has brought the copy under that lease, empty for none, and it was not used yet. */
    void promoted(Block block, String lease) {
        Slot slot = open(block.key());
        if (slot.state != PlacementState.ABSENT) {
            slot.promotedUnder = lease;
            slot.dirty = true;
        }
    }

    /** The promotion of the copy has its outcome. */
    void used(Block block) {
        Slot slot = open(block.key());
        if (slot.promotedUnder != null) {
            slot.promotedUnder = null;
            slot.dirty = true;
        }
    }

    /** Records whether the store is known to have the block too. */
    void stored(Block block, boolean stored) {
        Slot slot = open(block.key());
        if (slot.state != PlacementState.ABSENT && slot.stored != stored) {
            slot.stored = stored;
            slot.dirty = true;
        }
    }

    /** A lease or backup relies on the block, or does so no longer. */
    void hold(Block block, int more) {
        Slot slot = open(block.key());
        if (slot.state == PlacementState.ABSENT && slot.children == 0 && slot.holds == 0) {
            name(slot, block);
        }
        slot.holds += more;
        slot.dirty = true;
        if (slot.holds < 0) {
            throw new IllegalHistory("A block was released more often than held: " + block);
        }
    }

    /** Writes what is still open. */
    void close() {
        // The parent first: a new block joins its run.
        flush(far);
        flush(near);
    }

    private static void name(Slot slot, Block block) {
        slot.index = block.index();
        slot.parent = block.parent();
    }

    /** Changes the state of a slot, which the caller must not use afterwards where the block is no child any more. */
    private void become(Slot slot, PlacementState state) {
        boolean wasChild = slot.isChild();
        boolean served = PlacementRows.isServed(slot.state);
        if (slot.state == PlacementState.ABSENT && grouped) {
            slot.group = rules.groupOfNew();
        }
        int more = weight(state) - weight(slot.state);
        int moreLeaving = (PlacementRows.isGoing(state) ? 1 : 0) - (PlacementRows.isGoing(slot.state) ? 1 : 0);
        count(ALL, more, moreLeaving);
        count(slot.group, more, moreLeaving);
        if (state == PlacementState.ABSENT) {
            slot.promotedUnder = null;
            slot.branch = false;
        }
        slot.state = state;
        slot.dirty = true;
        // A copied block reports its use to its parent at once, for the parent may be copied in the same move.
        boolean tells = wasChild != slot.isChild() || state == PlacementState.COPYING || state == PlacementState.COPYING_KEEP;
        if (ordered && tells && !slot.parent.isEmpty()) {
            Slot parent = open(slot.parent);
            if (wasChild) {
                parent.children -= slot.isChild() ? 0 : 1;
                if (served) { // what never served was never used
                    inherit(parent, slot);
                }
                if (parent.children < 0) {
                    throw new IllegalHistory("A block lost a child that it never had: " + slot.parent);
                }
            } else {
                if (parent.state == PlacementState.ABSENT && parent.children == 0 && parent.holds == 0) {
                    parent.index = slot.index - 1;
                }
                parent.children++;
            }
            parent.dirty = true;
            if (wasChild && served && !grouped && parent.state == PlacementState.LEAVING) {
                usedLeaving(parent);
                return; // slot may be closed now
            }
            // The child is the one to keep: it is the parent of the next block of a chain that goes down.
            near = slot;
            far = parent == slot ? far : parent;
        }
    }

    /** A block was used when the one that extended it was, and leaves no sooner. */
    private static void inherit(Slot parent, Slot child) {
        long place = Math.max(parent.touch + parent.credit, child.touch + child.credit);
        parent.usedMs = child.touch > parent.touch ? child.usedMs : parent.usedMs;
        parent.touch = Math.max(parent.touch, child.touch);
        parent.credit = place - parent.touch;
    }

    private void count(String group, int more, int moreLeaving) {
        if (!group.isEmpty() && (more != 0 || moreLeaving != 0)) {
            deltas.computeIfAbsent(group, g -> new Deltas()).add(more, moreLeaving);
        }
    }

    private static int weight(PlacementState state) {
        return state == PlacementState.ABSENT ? 0 : 1;
    }

    /** The slot of a block; the one used before stays open, the one before that is written. */
    private Slot open(Bytes block) {
        if (holds(near, block)) {
            return near;
        }
        Slot slot = far;
        far = near;
        near = slot;
        if (!holds(slot, block)) {
            flush(slot);
            load(slot, new RowKey.Placement(aggregate, digest, tier, block));
        }
        return slot;
    }

    private static boolean holds(Slot slot, Bytes block) {
        RowKey.Placement key = slot.key;
        return key != null && key.block().equals(block);
    }

    private boolean isCurrent(PlacementRow row) {
        return alive && row.incarnation() == incarnation && row.epoch() == epoch;
    }

    private void load(Slot slot, RowKey.Placement key) {
        PlacementRow row = tables.get(Rows.PLACEMENTS, key);
        slot.key = key;
        slot.before = row;
        slot.dirty = false;
        if (row == null || !isCurrent(row)) {
            slot.clear();
        } else {
            slot.read(row);
        }
    }

    private void flush(Slot slot) {
        RowKey.Placement key = slot.key;
        if (key == null || !slot.dirty) {
            return;
        }
        PlacementRow before = slot.before;
        if (slot.state == PlacementState.ABSENT && slot.children == 0 && slot.holds == 0) {
            if (before != null) {
                erase(key, before);
            }
            slot.before = null;
        } else {
            PlacementRow after = new PlacementRow(slot.state, incarnation, epoch, slot.page, slot.generation, slot.crc32c, slot.index,
                    slot.parent, slot.touch, slot.children, slot.holds, slot.stored, slot.refused, slot.group, slot.usedMs, slot.operation,
                    slot.promotedUnder, slot.credit, slot.branch);
            tables.put(Rows.PLACEMENTS, key, after);
            rows += before == null ? 1 : 0;
            newlyUnsaved |= isUnsaved(after) && (before == null || !isCurrent(before) || !isUnsaved(before));
            reorder(key, before, after);
            slot.before = after;
        }
        slot.dirty = false;
    }

    private static boolean isUnsaved(PlacementRow row) {
        return row.state() != PlacementState.ABSENT && !row.stored();
    }

    private void erase(RowKey.Placement key, PlacementRow row) {
        tables.delete(Rows.PLACEMENTS, key);
        rows--;
        if (ordered && PlacementRows.isLeaf(row)) {
            takeOut(PlacementRows.orderOf(key, row), row.group());
        }
    }

    private void takeOut(RowKey.Order place, String group) {
        tables.delete(Rows.ORDER, place);
        if (!group.isEmpty()) {
            tables.delete(Rows.ORDER, place.of(group));
        }
    }

    private void putIn(RowKey.Order place, String group) {
        tables.put(Rows.ORDER, place, Rows.ENTRY);
        if (!group.isEmpty()) {
            tables.put(Rows.ORDER, place.of(group), Rows.ENTRY);
        }
    }

    private void reorder(RowKey.Placement key, @Nullable PlacementRow before, PlacementRow after) {
        if (!ordered) {
            return;
        }
        RowKey.Order was = before != null && PlacementRows.isLeaf(before) ? PlacementRows.orderOf(key, before) : null;
        RowKey.Order is = PlacementRows.isLeaf(after) ? PlacementRows.orderOf(key, after) : null;
        boolean sameGroup = before != null && before.group().equals(after.group());
        if (before != null && was != null && !(was.equals(is) && sameGroup)) {
            takeOut(was, before.group());
        }
        if (is != null && !(is.equals(was) && sameGroup)) {
            putIn(is, after.group());
        }
    }


}
