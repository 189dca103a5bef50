/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.PendingDrop;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.placement.PlacementEffects;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.MigrationRows;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.OperationRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.state.OperationRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TaskRow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Copies to colder tiers, for routes, operators and drains, and writes to the targets of marks: how they begin, how they end, and which blocks
 * leave their source afterwards. Without state.
 *
 * <pre>
 *   OperationIssued MigrationSubmitted ... BlocksPlaced OperationEnded MigrationCompleted MarkCleared OperationIssued(DROP of the source)
 * </pre>
 */
public final class Migrations {
    private Migrations() {}

    /** Issues one copy, records it as submitted, and returns its operation. The caller has admitted every block. */
    static String copy(NodeContext n, MoveCause cause, Tier source, Tier target, String namespace, Bytes root, List<PagedBlock> blocks) {
        Move move = new Move(OperationKind.COPY, source, target);
        String operation = issue(n, move, cause, new Operations.Purpose(null, 0, namespace, root), blocks);
        List<Bytes> keys = blocks.stream().map(block -> block.block().key()).toList();
        n.fact(new MigrationSubmitted(n.envelope(), MigrationMethod.COPY, MigrationMethod.UNKNOWN, operation, source, target, namespace, keys,
                cause));
        return operation;
    }

    /** Issues one copy without recording a submission, and returns its operation. */
    public static String issue(NodeContext n, Move move, MoveCause cause, Operations.Purpose purpose, List<PagedBlock> blocks) {
        Operations.Issued issued = Operations.issue(n, move, purpose, Blocks.of(blocks), cause);
        boolean reported = move.from() == Tier.DEVICE || move.to() == Tier.STORE;
        String request = purpose.request();
        CopyOrigin origin = reported ? new CopyOrigin(request == null ? "" : request, purpose.attempt(), purpose.root()) : null;
        n.command(new CopyBlocks(n.envelope(), issued.header(), issued.operation(), move.from(), move.to(), purpose.namespace(), blocks,
                origin));
        return issued.operation();
    }

    /** Whether the agent reports success but names other blocks than the command did. Copies for watermarks report each block. */
    public static boolean isMismatch(OperationRow row, OperationResult c) {
        if (row.kind() != OperationKind.COPY || row.move() == null || c.state() != OperationState.DONE) {
            return false;
        }
        Set<Block> asked = new LinkedHashSet<>(row.blocks());
        for (BlockResult result : c.results()) {
            if (!asked.remove(result.block())) {
                return true;
            }
        }
        return !asked.isEmpty();
    }

    /**
     * A copy whose report does not match its command has failed as a whole. Blocks that the agent reports on the target are recorded, because it
     * holds them, and dropped again; the source serves.
     */
    public static void mismatched(NodeContext n, OperationRow row, OperationResult c) {
        List<BlockResult> still = row.to() == Tier.STORE ? List.of() : c.results();
        OperationResult failed = c.failedFor(OperationReason.COPY_RESULT_MISMATCH, still);
        PlacementEffects s = PlacementEffects.expected(n, row, failed);
        n.fact(new OperationEnded(n.envelope(), c.operation(), row.kind(), failed.state(), failed.reason(), 0, row.blockCount(), c.movedBytes()));
        complete(n, row, failed, 0, row.blockCount());
        MoveCause move = row.move();
        Tier elsewhere = PlacementRows.isOrdered(row.from()) ? row.from() : Tier.UNKNOWN;
        if (move != null && !s.arrived().isEmpty()) {
            n.pendingDrops().add(new PendingDrop(row.to(), elsewhere, row.namespace(), s.arrived(), move, Long.MAX_VALUE));
        }
    }

    /** A copy has ended, and its operation is recorded as ended: records its end, clears marks, and notes the blocks that are to leave the source. */
    public static void ended(NodeContext n, OperationRow row, OperationResult c, int failed) {
        MoveCause move = row.move();
        List<Block> there = there(n, row, c);
        if (move != null) {
            complete(n, row, c, c.doneBlocks(), failed);
        }
        List<Bytes> keys = there.stream().map(Block::key).toList();
        if (OperationRows.isLed(row.kind(), row.from())) {
            Marks.written(n, c.operation(), row, keys);
        } else {
            Marks.copied(n, row.to(), row.namespace(), keys);
        }
        if (move != null && move.retention() == Retention.DELETE_SOURCE && PlacementRows.isOrdered(row.from()) && !isStopping(n, move)) {
            List<PagedBlock> sources = sources(n, row, c.operation(), there);
            if (!sources.isEmpty()) {
                n.pendingDrops().add(new PendingDrop(row.from(), row.to(), row.namespace(), sources, move, OperationRows.offsetOf(c.operation())));
            }
        }
    }

    /** Whether an operator has cancelled the move: a copy that arrives all the same stays, and so does its source. */
    private static boolean isStopping(NodeContext n, MoveCause move) {
        String migration = move.migration();
        TaskRow task = migration == null ? null : n.task(migration);
        return task != null && task.stopping();
    }

    /** An incarnation of the node has ended, and with it a copy. */
    public static void fenced(NodeContext n, String operation, OperationRow row) {
        if (row.move() != null && row.kind() == OperationKind.COPY) {
            OperationResult c = OperationResult.ofNone(operation, Move.of(row), OperationState.FENCED, OperationReason.NODE_LOST, row.namespace());
            complete(n, row, c, 0, row.blockCount());
        }
    }

    /** Those of the operation's blocks that are on the target now, each once. */
    private static List<Block> there(NodeContext n, OperationRow row, OperationResult c) {
        Set<Block> its = new LinkedHashSet<>(row.blocks());
        List<Block> there = new ArrayList<>();
        for (BlockResult result : c.results()) {
            if (OperationResult.isDone(result) && its.contains(result.block())) {
                there.add(result.block());
            }
        }
        return n.clock().coreVersion() <= CoreVersion.UNBOUNDED_NAMES ? there : List.copyOf(new LinkedHashSet<>(there));
    }

    /** The placements on the source that the operation has read, without those that have gone or were written again meanwhile. */
    private static List<PagedBlock> sources(NodeContext n, OperationRow row, String operation, List<Block> there) {
        Bytes namespace = Namespaces.digest(row.namespace());
        List<PagedBlock> sources = new ArrayList<>(there.size());
        for (Block block : there) {
            PlacementRow held = n.placement(namespace, row.from(), block.key());
            if (held != null && operation.equals(held.operation())) {
                sources.add(new PagedBlock(block, held.page(), held.generation(), held.crc32c()));
            }
        }
        return sources;
    }

    private static void complete(NodeContext n, OperationRow row, OperationResult c, int done, int failed) {
        MoveCause move = row.move();
        if (move == null) {
            return;
        }
        boolean led = OperationRows.isLed(row.kind(), row.from());
        MigrationMethod method = led ? MigrationMethod.MARK : MigrationMethod.COPY;
        MigrationMethod fallbackFrom = led ? Marks.fallbackFrom(n, c.operation(), row) : MigrationMethod.UNKNOWN;
        MigrationCompleted completed = new MigrationCompleted(n.envelope(), method, fallbackFrom, c.operation(), row.from(), row.to(), c.state(),
                c.reason(), done, failed, c.movedBytes(), c.durationMicros(), move);
        n.fact(completed);
        report(n, completed);
    }

    /** Reports the node's progress to the copy's migration; the last report has no running operations. */
    private static void report(NodeContext n, MigrationCompleted completed) {
        String migration = completed.move().migration();
        TaskRow task = migration == null ? null : n.task(migration);
        if (migration == null || task == null || !task.operations().contains(completed.operation())) {
            return;
        }
        TaskRow now = MigrationRows.completed(task, completed);
        n.taskBecomes(migration, now);
        n.message(new MigrationReported(n.messageEnvelope(Aggregates.MIGRATION + migration, n.aggregate(), now.reports()), n.name(), null,
                now.progress(), now.request()));
    }

    /**
     * Drops the blocks that this decision recorded for dropping, as far as the tables now allow; returns the number of blocks. A block is dropped
     * if it is still the one that was copied, its copy serves, nothing extends it or relies on it, and no request has used it since; the others
     * stay and serve.
     */
    public static int drop(NodeContext n) {
        int dropped = 0;
        for (PendingDrop drop : List.copyOf(n.pendingDrops())) {
            List<PagedBlock> blocks = mayGo(n, drop);
            if (!blocks.isEmpty()) {
                Operations.drop(n, drop.tier(), drop.namespace(), blocks, drop.reliesOn(), drop.move());
                dropped += blocks.size();
                n.evolve();
            }
        }
        n.pendingDrops().clear();
        return dropped;
    }

    /** From the ends of prefixes, the deeper before those they extend. */
    private static List<PagedBlock> mayGo(NodeContext n, PendingDrop drop) {
        Bytes namespace = Namespaces.digest(drop.namespace());
        List<PagedBlock> deepestFirst = new ArrayList<>(drop.blocks());
        deepestFirst.sort(Comparator.comparingInt((PagedBlock block) -> block.block().index()).reversed());
        Map<Bytes, Integer> childrenGone = new LinkedHashMap<>();
        // A report may name a block twice: it goes once. No version has dropped one twice, as the second time it does not serve.
        Set<Bytes> gone = new LinkedHashSet<>();
        List<PagedBlock> going = new ArrayList<>();
        for (PagedBlock block : deepestFirst) {
            Bytes key = block.block().key();
            PlacementRow row = n.placement(namespace, drop.tier(), key);
            boolean same = row != null && row.state() == PlacementState.SERVING && row.page() == block.page()
                    && row.generation() == block.generation();
            if (row != null && same && row.holds() == 0 && row.touch() <= drop.since()
                    && row.children() == childrenGone.getOrDefault(key, 0) && isElsewhere(n, namespace, drop.reliesOn(), row, key)
                    && gone.add(key)) {
                going.add(block);
                childrenGone.merge(block.block().parent(), 1, Integer::sum);
            }
        }
        return going;
    }

    private static boolean isElsewhere(NodeContext n, Bytes namespace, Tier reliesOn, PlacementRow row, Bytes key) {
        return switch (reliesOn) {
            case STORE -> row.stored();
            case HOST, DISK -> {
                @Nullable PlacementRow other = n.placement(namespace, reliesOn, key);
                yield other != null && PlacementRows.isServed(other.state());
            }
            // What came by mistake may go though nothing else has it: it never served a request.
            case UNKNOWN -> true;
            case DEVICE -> false;
        };
    }
}
