/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import java.util.ArrayList;
import java.util.List;

/**
 * Host to disk. The host pages are pinned under its name until it ends, and by it no longer; what is down by then serves from the disk, cancelled
 * or not, and what is not has no copy.
 */
final class Copy extends Session {
    /** What the disk has contradicted itself about; it leaves the disk at the end, and is nobody else's before. */
    private final List<DiskCopy> contradicted = new ArrayList<>();

    Copy(Desk desk, CopyBlocks command, List<Item> items) {
        super(desk, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
    }

    @Override
    OperationKind kind() {
        return OperationKind.COPY;
    }

    @Override
    Stream stream(Item item) {
        return Stream.DISK;
    }

    @Override
    void send(long unit, List<Item> batch) {
        batch.forEach(item -> desk.disk.index.write(item.requireCopy()));
        desk.ports.disk().write(unit, namespace, batch.stream().map(Copy::write).toList());
    }

    private static PageWrite write(Item item) {
        Page page = item.requirePage();
        return new PageWrite(item.block.key(), item.block.index(), item.block.parent(), Bytes.EMPTY, page.number(), page.crc32c());
    }

    @Override
    void arrived(Item item, UnitResult result) {
        boolean written = result.status() == BlockStatus.ARRIVED;
        if (result.generation() < 1 || (written && result.crc32c() != item.requirePage().crc32c())) {
            // The disk contradicts itself: whatever it has under this name shall not be read.
            item.failed(OperationReason.IO);
            item.copyHandedOver();
            desk.disk.index.quarantine(item.requireCopy());
            contradicted.add(item.requireCopy());
            return;
        }
        item.copied(result.generation());
        if (written) {
            desk.counters.increment(AgentCounter.COPIED_BLOCKS);
            item.arrived(result.crc32c(), Tier.HOST);
        } else {
            item.alreadyThere(result.crc32c());
        }
    }

    @Override
    void failed(Item item, OperationReason why) {
        item.failed(why);
        if (why == OperationReason.CHECKSUM) {
            desk.condemn(item.requirePage());
        }
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        item.failed(OperationReason.IO);
        held.keepSource(item.requirePage());
        item.copyHandedOver();
        held.keepCopy(item.requireCopy());
    }

    @Override
    void end() {
        desk.pages.unpinAll(operation);
        contradicted.forEach(desk.disk::knownIdle);
        for (Item item : items) {
            if (item.ownsCopy() && item.done()) {
                desk.disk.publish(item.requireCopy(), item.copiedGeneration(), item.crc32c());
            } else if (item.ownsCopy()) {
                desk.disk.index.remove(item.requireCopy());
            } else if (item.done() && item.requireCopy().state() != DiskState.SERVING) {
                item.failed(OperationReason.NOT_SERVING); // it was there when this began, and has left since
            }
        }
        tellEnd();
    }

    private void tellEnd() {
        List<BlockResult> results = items.stream().map(Item::onDisk).toList();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        tellEnd(
                results,
                anyDone(),
                e -> new CopyDone(e, operation, Tier.HOST, Tier.DISK, namespace, results, bytes, micros),
                e -> new CopyFailed(e, operation, Tier.HOST, Tier.DISK, why, namespace, results));
    }
}
