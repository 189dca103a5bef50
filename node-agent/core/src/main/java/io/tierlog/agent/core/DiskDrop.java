/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import java.util.List;

/**
 * Takes copies off the disk. From its first moment on nobody finds them, so that the order from the end of a prefix holds whatever the disk
 * does; bytes that would not leave are dropped again in the background.
 */
final class DiskDrop extends Session {
    DiskDrop(Desk desk, DropBlocks command, List<Item> items) {
        super(desk, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
    }

    @Override
    OperationKind kind() {
        return OperationKind.DROP;
    }

    @Override
    Stream stream(Item item) {
        return Stream.DISK;
    }

    @Override
    void send(long unit, List<Item> batch) {
        desk.ports.disk().drop(
                unit,
                namespace,
                batch.stream().map(item -> new DiskTransfers.HeldCopy(item.block.key(), item.requireCopy().generation())).toList());
    }

    @Override
    void arrived(Item item, UnitResult result) {
        item.gone();
    }

    @Override
    void failed(Item item, OperationReason why) {
        item.gone();
        if (!DiskTier.hasLeft(new UnitResult(BlockStatus.FAILED, why, 0))) {
            desk.counters.increment(AgentCounter.DISK_DROPS_REPEATED);
            item.copyHandedOver();
        }
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        failed(item, OperationReason.IO); // a drop names a generation: once more does no harm
    }

    @Override
    void cancelled(OperationReason why) {
        for (Item item : items) {
            if (item.state() == Item.State.PENDING) {
                failed(item, why);
            }
        }
    }

    @Override
    void end() {
        for (Item item : items) {
            DiskCopy copy = item.copy();
            if (item.ownsCopy()) {
                desk.disk.index.remove(item.requireCopy()); // now that the log hears of it, its block may have another copy
            } else if (copy != null) {
                desk.disk.index.told(copy);
                desk.disk.dropLater(copy, copy.generation());
            }
        }
        List<BlockResult> results = items.stream()
                .map(item -> new BlockResult(item.block, item.status(), item.reason(), -1, item.generation, 0, Tier.UNKNOWN))
                .toList();
        OperationReason why = results.stream().map(BlockResult::reason)
                .filter(reason -> reason != OperationReason.COMPLETED).findFirst().orElse(OperationReason.NOT_SERVING);
        tellEnd(
                results,
                results.stream().anyMatch(result -> result.status() == BlockStatus.GONE),
                e -> new DropDone(e, operation, Tier.DISK, namespace, results),
                e -> new DropFailed(e, operation, Tier.DISK, why, namespace, results));
    }
}
