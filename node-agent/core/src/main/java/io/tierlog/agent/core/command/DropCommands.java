/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.DiskDrop;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Frees host pages and placements on the disk, each only if it holds what the command names, has no pin, and no block there extends it. On the
 * host it is one step, since no byte moves; see {@link DiskDrop} for the disk. For the core's one thread.
 */
public final class DropCommands {
    private final AgentContext context;
    private final Operations operations;

    public DropCommands(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    void run(DropBlocks command) {
        String operation = command.operation();
        String cause = command.header().command();
        boolean disk = command.tier() == Tier.DISK && context.disk().exists();
        if ((command.tier() != Tier.HOST && !disk) || command.blocks().size() > context.limits().bounds().keysPerRequest()) {
            context.refuse(command.header(), operation, OperationReason.UNSUPPORTED, "this agent cannot drop that from " + command.tier());
            return;
        }
        if (disk) {
            fromDisk(command);
            return;
        }
        context.journal().started(operation);
        context.append(cause, e -> new OperationStarted(e, operation, OperationKind.DROP, command.namespace(), command.blocks()));
        List<BlockResult> results = new ArrayList<>(command.blocks().size());
        OperationReason first = OperationReason.NOT_SERVING;
        boolean anyGone = false;
        for (PagedBlock block : command.blocks()) {
            Optional<OperationReason> kept = drop(command, block);
            if (kept.isPresent() && (results.isEmpty() || first == OperationReason.COMPLETED)) {
                first = kept.get();
            }
            anyGone |= kept.isEmpty();
            results.add(new BlockResult(
                    block.block(),
                    kept.isEmpty() ? BlockStatus.GONE : BlockStatus.FAILED,
                    kept.orElse(OperationReason.COMPLETED),
                    block.page(),
                    block.generation(),
                    0,
                    Tier.UNKNOWN));
        }
        OperationReason why = first;
        if (anyGone) {
            context.end(operation, cause, results.size(), e -> new DropDone(e, operation, Tier.HOST, command.namespace(), results));
        } else {
            context.end(operation, cause, results.size(), e -> new DropFailed(e, operation, Tier.HOST, why, command.namespace(), results));
        }
    }

    /** Empty when the block is gone, now or already; else why it stays. */
    private Optional<OperationReason> drop(DropBlocks command, PagedBlock block) {
        Optional<Page> found = context.pages().serving(command.namespace(), block.block().key());
        if (found.isEmpty()) {
            boolean coming = context.pages().coming(command.namespace(), block.block().key()).isPresent();
            return coming ? Optional.of(OperationReason.NOT_SERVING) : Optional.empty();
        }
        Page page = found.get();
        if (page.number() != block.page() || page.generation() != block.generation()) {
            return Optional.of(OperationReason.STALE_GENERATION);
        }
        if (!page.pins().isEmpty() || !context.pages().isLeaf(page)) {
            return Optional.of(OperationReason.PINNED);
        }
        if (!holdsElsewhere(command, block)) {
            return Optional.of(OperationReason.LAST_COPY);
        }
        context.pages().leave(page);
        return Optional.empty();
    }

    /** A placement on this node that the command relies on must serve here; the controller has leased the one in the store. */
    private boolean holdsElsewhere(DropBlocks command, PagedBlock block) {
        Bytes key = block.block().key();
        return switch (command.reliesOn()) {
            case UNKNOWN, STORE -> true;
            // What is dropped cannot be what is relied on.
            case HOST -> command.tier() != Tier.HOST && context.pages().serving(command.namespace(), key).isPresent();
            case DISK -> command.tier() != Tier.DISK && context.disk().serving(command.namespace(), key).isPresent();
            // The engine may drop a device page at any time.
            case DEVICE -> false;
        };
    }

    // --- from the disk

    private void fromDisk(DropBlocks command) {
        if (!context.disk().isOpen() || operations.full() || context.ports().events().congested()) {
            context.refuse(command.header(), command.operation(), OperationReason.QUEUE_FULL,
                    "the agent is at its limit of work, or has not reported its disk yet");
            return;
        }
        context.journal().started(command.operation());
        context.append(command.header().command(), e -> new OperationStarted(
                e, command.operation(), OperationKind.DROP, command.namespace(), command.blocks()));
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        Map<Bytes, Integer> extending = new LinkedHashMap<>(); // how many copies that this command takes extend a block
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = new BlockTransfer(block.block(), -1, block.generation());
            takeFromDisk(command, block, item, extending);
            items.add(item);
            if (item.ownsPlacement()) {
                extending.merge(block.block().parent(), 1, Integer::sum);
            }
        }
        operations.add(new DiskDrop(context, command, items));
    }

    /** No lookup finds the placement from here on; or it stays with a reason, or there is none. */
    private void takeFromDisk(DropBlocks command, PagedBlock block, BlockTransfer item, Map<Bytes, Integer> extending) {
        Optional<DiskPlacement> found = context.disk().index().known(command.namespace(), block.block().key());
        if (found.isEmpty() || found.get().removalReported()) {
            item.gone();
            return;
        }
        DiskPlacement copy = found.get();
        if (copy.state() != DiskState.SERVING) { // it is being written, or another drop takes it and reports it
            item.failed(OperationReason.NOT_SERVING);
        } else if (copy.generation() != block.generation()) {
            item.failed(OperationReason.STALE_GENERATION);
        } else if (!copy.pins().isEmpty() || context.disk().index().children(copy) > extending.getOrDefault(block.block().key(), 0)) {
            item.failed(OperationReason.PINNED);
        } else if (!holdsElsewhere(command, block)) {
            item.failed(OperationReason.LAST_COPY);
        } else {
            item.owns(copy);
            context.disk().leave(copy);
        }
    }
}
