/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.TerminalEvent;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The contents of the agent's terminal event of an operation.
 *
 * @param operation id of the operation
 * @param kind what it did; UNKNOWN when the event does not name it
 * @param state DONE, FAILED or CANCELLED
 * @param from tier that bytes came from or left; UNKNOWN when the event does not name it or it differs by block
 * @param to tier that bytes went to; UNKNOWN for a drop, or when the event does not name it
 * @param namespace namespace of the blocks
 * @param blocks what became of each
 * @param movedBytes bytes moved
 * @param lease lease that the agent holds now; null when none
 */
record Ending(String operation, OperationKind kind, OperationState state, Tier from, Tier to, String namespace, List<BlockResult> blocks,
        long movedBytes, @Nullable String lease) {
    /** The ending that {@code event} reports, or null when it is not a terminal event. */
    static @Nullable Ending of(Event event) {
        if (event instanceof CommandRefused refused) {
            return refused(refused);
        }
        return event instanceof TerminalEvent end ? of(end) : null;
    }

    private static Ending of(TerminalEvent event) {
        return switch (event) {
            case WriteBackDone e ->
                new Ending(e.operation(), OperationKind.WRITE_BACK, OperationState.DONE, Tier.DEVICE, Tier.HOST,
                        e.namespace(), e.blocks(), e.movedBytes(), null);
            case PrefetchDone e ->
                new Ending(e.operation(), OperationKind.PREFETCH, OperationState.DONE, Tier.UNKNOWN, Tier.HOST,
                        e.namespace(), e.blocks(), e.movedBytes(), e.lease());
            case PromoteDone e ->
                new Ending(e.operation(), OperationKind.PROMOTE, OperationState.DONE, Tier.DISK, Tier.HOST,
                        e.namespace(), e.blocks(), e.movedBytes(), e.lease());
            case PromoteFailed e -> failed(e.operation(), OperationKind.PROMOTE, Tier.DISK, Tier.HOST, e.namespace(), e.blocks());
            case BackUpDone e ->
                new Ending(e.operation(), OperationKind.BACK_UP, OperationState.DONE, Tier.HOST, Tier.STORE,
                        e.namespace(), e.blocks(), e.movedBytes(), null);
            case LoadBackDone e ->
                new Ending(e.operation(), OperationKind.LOAD_BACK, OperationState.DONE, Tier.HOST, Tier.DEVICE,
                        e.namespace(), e.blocks(), e.movedBytes(), null);
            case CopyDone e ->
                new Ending(e.operation(), OperationKind.COPY, OperationState.DONE, e.source(), e.target(),
                        e.namespace(), e.blocks(), e.movedBytes(), null);
            case DropDone e ->
                new Ending(e.operation(), OperationKind.DROP, OperationState.DONE, e.tier(), Tier.UNKNOWN,
                        e.namespace(), e.blocks(), 0, null);
            case WriteBackFailed e -> failed(e.operation(), OperationKind.WRITE_BACK, Tier.DEVICE, Tier.HOST, e.namespace(), e.blocks());
            case PrefetchFailed e -> failed(e.operation(), OperationKind.PREFETCH, Tier.UNKNOWN, Tier.HOST, e.namespace(), e.blocks());
            case BackUpFailed e -> failed(e.operation(), OperationKind.BACK_UP, Tier.HOST, Tier.STORE, e.namespace(), e.blocks());
            case LoadBackFailed e -> failed(e.operation(), OperationKind.LOAD_BACK, Tier.HOST, Tier.DEVICE, e.namespace(), e.blocks());
            case CopyFailed e -> failed(e.operation(), OperationKind.COPY, e.source(), e.target(), e.namespace(), e.blocks());
            case DropFailed e -> failed(e.operation(), OperationKind.DROP, e.tier(), Tier.UNKNOWN, e.namespace(), e.blocks());
            case OperationCancelled e -> new Ending(e.operation(), OperationKind.UNKNOWN, OperationState.CANCELLED, Tier.UNKNOWN, Tier.UNKNOWN,
                    e.namespace(), e.blocks(), 0, null);
        };
    }

    private static @Nullable Ending refused(CommandRefused e) {
        String operation = e.operation();
        return operation == null || e.reason() == OperationReason.STALE_COMMAND
                ? null
                : failed(operation, OperationKind.UNKNOWN, Tier.UNKNOWN, Tier.UNKNOWN, "", List.of());
    }

    private static Ending failed(String operation, OperationKind kind, Tier from, Tier to, String namespace, List<BlockResult> blocks) {
        return new Ending(operation, kind, OperationState.FAILED, from, to, namespace, blocks, 0, null);
    }

    /** Blocks that the store has by this ending: a cancelled operation does not name its target, so all that arrived count. */
    List<Block> stored() {
        boolean stores = state == OperationState.CANCELLED || (state == OperationState.DONE && to == Tier.STORE);
        return stores ? blocks.stream().filter(Ending::isThere).map(BlockResult::block).toList() : List.of();
    }

    /** Whether the block is where it was to go; gone, for a drop. */
    static boolean isDone(BlockResult result) {
        return isThere(result) || result.status() == BlockStatus.GONE;
    }

    /** Whether the block is at the destination. */
    static boolean isThere(BlockResult result) {
        return result.status() == BlockStatus.ARRIVED || result.status() == BlockStatus.ALREADY_THERE;
    }

    /** Blocks that are where they were to go, count. */
    int doneBlocks() {
        int done = 0;
        for (BlockResult result : blocks) {
            done += isDone(result) ? 1 : 0;
        }
        return done;
    }
}
