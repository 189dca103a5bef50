/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import java.util.List;

/**
 * Host to device for a call of an engine; reported to the log afterwards. Each kind decides which arrived blocks count. None counts once the call
 * or the session is gone: then the engine never learns the content of the pages. For the core's one thread.
 */
abstract sealed class DeviceLoad extends TransferSession permits LoadBack, ReadBack {
    private final PageOwner owner;
    private final long call;
    /** That of the agent when it began; 0 when it was not on the log. */
    private final long incarnation;
    private boolean noticeWhenFree;

    DeviceLoad(AgentContext context, PageOwner owner, String namespace, long call, List<BlockTransfer> items) {
        super(context, context.nextLoad(), "", namespace, items, State.RUNNING);
        this.owner = owner;
        this.call = call;
        this.incarnation = context.incarnation();
    }

    /** Takes back what has arrived and does not count: it fails, with the reason why. */
    abstract void discardUncounted();

    /** Answers the call. */
    abstract void answer();

    /** Reports to the log. */
    abstract void reportEnd();

    /** The last step: the owner of the lease goes on. */
    abstract void released();

    final long call() {
        return call;
    }

    /** For whom the device pages are pinned; without a request when the call is outside of any. */
    final PageOwner owner() {
        return owner;
    }

    /** The caller is gone, so a notice names the pages when they are free. */
    final void noticeWhenFree() {
        noticeWhenFree = true;
    }

    /** Every page that the engine named, and the host pages to read from, are pinned under its name before anything moves. */
    public final void pinBothEnds() {
        for (BlockTransfer item : items) {
            context.device().pin(operation, owner, item.devicePage);
            Page page = item.page();
            if (page != null && item.state() == BlockTransfer.State.PENDING) {
                context.pages().pin(operation, page);
            }
        }
    }

    @Override
    public final OperationKind kind() {
        return OperationKind.LOAD_BACK;
    }

    @Override
    final TransferPort stream(BlockTransfer item) {
        return TransferPort.DEVICE;
    }

    @Override
    final void send(long unit, List<BlockTransfer> batch) {
        context.ports().device().load(
                unit,
                batch.stream()
                        .map(item -> new PageCopy(item.devicePage, item.requirePage().number(), item.requirePage().crc32c()))
                        .toList());
    }

    @Override
    final void arrived(BlockTransfer item, UnitResult result) {
        item.arrived(item.requirePage().crc32c(), Tier.HOST);
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        item.failed(why);
        if (why == OperationReason.CHECKSUM) {
            context.condemn(item.requirePage());
        }
    }

    @Override
    final void unknown(BlockTransfer item, Quarantine.Case held) {
        throw new IllegalStateException("A load of unknown outcome is still under way: " + item.block);
    }

    @Override
    final void cancelled(OperationReason why) {
        useless(why);
    }

    @Override
    final void end() {
        if (isUseless()) {
            items.stream().filter(BlockTransfer::done).forEach(item -> item.failed(OperationReason.CANCELLED));
        } else {
            discardUncounted();
        }
        for (BlockTransfer item : items) {
            if (item.done()) {
                context.device().remember(item.devicePage, new Content(namespace, item.block.key(), item.block.index(), item.generation));
                context.counters().increment(AgentCounter.LOADED_BLOCKS);
            }
        }
        context.pages().unpinAll(operation);
        answer();
        context.noticeReleased(context.device().unpinAll(operation));
        if (noticeWhenFree && !owner.ended()) { // else the pages were released with those of their attempt
            context.noticeFree(new Attempt(owner.session(), owner.request(), owner.attempt()), items.stream().map(item -> item.devicePage).toList());
        }
        if (context.incarnation() == incarnation) {
            reportEnd();
        }
        released();
    }
}
