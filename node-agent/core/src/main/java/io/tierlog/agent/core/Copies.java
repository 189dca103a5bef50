/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Begins copies from the host to the disk: pins the pages that still hold what the command names, and takes room for each copy. What has no
 * room is refused block by block; nothing on the disk makes way for it. For the core's one thread.
 */
final class Copies {
    private final Desk desk;
    private final Operations operations;

    Copies(Desk desk, Operations operations) {
        this.desk = desk;
        this.operations = operations;
    }

    void run(CopyBlocks command) {
        String operation = command.operation();
        if (!desk.disk.exists() || command.source() != Tier.HOST || command.target() != Tier.DISK) {
            desk.refuse(command.header(), operation, OperationReason.UNSUPPORTED,
                    "this agent cannot copy from " + command.source() + " to " + command.target());
            return;
        }
        boolean sized = !command.blocks().isEmpty() && command.blocks().size() <= desk.limits.bounds().keysPerRequest();
        if (!sized || !desk.disk.isOpen() || operations.full() || desk.ports.events().congested()) {
            desk.refuse(command.header(), operation, OperationReason.QUEUE_FULL,
                    "the agent has all the work it can take, or has not yet said what its disk holds");
            return;
        }
        List<Item> items = new ArrayList<>(command.blocks().size());
        List<PagedBlock> sources = new ArrayList<>();
        for (PagedBlock block : command.blocks()) {
            Item item = new Item(block.block());
            place(command, block, item);
            if (item.state() == Item.State.PENDING) {
                desk.pages.pin(operation, item.requirePage());
                sources.add(item.requirePage().paged());
            }
            items.add(item);
        }
        desk.journal.started(operation);
        if (!sources.isEmpty()) {
            desk.tell(command.header().command(),
                    e -> new OperationStarted(e, operation, OperationKind.COPY, command.namespace(), sources));
        }
        operations.add(new Copy(desk, command, items));
    }

    /** Finds the source of a block and takes room for its copy, or says why it is not copied. */
    private void place(CopyBlocks command, PagedBlock block, Item item) {
        Optional<DiskCopy> there = desk.disk.index.known(command.namespace(), block.block().key());
        Optional<Page> page = desk.pages.serving(command.namespace(), block.block().key());
        if (there.isPresent() && there.get().state() == DiskState.SERVING) {
            item.on(there.get());
            item.alreadyThere(there.get().crc32c());
        } else if (page.isEmpty() || there.isPresent()) {
            // A copy that comes is another operation's, and one that leaves has bytes on the disk until it has left.
            item.failed(OperationReason.NOT_SERVING);
        } else if (page.get().number() != block.page() || page.get().generation() != block.generation()
                || !page.get().block().equals(block.block())) {
            item.failed(OperationReason.STALE_GENERATION);
        } else if (parentLeaves(command.namespace(), block)) {
            // Said afterwards, its drop would leave a block here that extends it.
            item.failed(OperationReason.NOT_SERVING);
        } else if (desk.disk.index.isFull()) {
            item.failed(OperationReason.NO_ROOM);
        } else {
            item.on(page.get());
            item.owns(desk.disk.index.reserve(command.namespace(), block.block()));
        }
    }

    private boolean parentLeaves(String namespace, PagedBlock block) {
        return desk.disk.index.known(namespace, block.block().parent()).filter(copy -> copy.state() == DiskState.LEAVING).isPresent();
    }
}
