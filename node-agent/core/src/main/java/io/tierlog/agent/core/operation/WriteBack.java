/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Device to host. It pins the device pages under its name until every byte has arrived or its unit is idle. It pins the host pages that serve then
 * until a backup takes over, or their time is over.
 */
public final class WriteBack extends TransferSession {
    private final HostFill fill;
    private final PageOwner owner;
    private final CommandHeader header;
    private final long pinMs;

    public WriteBack(AgentContext context, HostFill fill, PageOwner owner, WriteBackBlocks command, List<BlockTransfer> items) {
        super(context, command.operation(), command.header().command(), command.namespace(), items, State.WAITING_FOR_PAGES);
        this.fill = fill;
        this.owner = owner;
        this.header = command.header();
        this.pinMs = command.pinMs();
    }

    public CommandHeader header() {
        return header;
    }

    public PageOwner owner() {
        return owner;
    }

    @Override
    public OperationKind kind() {
        return OperationKind.WRITE_BACK;
    }

    @Override
    TransferPort stream(BlockTransfer item) {
        return TransferPort.DEVICE;
    }

    @Override
    void send(long unit, List<BlockTransfer> batch) {
        fill.begin(batch);
        context.ports().device().save(
                unit, batch.stream().map(item -> new PageCopy(item.devicePage, item.requirePage().number(), 0)).toList());
    }

    @Override
    void arrived(BlockTransfer item, UnitResult result) {
        context.counters().increment(AgentCounter.SAVED_BLOCKS);
        item.arrived(result.crc32c(), Tier.DEVICE);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        item.failed(why);
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        fill.quarantine(item, held);
        held.keepDevice(item.devicePage, owner);
    }

    @Override
    void joinEnded(BlockTransfer item, boolean serves, OperationReason whyNot) {
        fill.joinEnded(item, operation, serves, whyNot);
    }

    @Override
    void end() {
        discardSuffixes();
        for (BlockTransfer item : items) {
            if (item.ownsPage() && item.done()) {
                fill.publish(item, operation, false);
            } else if (item.ownsPage()) {
                fill.discard(item);
            }
        }
        if (cancelling()) {
            context.pages().unpinAll(operation); // no backup follows a cancelled write-back
        } else {
            context.pages().endPinsAt(operation, context.nowMs() + pinMs);
        }
        noticeFailed(owner, firstFailure());
        context.noticeReleased(context.device().unpinAll(operation));
        reportEnd();
    }

    /** A block behind one that has failed could not be found from its prompt's start: it is not kept, unless the host has what it extends. */
    private void discardSuffixes() {
        Set<Bytes> failed = new LinkedHashSet<>();
        for (BlockTransfer item : items.stream().sorted(Comparator.comparingInt(one -> one.block.index())).toList()) {
            if (item.done() && item.ownsPage() && failed.contains(item.block.parent())) {
                item.failed(OperationReason.PREFIX_GONE);
            }
            if (!item.done() && context.pages().serving(namespace, item.block.key()).isEmpty()) {
                failed.add(item.block.key());
            }
        }
    }

    private void reportEnd() {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        reportEnd(
                results,
                anyDone(),
                e -> new WriteBackDone(e, operation, namespace, results, bytes, micros),
                e -> new WriteBackFailed(e, operation, why, namespace, results));
    }
}
