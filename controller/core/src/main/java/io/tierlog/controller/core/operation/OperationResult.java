/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.operation;

import io.tierlog.controller.core.state.Move;
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
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the terminal events of operations have in common.
 *
 * @param move what the operation did; of kind UNKNOWN when the event does not say
 * @param operation its id
 * @param state how it ended
 * @param reason why
 * @param namespace namespace of the blocks; empty text when the event does not say
 * @param results what became of each block; empty when the event does not say
 * @param movedBytes bytes moved
 * @param lease lease that the agent holds now; null when none
 * @param durationMicros time from its start until its bytes were at rest, in microseconds of the agent's clock; 0 when it does not say
 * @param awaited those of {@code results} that somebody waited for, by index; empty when the event does not say
 */
public record OperationResult(
        Move move,
        String operation,
        OperationState state,
        OperationReason reason,
        String namespace,
        List<BlockResult> results,
        long movedBytes,
        @Nullable String lease,
        long durationMicros,
        List<Integer> awaited) {
    public static OperationResult of(WriteBackDone e) {
        return done(Move.of(OperationKind.WRITE_BACK, Tier.DEVICE), e.operation(), e.namespace(), e.blocks(), e.movedBytes(), null);
    }

    public static OperationResult of(WriteBackFailed e) {
        return failed(Move.of(OperationKind.WRITE_BACK, Tier.DEVICE), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(PrefetchDone e) {
        return done(Move.of(OperationKind.PREFETCH, Tier.UNKNOWN), e.operation(), e.namespace(), e.blocks(), e.movedBytes(), e.lease());
    }

    public static OperationResult of(PrefetchFailed e) {
        return failed(Move.of(OperationKind.PREFETCH, Tier.UNKNOWN), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(PromoteDone e) {
        Move move = Move.of(OperationKind.PROMOTE, Tier.DISK);
        OperationResult done = done(move, e.operation(), e.namespace(), e.blocks(), e.movedBytes(), e.lease());
        return new OperationResult(move, e.operation(), done.state, done.reason, e.namespace(), e.blocks(), e.movedBytes(), e.lease(), 0, e.awaited());
    }

    public static OperationResult of(PromoteFailed e) {
        return failed(Move.of(OperationKind.PROMOTE, Tier.DISK), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(BackUpDone e) {
        return done(Move.of(OperationKind.BACK_UP, Tier.HOST), e.operation(), e.namespace(), e.blocks(), e.movedBytes(), null);
    }

    public static OperationResult of(BackUpFailed e) {
        return failed(Move.of(OperationKind.BACK_UP, Tier.HOST), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(LoadBackDone e) {
        return done(Move.of(OperationKind.LOAD_BACK, Tier.HOST), e.operation(), e.namespace(), e.blocks(), e.movedBytes(), null);
    }

    public static OperationResult of(LoadBackFailed e) {
        return failed(Move.of(OperationKind.LOAD_BACK, Tier.HOST), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(DropDone e) {
        return done(Move.of(OperationKind.DROP, e.tier()), e.operation(), e.namespace(), e.blocks(), 0, null);
    }

    public static OperationResult of(DropFailed e) {
        return failed(Move.of(OperationKind.DROP, e.tier()), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    public static OperationResult of(CopyDone e) {
        Move move = new Move(OperationKind.COPY, e.source(), e.target());
        OperationResult done = done(move, e.operation(), e.namespace(), e.blocks(), e.movedBytes(), null);
        return new OperationResult(move, e.operation(), done.state, done.reason, e.namespace(), e.blocks(), e.movedBytes(), null,
                e.durationMicros(), List.of());
    }

    public static OperationResult of(CopyFailed e) {
        return failed(new Move(OperationKind.COPY, e.source(), e.target()), e.operation(), e.reason(), e.namespace(), e.blocks());
    }

    /** The event does not say what the operation was. */
    public static OperationResult of(OperationCancelled e, Move move) {
        return new OperationResult(move, e.operation(), OperationState.CANCELLED, e.reason(), e.namespace(), e.blocks(), 0, null, 0, List.of());
    }

    /** Nothing was begun. */
    public static OperationResult of(CommandRefused e, String operation, Move move) {
        return failed(move, operation, e.reason(), "", List.of());
    }

    private static OperationResult done(Move move, String operation, String namespace, List<BlockResult> results, long movedBytes,
            @Nullable String lease) {
        boolean whole = true;
        for (BlockResult result : results) {
            whole &= isDone(result);
        }
        OperationReason reason = whole ? OperationReason.COMPLETED : OperationReason.PARTIAL;
        return new OperationResult(move, operation, OperationState.DONE, reason, namespace, results, movedBytes, lease, 0, List.of());
    }

    private static OperationResult failed(Move move, String operation, OperationReason reason, String namespace,
            List<BlockResult> results) {
        return new OperationResult(move, operation, OperationState.FAILED, reason, namespace, results, 0, null, 0, List.of());
    }

    public OperationKind kind() {
        return move.kind();
    }

    /** The same operation failed as a whole for that reason; {@code results} is what still counts of its bytes. */
    public OperationResult failedFor(OperationReason why, List<BlockResult> still) {
        return new OperationResult(move, operation, OperationState.FAILED, why, namespace, still, movedBytes, lease, durationMicros, awaited);
    }

    /** Whether the block is where it was to go; gone, for a drop. */
    public static boolean isDone(BlockResult result) {
        return result.status() == BlockStatus.ARRIVED
                || result.status() == BlockStatus.ALREADY_THERE
                || result.status() == BlockStatus.GONE;
    }

    /** Blocks that are where they were to go, count. */
    public int doneBlocks() {
        int done = 0;
        for (BlockResult result : results) {
            done += isDone(result) ? 1 : 0;
        }
        return done;
    }
}
