/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.device.PageOwner;
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
 * Begins write-backs. One that finds no room waits in line, its device pages pinned, until pages come free or its time is up: others may be
 * holding room only until their backup has ended.
 *
 * <p>For the core's one thread.
 */
final class WriteBacks {
    private final Desk desk;
    private final Operations operations;
    private final Requests requests;
    private final DoorCalls door;
    private final HostFill fill;
    private final Deque<WriteBack> line = new ArrayDeque<>();
    private final Deadlines<WriteBack> ends = new Deadlines<>();
    private long roomSeen = -1;

    WriteBacks(Desk desk, Operations operations, Requests requests, DoorCalls door, HostFill fill) {
        this.desk = desk;
        this.operations = operations;
        this.requests = requests;
        this.door = door;
        this.fill = fill;
    }

    long nextDeadlineMs() {
        return ends.nextMs();
    }

    void run(WriteBackBlocks command) {
        Optional<LiveAttempt> attempt = requests.find(command.request(), command.attempt());
        List<Item> items = new ArrayList<>(command.blocks().size());
        List<Integer> usable = new ArrayList<>(command.blocks().size());
        for (PagedBlock block : command.blocks()) {
            Item item = new Item(block.block(), block.page(), block.generation());
            Optional<OperationReason> whyNot = attempt.isEmpty()
                    ? Optional.of(OperationReason.NOT_SERVING)
                    : door.whyNotOnDevice(attempt.get(), command.namespace(), block);
            whyNot.ifPresentOrElse(item::failed, () -> usable.add(block.page()));
            items.add(item);
        }
        PageOwner owner = attempt.map(LiveAttempt::owner).orElseGet(() -> new PageOwner("", command.request(), command.attempt()));
        usable.forEach(page -> desk.device.pin(command.operation(), owner, page));
        attempt.ifPresent(of -> movePins(of, command, usable));

        Optional<String> full = whyNotNow(command);
        if (full.isPresent()) {
            tellFailed(desk, owner, items, OperationReason.QUEUE_FULL);
            desk.released(desk.device.unpinAll(command.operation()));
            desk.refuse(command.header(), command.operation(), OperationReason.QUEUE_FULL, full.get());
            WriteBack never = new WriteBack(desk, fill, owner, command, items);
            never.failPending(OperationReason.QUEUE_FULL);
            operations.remove(never);
            return;
        }
        WriteBack session = new WriteBack(desk, fill, owner, command, items);
        desk.journal.started(command.operation());
        operations.add(session);
        if (!line.isEmpty() || !begin(session)) {
            defer(session);
        }
    }

    /** From here on the operation's name keeps the pages; what it does not name is free, unless more commands may follow. */
    private void movePins(LiveAttempt attempt, WriteBackBlocks command, List<Integer> usable) {
        if (attempt.state() != LiveAttempt.State.FINISHED) {
            return;
        }
        desk.released(desk.device.unpin(attempt.finishPin(), usable));
        if (command.blocks().size() < AgentLimits.FULL_BATCH || desk.device.pinnedBy(attempt.finishPin()).isEmpty()) {
            requests.releaseFinished(attempt);
        }
    }

    private Optional<String> whyNotNow(WriteBackBlocks command) {
        if (command.blocks().isEmpty() || command.blocks().size() > desk.limits.bounds().keysPerRequest()) {
            return Optional.of("1 to " + desk.limits.bounds().keysPerRequest() + " blocks in one command");
        }
        boolean busy = desk.phase() != AgentPhase.ON_LOG || operations.full() || desk.ports.events().congested();
        return busy ? Optional.of("the agent has all the work it can take") : Optional.empty();
    }

    // --- room

    private boolean begin(WriteBack session) {
        Optional<List<PagedBlock>> pages = fill.reserve(session.operation, session.cause, session.namespace, session.items);
        if (pages.isEmpty()) {
            return false;
        }
        session.become(Session.State.RUNNING);
        if (session.items.stream().anyMatch(item -> item.state() != Item.State.SETTLED)) {
            desk.tell(session.cause, e -> new OperationStarted(
                    e, session.operation, OperationKind.WRITE_BACK, session.namespace, pages.get()));
        }
        operations.begin(session);
        return true;
    }

    private void defer(WriteBack session) {
        long missing = session.items.stream().filter(item -> item.state() == Item.State.PENDING).count();
        if (missing > desk.pages.capacity()) {
            refuse(session, OperationReason.NO_ROOM, missing + " blocks never fit into " + desk.pages.capacity() + " pages");
            return;
        }
        desk.counters.increment(AgentCounter.WRITE_BACKS_DEFERRED);
        line.add(session);
        ends.set(session, desk.nowMs() + desk.limits.times().writeBackWaitMs());
    }

    /** Room may have come free: those in line try in turn. */
    void retry() {
        if (roomSeen == desk.pages.roomChanges()) {
            return;
        }
        while (!line.isEmpty() && begin(line.getFirst())) {
            ends.clear(line.removeFirst());
        }
        roomSeen = desk.pages.roomChanges(); // read afterwards: trying pins and unpins, which is no new room
    }

    /** Those in line whose time is up are refused. */
    void expire() {
        for (Optional<WriteBack> due = ends.pollDue(desk.nowMs()); due.isPresent(); due = ends.pollDue(desk.nowMs())) {
            leaveLine(due.get());
            refuse(due.get(), OperationReason.NO_ROOM, "no room came free in " + desk.limits.times().writeBackWaitMs() + " ms");
        }
    }

    /** Nobody in line will find room any more. */
    void refuseAll(OperationReason why, String detail) {
        for (WriteBack session : List.copyOf(line)) {
            leaveLine(session);
            refuse(session, why, detail);
        }
    }

    /** What the engine held on the device is gone with it; copies under way come to rest, for nobody. */
    void engineGone(String session) {
        for (Session one : operations.all()) {
            if (one instanceof WriteBack writeBack && writeBack.owner().session().equals(session)) {
                if (line.contains(writeBack)) {
                    leaveLine(writeBack);
                    refuse(writeBack, OperationReason.ENGINE_GONE, "the engine has left");
                } else {
                    operations.abandon(writeBack, OperationReason.ENGINE_GONE);
                }
            }
        }
    }

    /** One in line is cancelled: it never began to move. */
    void cancelInLine(WriteBack session) {
        leaveLine(session);
        session.failPending(OperationReason.CANCELLED);
        operations.remove(session);
        tellFailed(desk, session.owner(), session.items, OperationReason.CANCELLED);
        desk.released(desk.device.unpinAll(session.operation));
        var results = session.resultsOnHost();
        desk.end(session.operation, session.cause, results.size(), e -> new OperationCancelled(
                e, session.operation, OperationReason.CANCELLED, session.namespace, results));
    }

    /** The engine hears which of its pages hold blocks that have not come to the host. */
    static void tellFailed(Desk desk, PageOwner owner, List<Item> items, OperationReason why) {
        List<Integer> pages = items.stream().filter(item -> !item.done()).map(item -> item.devicePage).toList();
        if (!pages.isEmpty() && !owner.session().isEmpty()) {
            desk.ports.engines().failed(owner.session(), owner.request(), owner.attempt(), pages, why);
        }
    }

    private void leaveLine(WriteBack session) {
        line.remove(session);
        ends.clear(session);
        roomSeen = -1; // the one behind it may need less
    }

    private void refuse(WriteBack session, OperationReason why, String detail) {
        session.failPending(why);
        tellFailed(desk, session.owner(), session.items, why);
        operations.remove(session);
        desk.released(desk.device.unpinAll(session.operation));
        desk.refuse(session.header(), session.operation, why, detail);
    }
}
