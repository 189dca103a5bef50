/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.call.EngineCalls;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TierCopy;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.CopyOrigin;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Begins copies to a colder tier, from the device, the host or the disk: pins the sources that still hold what the command names, and reserves
 * capacity on the disk for each target. It refuses block by block what has no capacity; it evicts nothing from the disk. For the core's one
 * thread.
 */
public final class CopyCommands implements Component {
    private final AgentContext context;
    private final Operations operations;
    private final Requests requests;
    private final EngineCalls engineCalls;

    public CopyCommands(AgentContext context, Operations operations, Requests requests, EngineCalls engineCalls) {
        this.context = context;
        this.operations = operations;
        this.requests = requests;
        this.engineCalls = engineCalls;
    }

    void run(CopyBlocks command) {
        Optional<String> unsupported = unsupported(command);
        Optional<String> busy = busy(command);
        if (unsupported.isPresent()) {
            refuse(command, OperationReason.UNSUPPORTED, unsupported.get());
        } else if (busy.isPresent()) {
            refuse(command, OperationReason.QUEUE_FULL, busy.get());
        } else {
            begin(command);
        }
    }

    private void refuse(CopyBlocks command, OperationReason why, String detail) {
        context.refuse(command.header(), command.operation(), why, detail);
    }

    /** Why this agent can never do that; empty when it can. */
    private Optional<String> unsupported(CopyBlocks command) {
        Tier from = command.source();
        Tier to = command.target();
        boolean known = from == Tier.DEVICE || from == Tier.HOST || (from == Tier.DISK && to == Tier.STORE);
        boolean disk = from == Tier.DISK || to == Tier.DISK;
        CopyOrigin origin = command.origin();
        if (!known || (to != Tier.DISK && to != Tier.STORE) || (disk && !context.disk().exists())) {
            return Optional.of("this agent cannot copy from " + from + " to " + to);
        }
        if (from != Tier.HOST && context.bounce().capacity() == 0) {
            return Optional.of("this agent has no bounce pages, which a copy from " + from + " needs");
        }
        boolean nameless = from == Tier.DEVICE && (origin == null || origin.request().isEmpty());
        return nameless ? Optional.of("a copy from the device names the request that sealed the blocks") : Optional.empty();
    }

    private Optional<String> busy(CopyBlocks command) {
        int most = context.limits().bounds().blocksPerCall();
        if (command.blocks().isEmpty() || command.blocks().size() > most) {
            return Optional.of("1 to " + most + " blocks in one command");
        }
        boolean disk = command.source() == Tier.DISK || command.target() == Tier.DISK;
        boolean takes = disk ? context.disk().isOpen() : context.phase() == AgentPhase.ON_LOG;
        return takes && !operations.full() && !context.ports().events().congested()
                ? Optional.empty()
                : Optional.of("the agent is at its limit of work, or has not reported its disk yet");
    }

    private void begin(CopyBlocks command) {
        String operation = command.operation();
        Optional<LiveAttempt> attempt = attempt(command);
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        List<PagedBlock> sources = new ArrayList<>();
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = command.source() == Tier.DEVICE
                    ? new BlockTransfer(block.block(), block.page(), block.generation())
                    : new BlockTransfer(block.block());
            place(command, block, item, attempt);
            if (item.state() == BlockTransfer.State.PENDING) {
                pinSource(command, item).ifPresent(sources::add);
            }
            items.add(item);
        }
        attempt.ifPresent(of -> takeFromAttempt(of, operation));
        context.journal().started(operation);
        if (items.stream().anyMatch(item -> item.state() == BlockTransfer.State.PENDING)) {
            context.append(command.header().command(),
                    e -> new OperationStarted(e, operation, OperationKind.COPY, command.namespace(), sources));
        }
        PageOwner owner = attempt.map(LiveAttempt::owner).orElseGet(() -> new PageOwner("", "", 0));
        operations.add(new TierCopy(context, command, owner, items));
    }

    private Optional<LiveAttempt> attempt(CopyBlocks command) {
        CopyOrigin origin = command.origin();
        return command.source() == Tier.DEVICE && origin != null
                ? requests.find(origin.request(), origin.attempt())
                : Optional.empty();
    }

    // --- blocks

    /** Finds the source of a block and reserves its target, or fails the block with a reason. */
    private void place(CopyBlocks command, PagedBlock block, BlockTransfer item, Optional<LiveAttempt> attempt) {
        Optional<OperationReason> whyNot = switch (command.source()) {
            case DEVICE -> onDevice(command, block, attempt);
            case DISK -> onDisk(command, block, item);
            case HOST, STORE, UNKNOWN -> onHost(command, block, item);
        };
        if (command.target() == Tier.DISK) {
            toDisk(command, block, item, whyNot);
        } else {
            whyNot.ifPresent(item::failed);
        }
    }

    private void toDisk(CopyBlocks command, PagedBlock block, BlockTransfer item, Optional<OperationReason> whyNot) {
        Optional<DiskPlacement> there = context.disk().index().known(command.namespace(), block.block().key());
        if (there.isPresent() && there.get().state() == DiskState.SERVING) {
            item.on(there.get());
            item.alreadyThere(there.get().crc32c());
        } else if (there.isPresent()) {
            // A copy that comes is another operation's, and one that leaves has bytes on the disk until it has left.
            item.failed(OperationReason.NOT_SERVING);
        } else if (whyNot.isPresent()) {
            item.failed(whyNot.get());
        } else if (parentLeaves(command.namespace(), block)) {
            // Reported afterwards, its drop would leave a block here that extends it.
            item.failed(OperationReason.NOT_SERVING);
        } else if (context.disk().index().isFull()) {
            item.failed(OperationReason.NO_ROOM);
        } else {
            item.owns(context.disk().index().reserve(command.namespace(), block.block()));
        }
    }

    private boolean parentLeaves(String namespace, PagedBlock block) {
        return context.disk().index().known(namespace, block.block().parent()).filter(copy -> copy.state() == DiskState.LEAVING).isPresent();
    }

    /** Pages of the device are pinned at once, also those whose block the target has: the command has come for them. */
    private Optional<OperationReason> onDevice(CopyBlocks command, PagedBlock block, Optional<LiveAttempt> attempt) {
        if (attempt.isEmpty()) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        Optional<OperationReason> whyNot = engineCalls.whyNotOnDevice(attempt.get(), command.namespace(), block);
        if (whyNot.isEmpty()) {
            context.device().pin(command.operation(), attempt.get().owner(), block.page());
        }
        return whyNot;
    }

    private Optional<OperationReason> onHost(CopyBlocks command, PagedBlock block, BlockTransfer item) {
        Optional<Page> page = context.pages().serving(command.namespace(), block.block().key());
        if (page.isEmpty()) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        boolean same = page.get().number() == block.page() && page.get().generation() == block.generation()
                && page.get().block().equals(block.block());
        if (same) {
            item.on(page.get());
        }
        return same ? Optional.empty() : Optional.of(OperationReason.STALE_GENERATION);
    }

    private Optional<OperationReason> onDisk(CopyBlocks command, PagedBlock block, BlockTransfer item) {
        Optional<DiskPlacement> copy = context.disk().serving(command.namespace(), block.block().key());
        if (copy.isEmpty()) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        boolean same = copy.get().generation() == block.generation() && copy.get().block().equals(block.block());
        if (same) {
            item.on(copy.get());
        }
        return same ? Optional.empty() : Optional.of(OperationReason.STALE_GENERATION);
    }

    /** The operation's name keeps the source; answers with it as the log names it. Pages of the device are the engine's, and are not named. */
    private Optional<PagedBlock> pinSource(CopyBlocks command, BlockTransfer item) {
        return switch (command.source()) {
            case DEVICE -> Optional.empty();
            case DISK -> {
                context.disk().index().pin(command.operation(), item.requirePlacement());
                yield Optional.of(item.requirePlacement().paged());
            }
            case HOST, STORE, UNKNOWN -> {
                context.pages().pin(command.operation(), item.requirePage());
                yield Optional.of(item.requirePage().paged());
            }
        };
    }

    /**
     * The operation's name keeps the pages of a finished attempt from here on. What the command does not name stays pinned for the attempt: a
     * write-back or a release for the rest follows, or the time of the pins ends.
     */
    private void takeFromAttempt(LiveAttempt attempt, String operation) {
        if (attempt.state() == LiveAttempt.State.FINISHED) {
            context.noticeReleased(context.device().unpin(attempt.finishPin(), context.device().pinnedBy(operation)));
            if (context.device().pinnedBy(attempt.finishPin()).isEmpty()) {
                requests.releaseFinished(attempt);
            }
        }
    }

    /** The device pages of the engine are gone: blocks that have left them continue. */
    @Override
    public void sessionGone(String session) {
        for (TransferSession one : operations.all()) {
            if (one instanceof TierCopy copy && copy.owner().session().equals(session)) {
                operations.engineGone(copy);
            }
        }
    }
}
