/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.RemovedPlacement;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effects of a terminal event on placements, made into facts.
 *
 * <p>All results of an expected operation count. Results of an unrecorded or ended operation count only when they are newer than the recorded
 * placement: a removal, if it names the recorded page and generation; an arrival, unless that page and generation, or a later one, is recorded. So
 * a repeated report changes nothing.
 *
 * @param arrived placements that came
 * @param heldAlso for each of them the tier that is recorded to hold it too
 * @param stored blocks that are in the store now
 * @param gone placements that went
 * @param pinned placements that were to go and stay, because they are in use
 * @param missed placements on the disk that a drop relied on and that the agent does not have
 * @param unconfirmed blocks that a drop expected in the store and that the agent has not found there
 */
public record PlacementEffects(List<PagedBlock> arrived, List<Tier> heldAlso, List<Block> stored, List<RemovedPlacement> gone, List<Block> pinned,
        List<RemovedPlacement> missed, List<Block> unconfirmed) {
    private static PlacementEffects empty() {
        return new PlacementEffects(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(),
                new ArrayList<>(), new ArrayList<>());
    }

    /** The rule that the event breaks, or null. */
    public static @Nullable String broken(NodeContext n, OperationResult c) {
        if (c.results().size() > n.limits().blocksPerInput()) {
            return "Invalid event of " + c.results().size() + " blocks: must have at most " + n.limits().blocksPerInput();
        }
        if (!c.move().exists()) {
            return "Invalid tiers: a drop is from HOST or DISK, a copy goes to DISK or STORE from a tier above it";
        }
        String broken = c.results().isEmpty() ? null : Checks.text(n.limits(), "namespace", c.namespace());
        for (int i = 0; broken == null && i < c.results().size(); i++) {
            broken = Checks.block(c.results().get(i).block());
        }
        return broken;
    }

    /** For the end of an operation that was waited for. */
    public static PlacementEffects expected(NodeContext n, OperationRow row, OperationResult c) {
        PlacementEffects s = read(n, Move.of(row), row.namespace(), c, false);
        s.facts(n, Move.of(row), row.namespace(), c.operation(), reason(row));
        return s;
    }

    /** For an operation that is not recorded. */
    public static void adopted(NodeContext n, OperationResult c) {
        read(n, c.move(), c.namespace(), c, true).facts(n, c.move(), c.namespace(), c.operation(), RemovalReason.WATER_LEVEL);
    }

    /** For an operation that has ended: what came counts once, when the end was a refusal of another command under the same id. */
    public static void late(NodeContext n, OperationRow row, OperationResult c) {
        PlacementEffects s = read(n, Move.of(row), row.namespace(), c, true);
        if (row.settled()) {
            s.arrived.clear();
            s.heldAlso.clear();
            s.stored.clear();
            s.unconfirmed.clear();
        }
        s.facts(n, Move.of(row), row.namespace(), c.operation(), reason(row));
    }

    /** The reason of a removal by the operation: dropped after a migration; or, where the block was to be read for one, missing. */
    private static RemovalReason reason(OperationRow row) {
        boolean migrates = row.move() != null;
        return !migrates ? RemovalReason.WATER_LEVEL : row.kind() == OperationKind.DROP ? RemovalReason.MIGRATED : RemovalReason.PRESSURE;
    }

    private static PlacementEffects read(NodeContext n, Move move, String namespace, OperationResult c, boolean onlyNewer) {
        PlacementEffects s = empty();
        Bytes digest = Namespaces.digest(namespace);
        for (BlockResult result : c.results()) {
            switch (move.kind()) {
                case WRITE_BACK, PREFETCH, PROMOTE, LOAD_BACK -> s.came(n, digest, move, result, onlyNewer);
                case COPY -> {
                    if (move.to() == Tier.STORE) {
                        s.stored(result);
                    } else {
                        s.came(n, digest, move, result, onlyNewer);
                    }
                    s.uncopied(n, digest, move.from(), c.operation(), result);
                }
                case BACK_UP -> s.stored(result);
                case DROP -> s.dropped(n, digest, move.from(), c.operation(), result);
                case UNKNOWN -> {}
            }
        }
        return s;
    }

    private void stored(BlockResult result) {
        if (OperationResult.isDone(result)) {
            stored.add(result.block());
        }
    }

    private void came(NodeContext n, Bytes namespace, Move move, BlockResult result, boolean onlyNewer) {
        if (result.status() != BlockStatus.ARRIVED && result.status() != BlockStatus.ALREADY_THERE) {
            return;
        }
        PlacementRow held = n.placement(namespace, move.to(), result.block().key());
        boolean known = held != null && held.page() == result.page() && held.generation() >= result.generation();
        // On a tier without pages only the generation tells old from new, so an older one never counts.
        boolean older = known && result.page() < 0 && held != null && held.generation() > result.generation();
        if (older || (onlyNewer && known)) {
            return;
        }
        arrived.add(new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c()));
        heldAlso.add(heldAlso(n, namespace, move, result));
    }

    /**
     * The tier that is recorded to hold an arrived block, besides its target: the store, if it does. On a node that drains, what is promoted counts
     * as unsaved: the drain may have passed its tier, and has not confirmed it yet.
     */
    private static Tier heldAlso(NodeContext n, Bytes namespace, Move move, BlockResult result) {
        Tier source = switch (move.kind()) {
            // A block read from another node is here alone, as far as this node records.
            case PREFETCH, PROMOTE -> result.source() == Tier.HOST ? storedBefore(n, namespace, result) : result.source();
            case COPY -> move.from() == Tier.DEVICE ? storedOnHost(n, namespace, result) : move.from();
            case WRITE_BACK, LOAD_BACK, BACK_UP, DROP, UNKNOWN -> Tier.UNKNOWN;
        };
        if (source != Tier.HOST && source != Tier.DISK) {
            return source == Tier.STORE ? Tier.STORE : Tier.UNKNOWN;
        }
        PlacementRow copy = n.placement(namespace, source, result.block().key());
        boolean unsure = move.kind() == OperationKind.PROMOTE && n.isDraining();
        return copy != null && copy.stored() && !unsure ? Tier.STORE : source;
    }

    private static Tier storedBefore(NodeContext n, Bytes namespace, BlockResult result) {
        PlacementRow host = n.placement(namespace, Tier.HOST, result.block().key());
        return host != null && host.stored() ? Tier.STORE : Tier.UNKNOWN;
    }

    /** HOST when the host has the block as well and the store is recorded to have it; UNKNOWN otherwise. */
    private static Tier storedOnHost(NodeContext n, Bytes namespace, BlockResult result) {
        PlacementRow host = n.placement(namespace, Tier.HOST, result.block().key());
        return host != null && host.stored() ? Tier.HOST : Tier.UNKNOWN;
    }

    /** What could not be copied because the agent does not have it is gone from the tier that it was to be read from. */
    private void uncopied(NodeContext n, Bytes namespace, Tier source, String operation, BlockResult result) {
        boolean missing = PlacementRows.isOrdered(source) && !OperationResult.isDone(result) && isNotThere(result.reason());
        PlacementRow held = missing ? n.placement(namespace, source, result.block().key()) : null;
        if (held != null && PlacementRows.isServed(held.state()) && operation.equals(held.operation())) {
            gone.add(new RemovedPlacement(result.block(), held, held.stored()));
        }
    }

    /** Whether the agent does not have what we thought it has. */
    private static boolean isNotThere(OperationReason reason) {
        return switch (reason) {
            case NOT_SERVING, STALE_GENERATION, NOT_FOUND, SOURCE_LOST -> true;
            case UNKNOWN, COMPLETED, PARTIAL, IO, CHECKSUM, NO_ROOM, DEVICE_FAULT, STORE_UNAVAILABLE, PINNED, LAST_COPY, PREFIX_GONE,
                    MOVED_ON, CANCELLED, NEVER_STARTED, STALE_COMMAND, COMMAND_CONFLICT, STALE_INCARNATION, QUEUE_FULL, UNSUPPORTED,
                    NODE_LOST, ENGINE_GONE, REPORTED_BY_AGENT, ALREADY_THERE, COPY_RESULT_MISMATCH, QUOTA_EXCEEDED, DRAINING,
                    NOT_IN_STORE -> false;
        };
    }

    private void dropped(NodeContext n, Bytes namespace, Tier tier, String operation, BlockResult result) {
        PlacementRow held = n.placement(namespace, tier, result.block().key());
        if (result.reason() == OperationReason.NOT_IN_STORE) {
            unconfirmed.add(result.block());
            return;
        }
        if (held == null) {
            return;
        }
        boolean ours = held.state() == PlacementState.LEAVING && operation.equals(held.operation());
        boolean notThere = isNotThere(result.reason());
        if (notThere ? ours : result.status() == BlockStatus.GONE && Removals.isTheOne(held, result.page(), result.generation())) {
            gone.add(new RemovedPlacement(result.block(), held, held.stored() || result.source() == Tier.STORE));
        } else if (ours && !notThere && result.status() != BlockStatus.GONE) {
            stays(n, namespace, tier, result);
        }
    }

    /** What the store could not be asked about is not in use: its turn to leave is again when the store answers. */
    private void stays(NodeContext n, Bytes namespace, Tier tier, BlockResult result) {
        if (result.reason() == OperationReason.STORE_UNAVAILABLE) {
            return;
        }
        boolean lastCopy = tier == Tier.HOST && result.reason() == OperationReason.LAST_COPY;
        PlacementRow disk = lastCopy ? n.placement(namespace, Tier.DISK, result.block().key()) : null;
        if (disk != null && disk.state() == PlacementState.SERVING) {
            missed.add(new RemovedPlacement(result.block(), disk, disk.stored()));
        } else {
            pinned.add(result.block());
        }
    }

    /** Records all of it. */
    private void facts(NodeContext n, Move move, String namespace, String operation, RemovalReason why) {
        for (Tier also : new LinkedHashSet<>(heldAlso)) {
            List<PagedBlock> blocks = new ArrayList<>(arrived.size());
            for (int i = 0; i < arrived.size(); i++) {
                if (heldAlso.get(i) == also) {
                    blocks.add(arrived.get(i));
                }
            }
            // A copy or promotion is not a use: the placement keeps the use that it had when the operation was issued. What comes from the device
            // is new.
            boolean copied = (move.kind() == OperationKind.COPY && move.from() != Tier.DEVICE) || move.kind() == OperationKind.PROMOTE;
            long touch = copied ? 0 : n.offset();
            if (move.kind() == OperationKind.LOAD_BACK && blocks.size() > n.freePlacements()) {
                continue; // the host has them too: only what is on the device is not on record
            }
            n.fact(new BlocksPlaced(n.envelope(), move.to(), namespace, blocks, operation, also, touch));
        }
        if (!stored.isEmpty()) {
            n.fact(new BlocksBackedUp(n.envelope(), namespace, stored));
        }
        if (!unconfirmed.isEmpty()) {
            n.fact(new BlocksUnconfirmed(n.envelope(), namespace, unconfirmed));
        }
        Removals.fact(n, move.from(), namespace, why, gone);
        Removals.fact(n, Tier.DISK, namespace, RemovalReason.WATER_LEVEL, missed);
    }

    /** What could not be dropped is in use, so its turn to leave is not now: else the next drop would name it again. */
    public void touchPinned(NodeContext n, OperationRow row) {
        if (!pinned.isEmpty()) {
            n.fact(new BlocksTouched(n.envelope(), row.from(), row.namespace(), pinned, n.offset()));
        }
    }
}
