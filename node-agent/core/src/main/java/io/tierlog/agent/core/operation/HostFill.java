/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.page.PageState;
import io.tierlog.agent.core.page.PageTable.Evicted;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How operations get host pages to fill, all of them or none, and how they publish or free them at their end.
 *
 * <p>A block that serves already needs no page; a block that another operation brings is joined. For the core's one thread.
 */
public final class HostFill {
    private final AgentContext context;
    private final Operations operations;

    public HostFill(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    /**
     * Gives each pending block of {@code items} a page, with eviction where needed; pins blocks that serve under {@code operation}.
     *
     * @return the pages reserved, or empty, with nothing changed, when there are too few pages
     */
    public Optional<List<PagedBlock>> reserve(String operation, String cause, String namespace, List<BlockTransfer> items) {
        return reserve(operation, cause, namespace, items, true);
    }

    /** Like {@link #reserve}, of free pages only: it evicts nothing. */
    public Optional<List<PagedBlock>> reserveFree(String operation, String cause, String namespace, List<BlockTransfer> items) {
        return reserve(operation, cause, namespace, items, false);
    }

    private Optional<List<PagedBlock>> reserve(String operation, String cause, String namespace, List<BlockTransfer> items, boolean evicting) {
        List<BlockTransfer> pending = items.stream().filter(item -> item.state() == BlockTransfer.State.PENDING).toList();
        int missing = 0;
        for (BlockTransfer item : pending) {
            Optional<Page> serving = context.pages().serving(namespace, item.block.key());
            if (serving.isPresent()) {
                context.pages().pin(operation, serving.get()); // before anything is evicted
            } else if (context.pages().coming(namespace, item.block.key()).isEmpty()) {
                missing++;
            }
        }
        boolean takes = evicting || missing <= context.pages().count(PageState.FREE);
        Optional<List<Evicted>> evicted = takes ? context.pages().makeFree(missing) : Optional.empty();
        if (evicted.isEmpty()) {
            context.pages().unpinAll(operation);
            return Optional.empty();
        }
        context.appendEvicted(cause, evicted.get());
        List<PagedBlock> reserved = new ArrayList<>(missing);
        for (BlockTransfer item : pending) {
            place(namespace, item, reserved);
        }
        return Optional.of(reserved);
    }

    private void place(String namespace, BlockTransfer item, List<PagedBlock> reserved) {
        Optional<Page> serving = context.pages().serving(namespace, item.block.key());
        Optional<Page> coming = context.pages().coming(namespace, item.block.key());
        if (serving.isPresent()) {
            item.on(serving.get());
            item.alreadyThere(serving.get().crc32c());
        } else if (coming.isPresent()) {
            item.joins(coming.get());
        } else {
            Page page = context.pages().reserve(namespace, item.block);
            item.goesTo(page);
            reserved.add(page.paged());
        }
    }

    /** Bytes begin to move into the pages of a unit. */
    void begin(List<BlockTransfer> batch) {
        for (BlockTransfer item : batch) {
            if (item.requirePage().state() == PageState.RESERVED) { // else from another source before
                context.pages().fill(item.requirePage());
            }
        }
    }

    /** The block serves from here on, pinned under {@code pin}. */
    void publish(BlockTransfer item, String pin, boolean heldInStore) {
        Page page = item.requirePage();
        item.handedOver();
        context.pages().publish(page, item.crc32c(), heldInStore);
        context.pages().markHeldOnDisk(page, context.disk().serving(page.namespace(), page.block().key()).isPresent());
        context.pages().pin(pin, page);
        operations.pageSettled(page, true, OperationReason.COMPLETED);
    }

    /** Whether another operation waits for the block that comes to this page. */
    boolean isAwaited(BlockTransfer item) {
        return operations.isJoined(item.requirePage());
    }

    /** The page goes back; what is in it was never found. */
    void discard(BlockTransfer item) {
        Page page = item.requirePage();
        item.handedOver();
        context.pages().discard(page);
        operations.pageSettled(page, false, item.reason());
    }

    /** The page is kept from everyone until its stream is idle. */
    void quarantine(BlockTransfer item, Quarantine.Case held) {
        Page page = item.requirePage();
        item.failed(held.reason());
        item.handedOver();
        held.keepDestination(page);
        operations.pageSettled(page, false, held.reason());
    }

    /** The operation that brings the block for this one has ended. */
    void joinEnded(BlockTransfer item, String pin, boolean serves, OperationReason whyNot) {
        if (serves) {
            Page page = item.requirePage();
            context.pages().pin(pin, page);
            item.alreadyThere(page.crc32c());
        } else {
            item.failed(whyNot);
        }
    }
}
