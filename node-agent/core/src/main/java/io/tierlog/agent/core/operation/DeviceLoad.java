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
 * Host to device for a call of an engine; the log hears of it afterwards. Which blocks that have arrived count is each kind's to say; none does
 * once nobody can use them: the call or the session has gone, and the engine never learns what is in the pages. For the core's one thread.
 */
abstract sealed class DeviceLoad extends TransferSession permits LoadBack, ReadBack {
    private final PageOwner owner;
    private final long call;
    private boolean noticeWhenFree;

    DeviceLoad(AgentContext context, PageOwner owner, String namespace, long call, List<BlockTransfer> items) {
        super(context, context.nextLoad(), "", namespace, items, State.RUNNING);
        this.owner = owner;
        this.call = call;
    }

    /** Takes back what has arrived and does not count: it fails, with the reason why. */
    abstract void discardUncounted();

    /** Answers the call. */
    abstract void answer();

    /** Tells the log, and whoever waits for the end. */
    abstract void reportEnd();

    final long call() {
        return call;
    }

    /** For whom the device pages are pinned; without a request when the call is outside of any. */
    final PageOwner owner() {
        return owner;
    }

    /** Nobody hears the answer: a notice says when the pages are free. */
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
        throw new IllegalStateException("A load is under way until its outcome is known: " + item.block);
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
        reportEnd();
    }
}
