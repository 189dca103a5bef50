/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Begins promotions, or refuses them: into free pages only, so nothing that anybody has asked for leaves for them. For the core's one thread. */
final class Promotes {
    private final Desk desk;
    private final Operations operations;
    private final HostFill fill;

    Promotes(Desk desk, Operations operations, HostFill fill) {
        this.desk = desk;
        this.operations = operations;
        this.fill = fill;
    }

    void run(PromoteBlocks command) {
        int most = desk.limits.bounds().keysPerRequest();
        if (!desk.disk.exists()) {
            refuse(command, OperationReason.UNSUPPORTED, "this agent has no disk to promote from");
        } else if (command.blocks().isEmpty() || command.blocks().size() > most) {
            refuse(command, OperationReason.QUEUE_FULL, "1 to " + most + " blocks in one command");
        } else if (!desk.disk.isOpen() || operations.full() || desk.ports.events().congested()) {
            refuse(command, OperationReason.QUEUE_FULL, "the agent has all the work it can take, or has not yet said what its disk holds");
        } else {
            begin(command);
        }
    }

    private void refuse(PromoteBlocks command, OperationReason why, String detail) {
        desk.refuse(command.header(), command.operation(), why, detail);
    }

    private void begin(PromoteBlocks command) {
        String namespace = command.namespace();
        List<Item> items = new ArrayList<>(command.blocks().size());
        for (PagedBlock block : command.blocks()) {
            Item item = new Item(block.block());
            boolean needsDisk = desk.pages.serving(namespace, block.block().key()).isEmpty()
                    && desk.pages.coming(namespace, block.block().key()).isEmpty();
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
        Optional<DiskCopy> copy = desk.disk.serving(namespace, block.block().key());
        if (copy.isEmpty()) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        boolean same = copy.get().generation() == block.generation() && copy.get().crc32c() == block.crc32c()
                && copy.get().block().equals(block.block());
        return same ? Optional.empty() : Optional.of(OperationReason.STALE_GENERATION);
    }

    private void start(PromoteBlocks command, List<Item> items, List<PagedBlock> pages) {
        for (Item item : items) {
            if (item.state() == Item.State.PENDING) {
                DiskCopy copy = desk.disk.serving(command.namespace(), item.block.key()).orElseThrow();
                item.on(copy);
                desk.disk.index.pin(command.operation(), copy);
            }
        }
        desk.journal.started(command.operation());
        desk.tell(command.header().command(),
                e -> new OperationStarted(e, command.operation(), OperationKind.PROMOTE, command.namespace(), pages));
        operations.add(new Promote(desk, fill, new Fetch.Order(command.operation(), command.header().command(), command.namespace(), command.lease(),
                command.leaseMs()), items));
    }
}
