/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.DiskTier;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes placements off the disk. No lookup finds them from the start of the operation, so that a prefix leaves from its end whatever the disk
 * does. The agent repeats a failed drop in the background.
 */
public final class DiskDrop extends TransferSession {
    private final Tier reliesOn;
    private final List<BlockTransfer> unknown = new ArrayList<>();

    public DiskDrop(AgentContext context, DropBlocks command, List<BlockTransfer> items) {
        super(context, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
        this.reliesOn = command.reliesOn();
    }

    @Override
    public OperationKind kind() {
        return OperationKind.DROP;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        return TransferPort.DISK;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        context.ports().disk().drop(
                unit,
                namespace,
                batch.stream().map(item -> new DiskTransfers.DiskObject(item.block.key(), item.requirePlacement().generation())).toList());
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        item.gone(reliesOn);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        item.gone(reliesOn);
        if (!DiskTier.hasLeft(new UnitResult(BlockStatus.FAILED, why, 0))) {
            context.counters().increment(AgentCounter.DISK_DROPS_REPEATED);
            item.placementHandedOver();
        }
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        failed(item, held.reason());
        held.keepDrop(item.requirePlacement());
        unknown.add(item);
    }

    @Override
    void cancelled(OperationReason why) {
        for (BlockTransfer item : items) {
            if (item.state() == BlockTransfer.State.PENDING) {
                failed(item, why);
            }
        }
    }

    @Override
    void end() {
        for (BlockTransfer item : items) {
            DiskPlacement copy = item.placement();
            if (item.ownsPlacement()) {
                context.disk().index().remove(item.requirePlacement()); // this step reports it, so its block may have another placement
            } else if (copy != null) {
                context.disk().index().removalReported(copy);
                if (!unknown.contains(item)) {
                    context.disk().dropLater(copy, copy.generation());
                }
            }
        }
        List<BlockResult> results = items.stream()
                .map(item -> new BlockResult(item.block, item.status(), item.reason(), -1, item.generation, 0, item.from()))
                .toList();
        OperationReason why = results.stream().map(BlockResult::reason)
                .filter(reason -> reason != OperationReason.COMPLETED).findFirst().orElse(OperationReason.NOT_SERVING);
        reportEnd(
                results,
                results.stream().anyMatch(result -> result.status() == BlockStatus.GONE),
                e -> new DropDone(e, operation, Tier.DISK, namespace, results),
                e -> new DropFailed(e, operation, Tier.DISK, why, namespace, results));
    }
}
