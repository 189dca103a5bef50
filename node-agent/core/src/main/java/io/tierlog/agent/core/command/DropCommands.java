/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.DiskDrop;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.StoreCheck;
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
 * Frees host pages and placements on the disk, each only if it holds what the command names, has no pin, no block there extends it, and the
 * placement that the command relies on is there. For the store that takes a probe ({@link StoreCheck}), so all other checks are made when its answer
 * has come: meanwhile the block may be pinned, read or written again. On the host a drop is one step, since no byte moves; see {@link DiskDrop} for
 * the disk. For the core's one thread.
 */
public final class DropCommands {
    private final AgentContext context;
    private final Operations operations;

    public DropCommands(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    void run(DropBlocks command) {
        boolean disk = command.tier() == Tier.DISK && context.disk().exists();
        boolean probes = command.reliesOn() == Tier.STORE;
        if ((command.tier() != Tier.HOST && !disk) || command.blocks().size() > context.limits().bounds().blocksPerCall()) {
            context.refuse(command.header(), command.operation(), OperationReason.UNSUPPORTED, "this agent cannot drop that from " + command.tier());
            return;
        }
        if ((disk && !context.disk().isOpen()) || ((disk || probes) && (operations.full() || context.ports().events().congested()))) {
            context.refuse(command.header(), command.operation(), OperationReason.QUEUE_FULL,
                    "the agent is at its limit of work, or has not reported its disk yet");
            return;
        }
        context.journal().started(command.operation());
        context.append(command.header().command(), e -> new OperationStarted(
                e, command.operation(), OperationKind.DROP, command.namespace(), command.blocks()));
        if (probes) {
            operations.add(new StoreCheck(context, command, lacking -> drop(command, lacking)));
        } else {
            drop(command, Map.of());
        }
    }

    /** Drops what may go now; {@code lacking} names the blocks for which the store cannot be relied on, and why. */
    private void drop(DropBlocks command, Map<Bytes, OperationReason> lacking) {
        if (command.tier() == Tier.DISK) {
            fromDisk(command, lacking);
        } else {
            fromHost(command, lacking);
        }
    }

    // --- from the host

    private void fromHost(DropBlocks command, Map<Bytes, OperationReason> lacking) {
        String operation = command.operation();
        String cause = command.header().command();
        List<BlockResult> results = new ArrayList<>(command.blocks().size());
        OperationReason first = OperationReason.NOT_SERVING;
        boolean anyGone = false;
        for (PagedBlock block : command.blocks()) {
            BlockResult result = drop(command, block, lacking);
            boolean gone = result.status() == BlockStatus.GONE;
            if (!gone && (results.isEmpty() || first == OperationReason.COMPLETED)) {
                first = result.reason();
            }
            anyGone |= gone;
            results.add(result);
        }
        OperationReason why = first;
        if (anyGone) {
            context.end(operation, cause, results.size(), e -> new DropDone(e, operation, Tier.HOST, command.namespace(), results));
        } else {
            context.end(operation, cause, results.size(), e -> new DropFailed(e, operation, Tier.HOST, why, command.namespace(), results));
        }
    }

    private BlockResult drop(DropBlocks command, PagedBlock block, Map<Bytes, OperationReason> lacking) {
        Optional<Page> found = context.pages().serving(command.namespace(), block.block().key());
        if (found.isEmpty()) {
            boolean coming = context.pages().coming(command.namespace(), block.block().key()).isPresent();
            return coming ? result(block, BlockStatus.FAILED, OperationReason.NOT_SERVING, Tier.UNKNOWN)
                    : result(block, BlockStatus.GONE, OperationReason.NOT_FOUND, Tier.UNKNOWN);
        }
        Page page = found.get();
        Optional<OperationReason> kept = whyKept(command, block, page, lacking);
        if (kept.isPresent()) {
            return result(block, BlockStatus.FAILED, kept.get(), Tier.UNKNOWN);
        }
        context.pages().leave(page);
        return result(block, BlockStatus.GONE, OperationReason.COMPLETED, command.reliesOn());
    }

    private static BlockResult result(PagedBlock block, BlockStatus status, OperationReason reason, Tier seenOn) {
        return new BlockResult(block.block(), status, reason, block.page(), block.generation(), 0, seenOn);
    }

    private Optional<OperationReason> whyKept(DropBlocks command, PagedBlock block, Page page, Map<Bytes, OperationReason> lacking) {
        if (page.number() != block.page() || page.generation() != block.generation()) {
            return Optional.of(OperationReason.STALE_GENERATION);
        }
        if (!page.pins().isEmpty() || !context.pages().isLeaf(page)) {
            return Optional.of(OperationReason.PINNED);
        }
        return whyNotElsewhere(command, block, lacking);
    }

    /** Why the placement that the command relies on does not count; empty when it is there now. */
    private Optional<OperationReason> whyNotElsewhere(DropBlocks command, PagedBlock block, Map<Bytes, OperationReason> lacking) {
        Bytes key = block.block().key();
        boolean there = switch (command.reliesOn()) {
            case UNKNOWN -> true;
            case STORE -> !lacking.containsKey(key);
            // What is dropped cannot be what is relied on.
            case HOST -> command.tier() != Tier.HOST && context.pages().serving(command.namespace(), key).isPresent();
            case DISK -> command.tier() != Tier.DISK && context.disk().serving(command.namespace(), key).isPresent();
            // The engine may drop a device page at any time.
            case DEVICE -> false;
        };
        return there ? Optional.empty() : Optional.of(lacking.getOrDefault(key, OperationReason.LAST_COPY));
    }

    // --- from the disk

    private void fromDisk(DropBlocks command, Map<Bytes, OperationReason> lacking) {
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        Map<Bytes, Integer> extending = new LinkedHashMap<>(); // how many copies that this command takes extend a block
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = new BlockTransfer(block.block(), -1, block.generation());
            takeFromDisk(command, block, item, extending, lacking);
            items.add(item);
            if (item.ownsPlacement()) {
                extending.merge(block.block().parent(), 1, Integer::sum);
            }
        }
        operations.add(new DiskDrop(context, command, items));
    }

    /** No lookup finds the placement from here on; or it stays with a reason, or there is none. */
    private void takeFromDisk(DropBlocks command, PagedBlock block, BlockTransfer item, Map<Bytes, Integer> extending,
            Map<Bytes, OperationReason> lacking) {
        Optional<DiskPlacement> found = context.disk().index().known(command.namespace(), block.block().key());
        if (found.isEmpty() || found.get().removalReported()) {
            item.goneBefore();
            return;
        }
        DiskPlacement copy = found.get();
        if (copy.state() != DiskState.SERVING) { // it is being written, or another drop takes it and reports it
            item.failed(OperationReason.NOT_SERVING);
        } else if (copy.generation() != block.generation()) {
            item.failed(OperationReason.STALE_GENERATION);
        } else if (!copy.pins().isEmpty() || context.disk().index().children(copy) > extending.getOrDefault(block.block().key(), 0)) {
            item.failed(OperationReason.PINNED);
        } else {
            whyNotElsewhere(command, block, lacking).ifPresentOrElse(item::failed, () -> {
                item.owns(copy);
                context.disk().leave(copy);
            });
        }
    }
}
