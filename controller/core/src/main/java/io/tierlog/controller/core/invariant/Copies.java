/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Placements on a node's own tiers, as the decisions record them. Each was named when it was placed (I8); a decision that removes one relies on
 * another placement, or reports that it was the last (I11). Of each placement it keeps only whether the store has the block too. Confined to its
 * node's fold.
 */
final class Copies {
    private static final List<Tier> TIERS = List.of(Tier.DEVICE, Tier.HOST, Tier.DISK);

    /** Whether the store has the block of a placement too, as far as decisions report; ordered. */
    private enum Known {
        NO,
        /** Reported while the placement was being written: the core may or may not have kept it. */
        PERHAPS,
        YES
    }

    private final NodeFold node;
    private final Map<Tier, Map<String, Map<Bytes, Known>>> stored = new EnumMap<>(Tier.class);
    /** Blocks reported as stored while they were on their way to a tier; cleared when nothing is on its way. */
    private final Set<Bytes> storedOnTheWay = new LinkedHashSet<>();

    Copies(NodeFold node) {
        this.node = node;
    }

    void state(FoldBytes io) {
        io.map(stored, tier -> io.symbol(Tier.class, tier), spaces -> {
            Map<String, Map<Bytes, Known>> moved = spaces == null ? new LinkedHashMap<>() : spaces;
            io.map(moved, io::text, space -> {
                Map<Bytes, Known> known = space == null ? new LinkedHashMap<>() : space;
                io.map(known, io::bytes, one -> io.symbol(Known.class, one));
                return known;
            });
            return moved;
        });
        List<Bytes> onTheWay = io.list(List.copyOf(storedOnTheWay), io::bytes);
        storedOnTheWay.addAll(onTheWay);
    }

    void clear() {
        stored.clear();
        storedOnTheWay.clear();
    }

    void clear(Tier tier) {
        stored.remove(tier);
    }

    private Map<Bytes, Known> copies(Tier tier, String namespace) {
        return stored.computeIfAbsent(tier, t -> new LinkedHashMap<>()).computeIfAbsent(namespace, n -> new LinkedHashMap<>());
    }

    /** Whether the store is recorded to have the block of a placement on that tier; null when there is no placement. */
    private @Nullable Known find(Tier tier, String namespace, Bytes key) {
        Map<String, Map<Bytes, Known>> spaces = stored.get(tier);
        Map<Bytes, Known> copies = spaces == null ? null : spaces.get(namespace);
        return copies == null ? null : copies.get(key);
    }

    void placed(BlocksPlaced f, Cause cause) {
        Naming.check(node.findings, f, cause, node);
        if (node.isStale(f.envelope().incarnation())) {
            node.findings.say(Invariant.I8, "blocks serve in incarnation " + f.envelope().incarnation() + ", which has ended");
            return;
        }
        Map<Bytes, Known> copies = copies(f.tier(), f.namespace());
        for (PagedBlock block : f.blocks()) {
            Bytes key = block.block().key();
            Known now = f.heldAlso() == Tier.STORE ? Known.YES : perhaps(key);
            copies.merge(key, now, (a, b) -> a.compareTo(b) >= 0 ? a : b);
        }
        if (node.operations.unfinished() == 0) {
            storedOnTheWay.clear();
        }
    }

    private Known perhaps(Bytes key) {
        return !storedOnTheWay.isEmpty() && storedOnTheWay.contains(key) ? Known.PERHAPS : Known.NO;
    }

    /** A block that is reported as stored was read from the store, or from a placement that was already recorded as stored. */
    void checkHeldAlso(BlocksPlaced f, Ending ending, BlockResult result) {
        if (f.heldAlso() != Tier.STORE || result.source() == Tier.STORE) {
            return;
        }
        Tier named = ending.from() == Tier.UNKNOWN ? result.source() : ending.from();
        // The end of a cancelled operation does not name the source of the block.
        Tier source = named == Tier.UNKNOWN ? node.operations.origin(ending.operation()) : named;
        // For a block that comes from the device, the host placement records whether the store has it.
        Known known = find(source == Tier.DEVICE ? Tier.HOST : source, f.namespace(), result.block().key());
        if ((known == null || known == Known.NO) && perhaps(result.block().key()) == Known.NO) {
            node.findings.say(Invariant.I11, "block " + result.block().key() + " came from " + source
                    + " and is recorded as stored, and no event reports it in the store");
        }
    }

    void backedUp(BlocksBackedUp f, Cause cause) {
        List<Block> reported = reportedStored(cause);
        int at = 0;
        for (Block block : f.blocks()) {
            while (at < reported.size() && !reported.get(at).equals(block)) {
                at++;
            }
            if (at++ >= reported.size()) {
                node.findings.say(Invariant.I11, "block " + block.key()
                        + " is recorded as stored, and the event that it answers does not report it");
                return;
            }
            boolean everywhere = true;
            for (Tier tier : TIERS.subList(1, TIERS.size())) {
                if (find(tier, f.namespace(), block.key()) != null) {
                    copies(tier, f.namespace()).put(block.key(), Known.YES);
                } else {
                    everywhere = false;
                }
            }
            if (!everywhere && node.operations.unfinished() > 0) {
                storedOnTheWay.add(block.key());
            }
        }
    }

    /** A drop must see what it relies on from here on. */
    void unconfirmed(BlocksUnconfirmed f) {
        for (Block block : f.blocks()) {
            storedOnTheWay.remove(block.key());
            for (Tier tier : TIERS.subList(1, TIERS.size())) {
                if (find(tier, f.namespace(), block.key()) != null) {
                    copies(tier, f.namespace()).put(block.key(), Known.NO);
                }
            }
        }
    }

    private static List<Block> reportedStored(Cause cause) {
        if (cause.event != null && Claim.of(cause.event) instanceof Claim.Stored claim) {
            return claim.blocks();
        }
        return cause.ending == null ? List.of() : cause.ending.stored();
    }

    void removed(BlocksRemoved f, Cause cause) {
        Map<Bytes, Known> copies = copies(f.tier(), f.namespace());
        int lost = 0;
        int unsure = 0;
        int known = 0;
        Set<Bytes> seen = cause.ending == null ? Set.of() : seenInStore(cause.ending);
        Set<Bytes> coming = null;
        for (Block block : f.blocks()) {
            Known inStore = copies.remove(block.key());
            if (inStore != null) {
                known++;
                boolean last = !node.isForeign() && inStore != Known.YES && !isElsewhere(f, block) && !seen.contains(block.key());
                if (last) {
                    // Once for all blocks of the fact, and not at all where no last copy leaves.
                    coming = coming == null ? node.operations.coming(f.namespace()) : coming;
                    lost++;
                    unsure += inStore == Known.PERHAPS || perhaps(block.key()) == Known.PERHAPS || coming.contains(block.key()) ? 1 : 0;
                }
            }
        }
        // The cleanup of an earlier incarnation names placements that no longer count.
        boolean current = cause.ending != null || (cause.event != null && Claim.of(cause.event) instanceof Claim.Left);
        if (!current || node.isStale(f.envelope().incarnation())) {
            return;
        }
        if (known < f.blocks().size()) {
            node.findings.say(Invariant.I13, (f.blocks().size() - known) + " blocks leave " + f.tier() + " that were not there");
        } else if (f.lastCopiesLost() > lost || f.lastCopiesLost() < lost - unsure) {
            // A block on its way to another tier may count as placed there.
            node.findings.say(Invariant.I11, "it records " + f.lastCopiesLost() + " lost last copies of " + f.blocks().size() + " blocks,"
                    + " counted are " + lost);
        }
    }

    /** Blocks that a drop took after the agent had seen them in the store. */
    private static Set<Bytes> seenInStore(Ending ending) {
        return ending.blocks().stream().filter(Copies::isTaken).filter(result -> result.source() == Tier.STORE)
                .map(result -> result.block().key()).collect(Collectors.toSet());
    }

    private static boolean isTaken(BlockResult result) {
        return result.status() == BlockStatus.GONE && result.reason() == OperationReason.COMPLETED;
    }

    private boolean isElsewhere(BlocksRemoved f, Block block) {
        for (Tier tier : TIERS) {
            if (tier != f.tier() && find(tier, f.namespace(), block.key()) != null) {
                return true;
            }
        }
        return false;
    }

    /** A drop for want of space names only blocks that are recorded elsewhere, unless the node has no tier below to write them to. */
    void checkDrop(OperationIssued f, Policy policy) {
        if (!keepsLast(f, policy)) {
            return;
        }
        if (f.reliesOn() == Tier.UNKNOWN && f.move() == null) {
            node.findings.say(Invariant.I11, "blocks are to leave " + f.from() + ", and no tier is named on which the agent must see them");
        }
        for (Block block : f.blocks()) {
            Known inStore = find(f.from(), f.namespace(), block.key());
            boolean below = f.from() == Tier.HOST && find(Tier.DISK, f.namespace(), block.key()) != null;
            // A block that a copy has brought to the disk by mistake is still at its source.
            below |= f.from() == Tier.DISK && f.move() != null
                    && (find(Tier.HOST, f.namespace(), block.key()) != null || find(Tier.DEVICE, f.namespace(), block.key()) != null);
            if (!below && (inStore == null || inStore == Known.NO) && perhaps(block.key()) == Known.NO) {
                node.findings.say(Invariant.I11, "block " + block.key() + " is to leave " + f.from() + ", and it is nowhere else");
                return;
            }
        }
    }

    /** Whether the last copy of a block must not leave by this drop. */
    private boolean keepsLast(OperationIssued f, Policy policy) {
        return f.from() != Tier.HOST || (policy.copyToDisk() && node.capacities.getOrDefault(Tier.DISK, 0L) > 0);
    }

    /**
     * What a drop took, the agent has seen on another tier in the same step. An aborted decision may have given the same id to a drop of other blocks
     * or from another tier, and the ending may be of that one.
     */
    void checkSeen(OperationIssued f, Ending ending) {
        if (ending.from() != Tier.UNKNOWN && ending.from() != f.from()) {
            return;
        }
        Set<Bytes> named = f.blocks().stream().map(Block::key).collect(Collectors.toSet());
        for (BlockResult result : ending.blocks()) {
            boolean seen = result.source() != Tier.UNKNOWN && result.source() != Tier.DEVICE && result.source() != f.from();
            if (isTaken(result) && named.contains(result.block().key()) && !seen) {
                node.findings.say(Invariant.I11, "block " + result.block().key() + " left " + f.from() + " relying on " + f.reliesOn()
                        + ", and the agent has not seen it there");
                return;
            }
        }
    }
}
