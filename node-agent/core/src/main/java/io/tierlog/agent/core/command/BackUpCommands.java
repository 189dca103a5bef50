/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.operation.BackUp;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Begins backups: takes over the pages from the pin that kept them, as far as they still hold what the command names. For the core's one thread. */
public final class BackUpCommands {
    private final AgentContext context;
    private final Operations operations;

    public BackUpCommands(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    void run(BackUpBlocks command) {
        String operation = command.operation();
        boolean sized = !command.blocks().isEmpty() && command.blocks().size() <= context.limits().bounds().blocksPerCall();
        if (!sized || context.phase() != AgentPhase.ON_LOG || operations.full() || context.ports().events().congested()) {
            releaseEarlier(command.releases());
            context.refuse(command.header(), operation, OperationReason.QUEUE_FULL, "the agent is at its limit of work");
            return;
        }
        List<BlockTransfer> items = new ArrayList<>(command.blocks().size());
        List<PagedBlock> sources = new ArrayList<>();
        for (PagedBlock block : command.blocks()) {
            BlockTransfer item = new BlockTransfer(block.block());
            Optional<Page> page = context.pages().serving(command.namespace(), block.block().key());
            if (page.isEmpty()) {
                item.failed(OperationReason.NOT_SERVING);
            } else if (page.get().number() != block.page() || page.get().generation() != block.generation()) {
                item.failed(OperationReason.STALE_GENERATION);
            } else {
                item.on(page.get());
                context.pages().pin(operation, page.get());
                sources.add(page.get().paged());
            }
            items.add(item);
        }
        releaseEarlier(command.releases());
        context.journal().started(operation);
        if (!sources.isEmpty()) {
            context.append(command.header().command(),
                    e -> new OperationStarted(e, operation, OperationKind.BACK_UP, command.namespace(), sources));
        }
        operations.add(new BackUp(context, command, items));
    }

    /** Releases a pin, unless it belongs to an operation that still moves bytes. */
    void releaseEarlier(String pin) {
        if (operations.find(pin).isEmpty()) {
            context.pages().unpinAll(pin);
        }
    }
}
