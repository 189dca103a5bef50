/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.Fetch;
import io.tierlog.agent.core.operation.HostFill;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.Promote;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Begins promotions, or refuses them: into free pages only, so a promotion evicts nothing. For the core's one thread. */
public final class PromoteCommands {
    private final AgentContext context;
    private final Operations operations;
    private final HostFill fill;

    public PromoteCommands(AgentContext context, Operations operations, HostFill fill) {
        this.context = context;
        this.operations = operations;
        this.fill = fill;
    }

    void run(PromoteBlocks command) {
        int most = context.limits().bounds().blocksPerCall();
        if (!context.disk().exists()) {
            refuse(command, OperationReason.UNSUPPORTED, "this agent has no disk to promote from");
        } else if (command.blocks().isEmpty() || command.blocks().size() > most) {
            refuse(command, OperationReason.QUEUE_FULL, "1 to " + most + " blocks in one command");
        } else if (!context.disk().isOpen() || operations.full() || context.ports().events().congested()) {
            refuse(command, OperationReason.QUEUE_FULL, "the agent is at its limit of work, or has not reported its disk yet");
        } else {
            begin(command);
        }
    }

    private void refuse(PromoteBlocks command, OperationReason why, String detail) {
        context.refuse(command.header(), command.operation(), why, detail);
    }

    private void begin(PromoteBlocks command) {
        String namespace = command.namespace();
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = new BlockTransfer(block.block());
            boolean needsDisk = context.pages().serving(namespace, block.block().key()).isEmpty()
                    && context.pages().coming(namespace, block.block().key()).isEmpty();
            Optional<OperationReason> whyNot = needsDisk ? whyNotOnDisk(namespace, block) : Optional.empty();
            whyNot.ifPresent(item::failed);
            items.add(item);
        }
        Optional<List<PagedBlock>> pages = fill.reserveFree(command.operation(), command.header().command(), namespace, items);
        if (pages.isEmpty()) {
            refuse(command, OperationReason.NO_ROOM, "no free pages for " + items.size() + " blocks on the host");
        } else {
            start(command, items, pages.get());
        }
    }

    private Optional<OperationReason> whyNotOnDisk(String namespace, PagedBlock block) {
        Optional<DiskPlacement> copy = context.disk().serving(namespace, block.block().key());
        if (copy.isEmpty()) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        boolean same = copy.get().generation() == block.generation() && copy.get().crc32c() == block.crc32c()
                && copy.get().block().equals(block.block());
        return same ? Optional.empty() : Optional.of(OperationReason.STALE_GENERATION);
    }

    private void start(PromoteBlocks command, List<BlockTransfer> items, List<PagedBlock> pages) {
        for (BlockTransfer item : items) {
            if (item.state() == BlockTransfer.State.PENDING) {
                DiskPlacement copy = context.disk().serving(command.namespace(), item.block().key()).orElseThrow();
                item.on(copy);
                context.disk().index().pin(command.operation(), copy);
            }
        }
        context.journal().started(command.operation());
        context.append(command.header().command(),
                e -> new OperationStarted(e, command.operation(), OperationKind.PROMOTE, command.namespace(), pages));
        Fetch.Order order = new Fetch.Order(
                command.operation(), command.header().command(), command.namespace(), command.lease(), command.leaseMs());
        operations.add(new Promote(context, fill, order, items));
    }
}
