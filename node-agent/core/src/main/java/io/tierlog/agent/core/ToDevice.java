/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.Attempt;
import io.tierlog.agent.core.AgentInput.UnitResult;
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
abstract sealed class ToDevice extends Session permits LoadBack, ReadBack {
    private final PageOwner owner;
    private final long call;
    private boolean unheard;

    ToDevice(Desk desk, PageOwner owner, String namespace, long call, List<Item> items) {
        super(desk, desk.nextLoad(), "", namespace, items, State.RUNNING);
        this.owner = owner;
        this.call = call;
    }

    /** Takes back what has arrived and does not count: it fails, with the reason why. */
    abstract void discount();

    /** Answers the call. */
    abstract void answer();

    /** Tells the log, and whoever waits for the end. */
    abstract void tellEnd();

    final long call() {
        return call;
    }

    /** For whom the device pages are pinned; without a request when the call is outside of any. */
    final PageOwner owner() {
        return owner;
    }

    /** Nobody hears the answer: a notice says when the pages are free. */
    final void unheard() {
        unheard = true;
    }

    /** Every page that the engine named, and the host pages to read from, are pinned under its name before anything moves. */
    final void pinBothEnds() {
        for (Item item : items) {
            desk.device.pin(operation, owner, item.devicePage);
            Page page = item.page();
            if (page != null && item.state() == Item.State.PENDING) {
                desk.pages.pin(operation, page);
            }
        }
    }

    @Override
    final OperationKind kind() {
        return OperationKind.LOAD_BACK;
    }

    @Override
    final Stream stream(Item item) {
        return Stream.DEVICE;
    }

    @Override
    final void send(long unit, List<Item> batch) {
        desk.ports.device().load(
                unit,
                batch.stream()
                        .map(item -> new PageCopy(item.devicePage, item.requirePage().number(), item.requirePage().crc32c()))
                        .toList());
    }

    @Override
    final void arrived(Item item, UnitResult result) {
        item.arrived(item.requirePage().crc32c(), Tier.HOST);
    }

    @Override
    void failed(Item item, OperationReason why) {
        item.failed(why);
        if (why == OperationReason.CHECKSUM) {
            desk.condemn(item.requirePage());
        }
    }

    @Override
    final void unknown(Item item, Quarantine.Case held) {
        throw new IllegalStateException("A load is under way until its outcome is known: " + item.block);
    }

    @Override
    final void cancelled(OperationReason why) {
        useless(why);
    }

    @Override
    final void end() {
        if (isUseless()) {
            items.stream().filter(Item::done).forEach(item -> item.failed(OperationReason.CANCELLED));
        } else {
            discount();
        }
        for (Item item : items) {
            if (item.done()) {
                desk.device.remember(item.devicePage, new Content(namespace, item.block.key(), item.block.index(), item.generation));
                desk.counters.increment(AgentCounter.LOADED_BLOCKS);
            }
        }
        desk.pages.unpinAll(operation);
        answer();
        desk.released(desk.device.unpinAll(operation));
        if (unheard && !owner.ended()) { // else the pages were released with those of their attempt
            desk.tellFree(new Attempt(owner.session(), owner.request(), owner.attempt()), items.stream().map(item -> item.devicePage).toList());
        }
        tellEnd();
    }
}
