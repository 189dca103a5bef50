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
import io.tierlog.schemas.event.TerminalEvent;
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
 * @param awaited those of {@code results} that a request waited for, by index; empty when the event does not say
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
    /**
     * What a terminal event reports.
     *
     * @param issued what the operation does as it was issued, for an event that does not say; of kind UNKNOWN when that is not known either
     */
    public static OperationResult of(TerminalEvent e, Move issued) {
        return switch (e) {
            case WriteBackDone d -> done(d, Move.of(OperationKind.WRITE_BACK, Tier.DEVICE), d.movedBytes());
            case WriteBackFailed f -> failed(f, Move.of(OperationKind.WRITE_BACK, Tier.DEVICE), f.reason());
            case PrefetchDone d -> done(d, Move.of(OperationKind.PREFETCH, Tier.UNKNOWN), d.movedBytes()).withLease(d.lease());
            case PrefetchFailed f -> failed(f, Move.of(OperationKind.PREFETCH, Tier.UNKNOWN), f.reason());
            case PromoteDone d -> done(d, Move.of(OperationKind.PROMOTE, Tier.DISK), d.movedBytes()).withLease(d.lease()).withAwaited(d.awaited());
            case PromoteFailed f -> failed(f, Move.of(OperationKind.PROMOTE, Tier.DISK), f.reason());
            case BackUpDone d -> done(d, Move.of(OperationKind.BACK_UP, Tier.HOST), d.movedBytes());
            case BackUpFailed f -> failed(f, Move.of(OperationKind.BACK_UP, Tier.HOST), f.reason());
            case LoadBackDone d -> done(d, Move.of(OperationKind.LOAD_BACK, Tier.HOST), d.movedBytes());
            case LoadBackFailed f -> failed(f, Move.of(OperationKind.LOAD_BACK, Tier.HOST), f.reason());
            case DropDone d -> done(d, Move.of(OperationKind.DROP, d.tier()), 0);
            case DropFailed f -> failed(f, Move.of(OperationKind.DROP, f.tier()), f.reason());
            case CopyDone d -> done(d, new Move(OperationKind.COPY, d.source(), d.target()), d.movedBytes()).withDurationMicros(d.durationMicros());
            case CopyFailed f -> failed(f, new Move(OperationKind.COPY, f.source(), f.target()), f.reason());
            case OperationCancelled c -> of(c, issued, OperationState.CANCELLED, c.reason(), 0);
        };
    }

    /** An operation of which no block was done, and no event says more. */
    public static OperationResult ofNone(String operation, Move move, OperationState state, OperationReason reason, String namespace) {
        return new OperationResult(move, operation, state, reason, namespace, List.of(), 0, null, 0, List.of());
    }

    private static OperationResult done(TerminalEvent e, Move move, long movedBytes) {
        boolean whole = e.blocks().stream().allMatch(OperationResult::isDone);
        return of(e, move, OperationState.DONE, whole ? OperationReason.COMPLETED : OperationReason.PARTIAL, movedBytes);
    }

    private static OperationResult failed(TerminalEvent e, Move move, OperationReason reason) {
        return of(e, move, OperationState.FAILED, reason, 0);
    }

    private static OperationResult of(TerminalEvent e, Move move, OperationState state, OperationReason reason, long movedBytes) {
        return new OperationResult(move, e.operation(), state, reason, e.namespace(), e.blocks(), movedBytes, null, 0, List.of());
    }

    private OperationResult withLease(@Nullable String held) {
        return new OperationResult(move, operation, state, reason, namespace, results, movedBytes, held, durationMicros, awaited);
    }

    private OperationResult withAwaited(List<Integer> indexes) {
        return new OperationResult(move, operation, state, reason, namespace, results, movedBytes, lease, durationMicros, indexes);
    }

    private OperationResult withDurationMicros(long micros) {
        return new OperationResult(move, operation, state, reason, namespace, results, movedBytes, lease, micros, awaited);
    }

    public OperationKind kind() {
        return move.kind();
    }

    /** The operation as failed as a whole for that reason; {@code still} is what counts of its bytes all the same. */
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
