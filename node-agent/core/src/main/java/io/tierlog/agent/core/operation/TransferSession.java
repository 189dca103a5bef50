/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One transfer from its first page to its terminal event. {@link Operations} cuts it into units, waits until each is idle, and ends it once.
 *
 * <pre>
 *   WAITING_FOR_PAGES --> RUNNING --> ENDED
 *           |                 |          ^
 *           |                 +--> CANCELLING (units under way become idle)
 *           +----------------------------+
 * </pre>
 *
 * <p>For the core's one thread.
 */
public abstract sealed class TransferSession permits Fetch, WriteBack, BackUp, DeviceLoad, TierCopy, DiskDrop, StoreCheck {
    public enum State {
        WAITING_FOR_PAGES,
        RUNNING,
        CANCELLING,
        ENDED;

        boolean mayBecome(State next) {
            return switch (this) {
                case WAITING_FOR_PAGES -> next == RUNNING || next == ENDED;
                case RUNNING -> next == CANCELLING || next == ENDED;
                case CANCELLING -> next == ENDED;
                case ENDED -> false;
            };
        }
    }

    final AgentContext context;
    final String operation;
    final String cause;
    final String namespace;
    final List<BlockTransfer> items;

    private State state;
    private int next;
    private int underWay;
    private int joined;
    private int moved;
    private long startedMs;
    private @Nullable OperationReason useless;

    TransferSession(AgentContext context, String operation, String cause, String namespace, List<BlockTransfer> items, State first) {
        this.context = context;
        this.operation = operation;
        this.cause = cause;
        this.namespace = namespace;
        this.items = items;
        this.state = first;
        this.startedMs = context.nowMs();
    }

    // --- what it is for

    /** Name of the operation; the agent makes it for a load that an engine calls for. */
    public final String operation() {
        return operation;
    }

    /** Id of the command; empty when there is no command. */
    public final String cause() {
        return cause;
    }

    public final String namespace() {
        return namespace;
    }

    /** Its blocks, in the order of the command or call. */
    public final List<BlockTransfer> items() {
        return items;
    }

    // --- what each kind does

    public abstract OperationKind kind();

    /** Which port moves this block; a unit is of one port. */
    abstract TransferPort stream(BlockTransfer item);

    /** Hands a unit to its port. */
    abstract void send(long unit, List<BlockTransfer> batch);

    /** The bytes of one block have arrived and are good. */
    abstract void arrived(BlockTransfer item, UnitResult result);

    /** The bytes of one block do not move now and are of no use. */
    abstract void failed(BlockTransfer item, OperationReason why);

    /** The outcome of one block is unknown: no operation may get its pages before its stream is idle. */
    abstract void unknown(BlockTransfer item, Quarantine.Case held);

    /** The operation that brings a joined block has ended; {@code serves} when the block does. Most kinds join nothing. */
    void joinEnded(BlockTransfer item, boolean serves, OperationReason whyNot) {
        throw new IllegalStateException(kind() + " joins nothing: " + item.block);
    }

    /** It was cancelled while units may be under way: blocks that arrive all the same are in the result. */
    void cancelled(OperationReason why) {}

    /** No byte moves now: frees what it holds and reports its end. */
    abstract void end();

    // --- what all have in common

    public State state() {
        return state;
    }

    public void become(State following) {
        if (!state.mayBecome(following)) {
            throw new IllegalStateException(operation + " is " + state + " and may not become " + following);
        }
        state = following;
    }

    boolean cancelling() {
        return state == State.CANCELLING;
    }

    /** Begins to measure time; it has its pages. */
    void begin() {
        startedMs = context.nowMs();
        joined = (int) items.stream().filter(item -> item.state() == BlockTransfer.State.JOINED).count();
    }

    boolean hasPending() {
        skipSettled();
        return next < items.size();
    }

    private void skipSettled() {
        while (next < items.size() && items.get(next).state() != BlockTransfer.State.PENDING) {
            next++;
        }
    }

    /** The next block that has not begun to move; there is one. */
    BlockTransfer nextPending() {
        skipSettled();
        return items.get(next);
    }

    /** Whether the next block has what it needs to begin to move. Most kinds have it from the start. */
    boolean ready() {
        return true;
    }

    /** Reserves what a block needs to begin to move; false when none is free. */
    boolean takeFor(BlockTransfer item) {
        return true;
    }

    /** Largest number of blocks in its next unit, where units have at most {@code most}. */
    int unitBlocks(int most) {
        return most;
    }

    /** The next blocks that one port moves, at most {@code most}. */
    List<BlockTransfer> takeUnit(int most) {
        List<BlockTransfer> batch = new ArrayList<>(Math.min(most, items.size()));
        while (batch.size() < most && hasPending() && (batch.isEmpty() || stream(items.get(next)) == stream(batch.getFirst()))
                && takeFor(items.get(next))) {
            BlockTransfer item = items.get(next++);
            item.begin();
            batch.add(item);
        }
        underWay++;
        return batch;
    }

    /** A block moves once more: from another source, or on its second leg. */
    void again(BlockTransfer item) {
        item.again();
        next = Math.min(next, items.indexOf(item));
    }

    void unitIdle() {
        underWay--;
    }

    void unjoined() {
        joined--;
    }

    /** What still arrives has no use, for this reason. */
    void useless(OperationReason why) {
        useless = why;
    }

    boolean isUseless() {
        return useless != null;
    }

    final void landed(BlockTransfer item, UnitResult result) {
        OperationReason why = useless;
        if (why != null) {
            failed(item, why);
        } else if (result.status() != BlockStatus.FAILED) {
            arrived(item, result);
            moved += item.status() == BlockStatus.ARRIVED ? 1 : 0;
        } else {
            failed(item, result.reason());
        }
    }

    /** Fails the blocks that have not begun to move. */
    public void failPending(OperationReason why) {
        for (BlockTransfer item : items) {
            if (item.state() == BlockTransfer.State.PENDING) {
                item.failed(why);
            }
        }
    }

    /** True when no byte moves and none will. */
    boolean idle() {
        return underWay == 0 && joined == 0 && !hasPending();
    }

    long movedBytes() {
        return moved * context.registration().blockBytes();
    }

    long durationMicros() {
        return (context.nowMs() - startedMs) * 1_000;
    }

    boolean anyDone() {
        return items.stream().anyMatch(BlockTransfer::done);
    }

    /** Number of its blocks that are where they were wanted. */
    public int doneBlocks() {
        return (int) items.stream().filter(BlockTransfer::done).count();
    }

    /** Why nothing was done: the reason of the first block that failed. */
    OperationReason firstFailure() {
        return firstFailure(items);
    }

    static OperationReason firstFailure(List<BlockTransfer> items) {
        return items.stream().filter(item -> !item.done()).map(BlockTransfer::reason).findFirst().orElse(OperationReason.UNKNOWN);
    }

    /** Number of blocks done before the first that is not. */
    int doneRun() {
        int run = 0;
        while (run < items.size() && items.get(run).done()) {
            run++;
        }
        return run;
    }

    /** Appends its one terminal event: cancelled, done in part or whole, or failed. */
    final void reportEnd(List<BlockResult> results, boolean done, Function<Envelope, Event> doneEvent, Function<Envelope, Event> failedEvent) {
        Function<Envelope, Event> cancelledEvent =
                e -> new OperationCancelled(e, operation, OperationReason.CANCELLED, namespace, results);
        context.end(operation, cause, results.size(), cancelling() ? cancelledEvent : done ? doneEvent : failedEvent);
    }

    /** Tells the engine which of its pages hold blocks that have not come to the target. */
    public final void noticeFailed(PageOwner owner, OperationReason why) {
        noticeFailed(context, owner, items, why);
    }

    /** Tells the engine which of its pages hold blocks that are not done. */
    public static void noticeFailed(AgentContext context, PageOwner owner, List<BlockTransfer> items, OperationReason why) {
        List<Integer> pages = items.stream().filter(item -> !item.done()).map(BlockTransfer::devicePage).toList();
        if (!pages.isEmpty() && !owner.session().isEmpty()) {
            context.ports().engines().failed(owner.session(), owner.request(), owner.attempt(), pages, why);
        }
    }

    public List<BlockResult> resultsOnHost() {
        return items.stream().map(BlockTransfer::onHost).toList();
    }
}
