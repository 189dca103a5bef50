/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.promotion;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.decide.RemovedPlacement;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.Watermark;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.state.PromotionRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PromotionOutcome;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.state.LeaseRow;
import io.tierlog.schemas.state.LeaseState;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PromotionRow;
import io.tierlog.schemas.state.PromotionsRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that requests are expected to need are promoted from the disk to the host before the requests come: only into space below the high
 * watermarks, so nothing hotter ever leaves for them. Without state.
 */
public final class Promotions {
    private Promotions() {}

    public static void requested(NodeContext n, PromotionRequested e) {
        int most = PromotionLimits.DEFAULTS.blocksPerProbe();
        String broken = Checks.text(n.limits(), "namespace", e.namespace());
        if (broken == null && (e.blocks().isEmpty() || e.blocks().size() > most)) {
            broken = "Invalid probe of " + e.blocks().size() + " blocks: must have 1 to " + most;
        }
        if (broken == null && e.probe().length() > n.limits().textLength()) {
            broken = "Invalid probe id: must have at most " + n.limits().textLength() + " characters";
        }
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
        } else {
            new PromotionProbe(n, e).decide();
        }
    }

    public static PromotionPolicy policy(NodeContext n) {
        return Policies.fetch(n.policy()).promotion();
    }

    /** The promotion of a block if it counts in the node's current incarnation; null when there is none. */
    static @Nullable PromotionRow find(NodeContext n, Bytes namespace, Bytes key) {
        PromotionRow row = n.tables().get(Rows.PROMOTIONS, new RowKey.Mark(n.aggregate(), namespace, key));
        return row != null && n.isCurrent(row.incarnation()) ? row : null;
    }

    /** The disk placement that a promotion may read; null when there is none. */
    static @Nullable PlacementRow source(NodeContext n, Bytes namespace, Bytes key) {
        PlacementRow disk = n.placement(namespace, Tier.DISK, key);
        return disk != null && PlacementRows.isServed(disk.state()) ? disk : null;
    }

    /**
     * Number of a group's blocks that fit on the host before it, or the group's part of it, is high or full; 0 while watermark eviction runs there.
     */
    public static long free(NodeContext n, String group) {
        long free = 0;
        for (Watermark level : Watermark.of(n.policy())) {
            Watermark.Use use = level.tier() == Tier.HOST ? Quotas.use(n, level) : null;
            if (use != null && level.group().isEmpty()) {
                free = level.free(use);
            } else if (use != null && level.group().equals(group)) {
                free = Math.min(free, level.free(use));
            }
        }
        return free;
    }

    /** Issues one promotion of blocks of one namespace, shallow to deep, all of which the disk serves. */
    static void issue(NodeContext n, String namespace, List<PagedBlock> blocks) {
        Operations.Issued issued = Operations.issue(n, OperationKind.PROMOTE, Tier.DISK,
                new Operations.Purpose(null, 0, namespace, Bytes.EMPTY), Blocks.of(blocks));
        String lease = n.nextId();
        long leaseMs = n.policy().leaseMs();
        n.fact(new LeaseRequested(n.envelope(), lease, issued.operation(), "", 0, n.in(leaseMs)));
        n.command(new PromoteBlocks(n.envelope(), issued.header(), issued.operation(), lease, leaseMs, namespace, List.copyOf(blocks)));
    }

    /** The copy on the disk as a command names it. */
    static PagedBlock paged(Bytes key, PlacementRow disk) {
        return new PagedBlock(new Block(disk.index(), key, disk.parent()), -1, disk.generation(), disk.crc32c());
    }

    // --- what waits

    /** Starts waiting promotions, as far as policy and space allow. */
    public static void goOn(NodeContext n) {
        PromotionsRow row = PromotionRows.orNothing(n.row().promotions());
        if (row.queuedBlocks() == 0 || !n.row().alive()) {
            return;
        }
        PromotionPolicy policy = policy(n);
        if (!policy.enabled() || n.isDraining()) {
            giveUp(n, "", 0);
        } else if (row.operations() < policy.operations()) {
            if (free(n, "") == 0) {
                giveUp(n, "", policy.cooldownMs());
            } else {
                new Turn(n, policy, policy.operations() - row.operations()).decide();
            }
        }
        n.evolve();
    }

    /** Cancels the waiting promotions, and pauses new ones for a time. */
    private static void giveUp(NodeContext n, String operation, long pauseMs) {
        n.fact(new PromotionsPaused(n.envelope(), operation, n.in(pauseMs), PromotionRows.orNothing(n.row().promotions()).queuedBlocks()));
    }

    // --- ends

    /** An operation has ended: blocks that it did not bring get their outcome now, and so do blocks that requests waited for. */
    public static void ended(NodeContext n, OperationRow row, OperationResult c, List<PagedBlock> arrived) {
        Bytes namespace = Namespaces.digest(row.namespace());
        Set<Bytes> came = new LinkedHashSet<>();
        arrived.forEach(block -> came.add(block.block().key()));
        Map<Bytes, OperationReason> reasons = new LinkedHashMap<>();
        c.results().forEach(result -> reasons.put(result.block().key(), result.reason()));
        Map<OperationReason, List<Block>> failed = new EnumMap<>(OperationReason.class);
        Set<Bytes> open = new LinkedHashSet<>();
        for (Block block : row.blocks()) {
            PromotionRow promotion = find(n, namespace, block.key());
            boolean isOpen = promotion != null && c.operation().equals(promotion.operation()) && !promotion.raced();
            if (isOpen && came.contains(block.key())) {
                open.add(block.key());
            } else if (isOpen) {
                OperationReason why = reasons.getOrDefault(block.key(), c.reason());
                failed.computeIfAbsent(why, r -> new ArrayList<>()).add(block);
            }
        }
        failed.forEach((why, blocks) -> settle(n, row.namespace(), PromotionOutcome.FAILED, why, blocks));
        List<Block> waited = new ArrayList<>();
        for (int i : c.awaited()) {
            BlockResult result = i >= 0 && i < c.results().size() ? c.results().get(i) : null;
            if (result != null && open.remove(result.block().key())) {
                waited.add(result.block());
            }
        }
        settle(n, row.namespace(), PromotionOutcome.PROMOTED_HIT_WAITED, waited);
        if (!waited.isEmpty() && row.lease() != null) {
            n.releasableLeases().add(row.lease());
        }
        // A grant's promotion ends with its grant, and does not affect other waiting promotions.
        if (c.reason() == OperationReason.NO_ROOM && row.request() == null) {
            giveUp(n, c.operation(), policy(n).cooldownMs());
        }
    }

    /** The incarnation of the node has ended before the operation. */
    public static void fenced(NodeContext n, String operation, OperationRow row) {
        if (row.kind() != OperationKind.PROMOTE) {
            return;
        }
        Bytes namespace = Namespaces.digest(row.namespace());
        List<Block> open = new ArrayList<>();
        for (Block block : row.blocks()) {
            // The row may belong to the current incarnation, or record that a request came too late for the block: then its outcome is settled.
            PromotionRow promotion = n.tables().get(Rows.PROMOTIONS, new RowKey.Mark(n.aggregate(), namespace, block.key()));
            if (promotion != null && operation.equals(promotion.operation()) && !promotion.raced()) {
                open.add(block);
            }
        }
        settle(n, row.namespace(), PromotionOutcome.FAILED, OperationReason.NODE_LOST, open);
    }

    static void settle(NodeContext n, String namespace, PromotionOutcome outcome, List<Block> blocks) {
        settle(n, namespace, outcome, OperationReason.COMPLETED, blocks);
    }

    static void settle(NodeContext n, String namespace, PromotionOutcome outcome, OperationReason reason, List<Block> blocks) {
        if (!blocks.isEmpty()) {
            n.fact(new PromotionSettled(n.envelope(), namespace, outcome, reason, List.copyOf(blocks)));
        }
    }

    // --- uses

    /** A request has come: blocks that it walks over on the host are used; promotions on their way that it does not wait for are too late. */
    public static void asked(NodeContext n, String namespace, List<Block> promoted, List<Block> promoting, List<Block> fetched) {
        used(n, namespace, promoted);
        List<Block> raced = new ArrayList<>(promoting);
        raced.removeAll(fetched);
        settle(n, namespace, PromotionOutcome.MISSED_RACE, raced);
    }

    /** Whether a promotion is bringing the block, and no request came too late for it. */
    public static boolean isOnItsWay(NodeContext n, Bytes namespace, Bytes key) {
        PromotionsRow row = n.row().promotions();
        PromotionRow promotion = row == null || row.operations() == 0 ? null : find(n, namespace, key);
        return promotion != null && promotion.operation() != null && !promotion.raced();
    }

    /** Whether an operation is promoting the block, for whomever. */
    public static boolean isUnderWay(NodeContext n, Bytes namespace, Bytes key) {
        PromotionRow promotion = find(n, namespace, key);
        return promotion != null && promotion.operation() != null;
    }

    /** What another node was sent was used. */
    public static void sentToPeer(NodeContext n, String namespace, List<Block> sent) {
        Bytes digest = Namespaces.digest(namespace);
        List<Block> used = new ArrayList<>();
        for (Block block : sent) {
            PlacementRow host = n.placement(digest, Tier.HOST, block.key());
            if (host != null && host.promotedUnder() != null && host.index() == block.index()) {
                used.add(block);
            }
        }
        used(n, namespace, used);
    }

    /** Blocks were read from the host without a request. */
    public static void read(NodeContext n, OperationResult c) {
        Bytes namespace = Namespaces.digest(c.namespace());
        List<Block> used = new ArrayList<>();
        for (BlockResult result : c.results()) {
            PlacementRow host = OperationResult.isDone(result) ? n.placement(namespace, Tier.HOST, result.block().key()) : null;
            if (host != null && host.promotedUnder() != null) {
                used.add(new Block(host.index(), result.block().key(), host.parent()));
            }
        }
        used(n, c.namespace(), used.stream().distinct().toList());
    }

    /** Promoted blocks were used. */
    private static void used(NodeContext n, String namespace, List<Block> blocks) {
        settle(n, namespace, PromotionOutcome.PROMOTED_HIT, blocks);
        Bytes digest = Namespaces.digest(namespace);
        for (Block block : blocks) {
            PlacementRow host = n.placement(digest, Tier.HOST, block.key());
            if (host != null && host.promotedUnder() != null) {
                n.releasableLeases().add(host.promotedUnder());
            }
        }
    }

    /**
     * Ends leases of which the deepest block of each run has been used or has gone, as of this decision. A request that uses that block also uses
     * the blocks before it, and keeps all of them by its own pins. Until then the rest of the run is still expected.
     */
    public static void release(NodeContext n) {
        if (n.releasableLeases().isEmpty()) {
            return;
        }
        for (String lease : n.releasableLeases()) {
            LeaseRow row = n.lease(lease);
            if (row != null && row.state() == LeaseState.HELD) {
                Bytes namespace = Namespaces.digest(row.namespace());
                if (row.deepest().stream().noneMatch(block -> isExpected(n, namespace, block))) {
                    CommandHeader header = n.nextHeader();
                    n.fact(new LeaseEnded(n.envelope(), lease, LeaseEndReason.USED, header.commandSequence()));
                    n.command(new ReleasePins(n.envelope(), header, lease));
                }
            }
        }
        n.releasableLeases().clear();
        n.evolve();
    }

    /** Whether the block was promoted, and it was not used yet. */
    private static boolean isExpected(NodeContext n, Bytes namespace, Block block) {
        PlacementRow host = n.placement(namespace, Tier.HOST, block.key());
        return host != null && host.promotedUnder() != null;
    }

    /**
     * Placements have gone: from the host, perhaps promoted ones before a request used them; from the disk, perhaps blocks that were to be
     * promoted.
     */
    public static void gone(NodeContext n, Tier tier, String namespace, List<RemovedPlacement> gone) {
        if (tier == Tier.HOST) {
            List<Block> unused = new ArrayList<>();
            for (RemovedPlacement one : gone) {
                String lease = one.copy().promotedUnder();
                if (lease != null) {
                    unused.add(one.block());
                    n.releasableLeases().add(lease);
                }
            }
            settle(n, namespace, PromotionOutcome.PROMOTED_EVICTED_BEFORE_USE, unused);
        } else if (tier == Tier.DISK && n.row().promotions() != null) {
            lost(n, namespace, gone);
        }
    }

    private static void lost(NodeContext n, String namespace, List<RemovedPlacement> gone) {
        Bytes digest = Namespaces.digest(namespace);
        List<Block> waited = new ArrayList<>();
        Set<String> operations = new LinkedHashSet<>();
        for (RemovedPlacement one : gone) {
            PromotionRow row = find(n, digest, one.block().key());
            if (row != null && row.queued() > 0) {
                waited.add(row.block());
            } else if (row != null && row.operation() != null) {
                operations.add(row.operation());
            }
        }
        settle(n, namespace, PromotionOutcome.FAILED, OperationReason.NOT_FOUND, waited);
        for (String operation : operations) {
            n.command(new CancelOperation(n.envelope(), n.nextHeader(), operation, OperationKind.PROMOTE));
        }
    }

    /** The next ones that wait begin. Confined to one decision. */
    private static final class Turn {
        private final NodeContext n;
        private final PromotionPolicy policy;
        private int slots;
        private final Map<String, Long> freeByGroup = new LinkedHashMap<>();
        private final List<PagedBlock> batch = new ArrayList<>();
        private Bytes batchOf = Bytes.EMPTY;
        private long left;

        Turn(NodeContext n, PromotionPolicy policy, int slots) {
            this.n = n;
            this.policy = policy;
            this.slots = slots;
            this.left = free(n, "");
        }

        void decide() {
            int most = (int) Math.min(n.limits().blocksPerDecision(), (long) slots * policy.operationBlocks());
            for (RowKey.Order place : PromotionRows.waiting(n.tables(), n.aggregate(), n.row().incarnation(), most)) {
                if (!batch.isEmpty() && (batch.size() == policy.operationBlocks() || !batchOf.equals(place.namespace()))) {
                    begin();
                }
                if (slots == 0 || left == 0) {
                    break;
                }
                take(place);
            }
            if (!batch.isEmpty()) {
                begin();
            }
        }

        private void take(RowKey.Order place) {
            String namespace = n.namespace(place.namespace());
            PlacementRow disk = source(n, place.namespace(), place.block());
            String group = Groups.of(n.policy(), namespace);
            long free = freeByGroup.computeIfAbsent(group, g -> free(n, g));
            PromotionRow row = find(n, place.namespace(), place.block());
            if (row == null) {
                throw new IllegalHistory("What waits has no row: " + place);
            }
            if (disk == null) {
                settle(n, namespace, PromotionOutcome.FAILED, OperationReason.NOT_FOUND, List.of(row.block()));
            } else if (n.placement(place.namespace(), Tier.HOST, place.block()) != null) {
                settle(n, namespace, PromotionOutcome.FAILED, OperationReason.ALREADY_THERE, List.of(row.block()));
            } else if (free == 0) {
                settle(n, namespace, PromotionOutcome.FAILED, OperationReason.QUOTA_EXCEEDED, List.of(row.block()));
            } else {
                freeByGroup.put(group, free - 1);
                left--;
                batchOf = place.namespace();
                batch.add(paged(place.block(), disk));
            }
        }

        private void begin() {
            issue(n, n.namespace(batchOf), batch);
            batch.clear();
            slots--;
        }
    }
}
