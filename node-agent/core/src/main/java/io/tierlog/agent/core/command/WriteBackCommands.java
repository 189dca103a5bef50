/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.call.EngineCalls;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.HostFill;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.operation.WriteBack;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Begins write-backs. One that finds too few pages waits in a queue with its device pages pinned, until pages come free or its time is over: other
 * operations may hold pages only until their backup has ended.
 *
 * <p>For the core's one thread.
 */
public final class WriteBackCommands implements Component {
    private final AgentContext context;
    private final Operations operations;
    private final Requests requests;
    private final EngineCalls engineCalls;
    private final HostFill fill;
    private final Deque<WriteBack> queue = new ArrayDeque<>();
    private final Deadlines<WriteBack> ends = new Deadlines<>();
    private long freeSeen = -1;

    public WriteBackCommands(AgentContext context, Operations operations, Requests requests, EngineCalls engineCalls, HostFill fill) {
        this.context = context;
        this.operations = operations;
        this.requests = requests;
        this.engineCalls = engineCalls;
        this.fill = fill;
    }

    @Override
    public long nextDeadlineMs() {
        return ends.nextMs();
    }

    void run(WriteBackBlocks command) {
        Optional<LiveAttempt> attempt = requests.find(command.request(), command.attempt());
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        List<Integer> usable = new ArrayList<>(command.blocks().size());
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = new BlockTransfer(block.block(), block.page(), block.generation());
            Optional<OperationReason> whyNot = attempt.isEmpty()
                    ? Optional.of(OperationReason.NOT_SERVING)
                    : engineCalls.whyNotOnDevice(attempt.get(), command.namespace(), block);
            whyNot.ifPresentOrElse(item::failed, () -> usable.add(block.page()));
            items.add(item);
        }
        PageOwner owner = attempt.map(LiveAttempt::owner).orElseGet(() -> new PageOwner("", command.request(), command.attempt()));
        usable.forEach(page -> context.device().pin(command.operation(), owner, page));
        attempt.ifPresent(of -> movePins(of, command, usable));

        Optional<String> full = whyNotNow(command);
        if (full.isPresent()) {
            TransferSession.noticeFailed(context, owner, items, OperationReason.QUEUE_FULL);
            context.noticeReleased(context.device().unpinAll(command.operation()));
            context.refuse(command.header(), command.operation(), OperationReason.QUEUE_FULL, full.get());
            WriteBack never = new WriteBack(context, fill, owner, command, items);
            never.failPending(OperationReason.QUEUE_FULL);
            operations.remove(never);
            return;
        }
        WriteBack session = new WriteBack(context, fill, owner, command, items);
        context.journal().started(command.operation());
        operations.add(session);
        if (!queue.isEmpty() || !begin(session)) {
            defer(session);
        }
    }

    /** From here on the operation's name keeps the pages; what it does not name is free, unless more commands may follow. */
    private void movePins(LiveAttempt attempt, WriteBackBlocks command, List<Integer> usable) {
        if (attempt.state() != LiveAttempt.State.FINISHED) {
            return;
        }
        context.noticeReleased(context.device().unpin(attempt.finishPin(), usable));
        if (command.blocks().size() < AgentLimits.FULL_BATCH || context.device().pinnedBy(attempt.finishPin()).isEmpty()) {
            requests.releaseFinished(attempt);
        }
    }

    private Optional<String> whyNotNow(WriteBackBlocks command) {
        if (command.blocks().isEmpty() || command.blocks().size() > context.limits().bounds().blocksPerCall()) {
            return Optional.of("1 to " + context.limits().bounds().blocksPerCall() + " blocks in one command");
        }
        boolean busy = context.phase() != AgentPhase.ON_LOG || operations.full() || context.ports().events().congested();
        return busy ? Optional.of("the agent is at its limit of work") : Optional.empty();
    }

    // --- capacity

    private boolean begin(WriteBack session) {
        Optional<List<PagedBlock>> pages = fill.reserve(session.operation(), session.cause(), session.namespace(), session.items());
        if (pages.isEmpty()) {
            return false;
        }
        session.become(TransferSession.State.RUNNING);
        if (session.items().stream().anyMatch(item -> item.state() != BlockTransfer.State.SETTLED)) {
            context.append(session.cause(), e -> new OperationStarted(
                    e, session.operation(), OperationKind.WRITE_BACK, session.namespace(), pages.get()));
        }
        operations.begin(session);
        return true;
    }

    private void defer(WriteBack session) {
        long missing = session.items().stream().filter(item -> item.state() == BlockTransfer.State.PENDING).count();
        if (missing > context.pages().capacity()) {
            refuse(session, OperationReason.NO_ROOM, missing + " blocks never fit into " + context.pages().capacity() + " pages");
            return;
        }
        context.counters().increment(AgentCounter.WRITE_BACKS_DEFERRED);
        queue.add(session);
        ends.set(session, context.nowMs() + context.limits().times().writeBackWaitMs());
    }

    /** Pages may have come free: the queue tries in turn. */
    public void retry() {
        if (freeSeen == context.pages().freeChanges()) {
            return;
        }
        while (!queue.isEmpty() && begin(queue.getFirst())) {
            ends.clear(queue.removeFirst());
        }
        freeSeen = context.pages().freeChanges(); // read afterwards: a try pins and unpins, which frees no page
    }

    /** Those in line whose time is up are refused. */
    @Override
    public void expire() {
        for (Optional<WriteBack> due = ends.pollDue(context.nowMs()); due.isPresent(); due = ends.pollDue(context.nowMs())) {
            leaveQueue(due.get());
            refuse(due.get(), OperationReason.NO_ROOM, "no host pages came free in " + context.limits().times().writeBackWaitMs() + " ms");
        }
    }

    /** Refuses all in the queue: no page will come free for them. */
    public void refuseAll(OperationReason why, String detail) {
        for (WriteBack session : List.copyOf(queue)) {
            leaveQueue(session);
            refuse(session, why, detail);
        }
    }

    /** The device pages of the engine are gone: write-backs in the queue are refused, those under way are abandoned. */
    @Override
    public void sessionGone(String session) {
        for (TransferSession one : operations.all()) {
            if (one instanceof WriteBack writeBack && writeBack.owner().session().equals(session)) {
                if (queue.contains(writeBack)) {
                    leaveQueue(writeBack);
                    refuse(writeBack, OperationReason.ENGINE_GONE, "the engine has left");
                } else {
                    operations.abandon(writeBack, OperationReason.ENGINE_GONE);
                }
            }
        }
    }

    /** One in line is cancelled: it never began to move. */
    void cancelQueued(WriteBack session) {
        leaveQueue(session);
        session.failPending(OperationReason.CANCELLED);
        operations.remove(session);
        session.noticeFailed(session.owner(), OperationReason.CANCELLED);
        context.noticeReleased(context.device().unpinAll(session.operation()));
        var results = session.resultsOnHost();
        context.end(session.operation(), session.cause(), results.size(), e -> new OperationCancelled(
                e, session.operation(), OperationReason.CANCELLED, session.namespace(), results));
    }

    private void leaveQueue(WriteBack session) {
        queue.remove(session);
        ends.clear(session);
        freeSeen = -1; // the one behind it may need less
    }

    private void refuse(WriteBack session, OperationReason why, String detail) {
        session.failPending(why);
        session.noticeFailed(session.owner(), why);
        operations.remove(session);
        context.noticeReleased(context.device().unpinAll(session.operation()));
        context.refuse(session.header(), session.operation(), why, detail);
    }
}
