/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.List;

/**
 * Device to host. The device pages stay pinned under its name until every byte has landed or come to rest; the host pages that serve then are
 * pinned under its name until a backup takes over, or their end comes.
 */
final class WriteBack extends Session {
    private final HostFill fill;
    private final PageOwner owner;
    private final CommandHeader header;
    private final long pinMs;

    WriteBack(Desk desk, HostFill fill, PageOwner owner, WriteBackBlocks command, List<Item> items) {
        super(desk, command.operation(), command.header().command(), command.namespace(), items, State.WAITING_FOR_ROOM);
        this.fill = fill;
        this.owner = owner;
        this.header = command.header();
        this.pinMs = command.pinMs();
    }

    CommandHeader header() {
        return header;
    }

    PageOwner owner() {
        return owner;
    }

    @Override
    OperationKind kind() {
        return OperationKind.WRITE_BACK;
    }

    @Override
    Stream stream(Item item) {
        return Stream.DEVICE;
    }

    @Override
    void send(long unit, List<Item> batch) {
        fill.begin(batch);
        desk.ports.device().save(
                unit, batch.stream().map(item -> new PageCopy(item.devicePage, item.requirePage().number(), 0)).toList());
    }

    @Override
    void arrived(Item item, UnitResult result) {
        desk.counters.increment(AgentCounter.SAVED_BLOCKS);
        item.arrived(result.crc32c(), Tier.DEVICE);
    }

    @Override
    void failed(Item item, OperationReason why) {
        item.failed(why);
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        fill.quarantine(item, held, OperationReason.DEVICE_FAULT);
        held.keepDevice(item.devicePage, owner);
    }

    @Override
    void joinEnded(Item item, boolean serves, OperationReason whyNot) {
        fill.joinEnded(item, operation, serves, whyNot);
    }

    @Override
    void end() {
        for (Item item : items) {
            if (item.ownsPage() && item.done()) {
                fill.publish(item, operation, false);
            } else if (item.ownsPage()) {
                fill.discard(item);
            }
        }
        if (cancelling()) {
            desk.pages.unpinAll(operation); // no backup follows a cancelled write-back
        } else {
            desk.pages.endPinsAt(operation, desk.nowMs() + pinMs);
        }
        WriteBacks.tellFailed(desk, owner, items, firstFailure());
        desk.released(desk.device.unpinAll(operation));
        tellEnd();
    }

    private void tellEnd() {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        tellEnd(
                results,
                anyDone(),
                e -> new WriteBackDone(e, operation, namespace, results, bytes, micros),
                e -> new WriteBackFailed(e, operation, why, namespace, results));
    }
}
