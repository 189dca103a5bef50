/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.page.PageState;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.StoreFull;
import java.util.List;

/** Host to store, put-if-absent. Pins the host pages under its name until it ends. */
public final class BackUp extends TransferSession {
    private final Bytes root;

    public BackUp(AgentContext context, BackUpBlocks command, List<BlockTransfer> items) {
        super(context, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
        this.root = command.root();
    }

    @Override
    public OperationKind kind() {
        return OperationKind.BACK_UP;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        return TransferPort.STORE;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        context.ports().store().write(
                unit,
                namespace,
                batch.stream()
                        .map(item -> new PageObject(item.block.key(), item.requirePage().number(), item.requirePage().crc32c()))
                        .toList());
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        int crc = item.requirePage().crc32c();
        item.written(result.generation());
        if (result.status() == BlockStatus.ARRIVED) {
            context.counters().increment(AgentCounter.BACKED_UP_BLOCKS);
            item.arrived(crc, Tier.HOST);
        } else {
            item.alreadyThere(crc);
        }
        if (item.requirePage().state() == PageState.SERVING) {
            context.pages().markHeldInStore(item.requirePage(), true);
        }
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        item.failed(why);
        if (why == OperationReason.CHECKSUM) {
            context.condemn(item.requirePage());
        }
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        item.failed(held.reason());
        held.keepSource(item.requirePage());
    }

    @Override
    void end() {
        context.pages().unpinAll(operation);
        List<BlockResult> results = items.stream().map(BlockTransfer::fromHost).toList();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        reportEnd(
                results,
                anyDone(),
                e -> new BackUpDone(e, operation, namespace, results, bytes, micros),
                e -> new BackUpFailed(e, operation, why, namespace, results));
        reportStored();
    }

    /** Also reports what was there already: the shard did not list it, or there would be no backup of it. And that the store has no space. */
    private void reportStored() {
        List<PagedBlock> stored = items.stream()
                .filter(BlockTransfer::done)
                .map(item -> new PagedBlock(item.block, -1, item.writtenGeneration(), item.crc32c()))
                .toList();
        String shard = "store/" + StoreShard.of(namespace, root, context.limits().storeShards());
        if (!stored.isEmpty()) {
            context.append(shard, cause, e -> new BlocksStored(e, context.registration().node(), namespace, stored));
        }
        int refused = (int) items.stream().filter(item -> item.reason() == OperationReason.NO_ROOM).count();
        if (refused > 0) {
            context.append(shard, cause, e -> new StoreFull(e, context.registration().node(), refused));
        }
    }
}
