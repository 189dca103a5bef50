/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Frees host pages as commanded, each only if it holds what the command names, nobody pins it, and no block here extends it. It is one step:
 * no byte moves. For the core's one thread.
 */
final class Drops {
    private final Desk desk;

    Drops(Desk desk) {
        this.desk = desk;
    }

    void run(DropBlocks command) {
        String operation = command.operation();
        String cause = command.header().command();
        if (command.tier() != Tier.HOST || command.blocks().size() > desk.limits.bounds().keysPerRequest()) {
            desk.refuse(command.header(), operation, OperationReason.UNSUPPORTED, "this agent cannot drop that from " + command.tier());
            return;
        }
        desk.journal.started(operation);
        desk.tell(cause, e -> new OperationStarted(e, operation, OperationKind.DROP, command.namespace(), command.blocks()));
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
                    0));
        }
        OperationReason why = first;
        if (anyGone) {
            desk.end(operation, cause, results.size(), e -> new DropDone(e, operation, Tier.HOST, command.namespace(), results));
        } else {
            desk.end(operation, cause, results.size(), e -> new DropFailed(e, operation, Tier.HOST, why, command.namespace(), results));
        }
    }

    /** Empty when the block is gone, now or already; else why it stays. */
    private Optional<OperationReason> drop(DropBlocks command, PagedBlock block) {
        Optional<Page> found = desk.pages.serving(command.namespace(), block.block().key());
        if (found.isEmpty()) {
            boolean coming = desk.pages.coming(command.namespace(), block.block().key()).isPresent();
            return coming ? Optional.of(OperationReason.NOT_SERVING) : Optional.empty();
        }
        Page page = found.get();
        if (page.number() != block.page() || page.generation() != block.generation()) {
            return Optional.of(OperationReason.STALE_GENERATION);
        }
        if (!page.pins().isEmpty() || !desk.pages.isLeaf(page)) {
            return Optional.of(OperationReason.PINNED);
        }
        if (!holdsElsewhere(command)) {
            return Optional.of(OperationReason.LAST_COPY);
        }
        desk.pages.leave(page);
        return Optional.empty();
    }

    /** A copy on this node that is relied on must be here; what the controller says of the store it has leased there. */
    private static boolean holdsElsewhere(DropBlocks command) {
        return switch (command.reliesOn()) {
            case UNKNOWN, STORE -> true;
            // There is no disk tier here, the page itself cannot be what is relied on, and the engine may drop a device page at any time.
            case DISK, HOST, DEVICE -> false;
        };
    }
}
