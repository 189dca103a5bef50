/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;

/**
 * Host to device, between engine and agent; the log hears of it afterwards. What counts is the contiguous run from the first block on: the
 * engine computes the rest, so nothing behind a block that failed is of use.
 */
final class LoadBack extends Session {
    /**
     * For whom blocks are loaded.
     *
     * @param owner of the device pages; without a request when the blocks were reserved outside of any
     * @param logged whether the log is told
     * @param ended releases what the lease pinned
     */
    record Loader(PageOwner owner, boolean logged, Runnable ended) {}

    private final Loader loader;
    private final long call;
    private boolean unheard;

    LoadBack(Desk desk, Loader loader, String namespace, long call, List<Item> items) {
        super(desk, desk.nextLoad(), "", namespace, items, State.RUNNING);
        this.loader = loader;
        this.call = call;
    }

    long call() {
        return call;
    }

    PageOwner owner() {
        return loader.owner();
    }

    /** Nobody hears the answer: a notice says when the pages are free. */
    void unheard() {
        unheard = true;
    }

    @Override
    OperationKind kind() {
        return OperationKind.LOAD_BACK;
    }

    @Override
    Stream stream(Item item) {
        return Stream.DEVICE;
    }

    @Override
    void send(long unit, List<Item> batch) {
        desk.ports.device().load(
                unit,
                batch.stream()
                        .map(item -> new PageCopy(item.devicePage, item.requirePage().number(), item.requirePage().crc32c()))
                        .toList());
    }

    @Override
    void arrived(Item item, UnitResult result) {
        item.arrived(item.requirePage().crc32c(), Tier.HOST);
    }

    @Override
    void failed(Item item, OperationReason why) {
        item.failed(why);
        if (why == OperationReason.CHECKSUM) {
            desk.condemn(item.requirePage());
        }
        failPending(OperationReason.PREFIX_GONE);
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        throw new IllegalStateException("A load is under way until its outcome is known: " + item.block);
    }

    @Override
    void cancelled(OperationReason why) {
        useless(why);
    }

    @Override
    void end() {
        int run = isUseless() ? 0 : doneRun();
        String why = run == items.size() ? "" : firstFailure().toString();
        for (Item item : items.subList(run, items.size())) {
            if (item.done()) {
                item.failed(isUseless() ? OperationReason.CANCELLED : OperationReason.PREFIX_GONE);
            }
        }
        for (Item item : items.subList(0, run)) {
            if (item.devicePage < desk.device.capacity()) {
                Content content = new Content(namespace, item.block.key(), item.block.index(), item.generation);
                desk.device.remember(item.devicePage, content);
            }
        }
        desk.counters.add(AgentCounter.LOADED_BLOCKS, run);
        desk.pages.unpinAll(operation);
        desk.ports.engines().loaded(call, run, why);
        desk.released(desk.device.unpinAll(operation));
        PageOwner owner = loader.owner();
        if (unheard && !owner.ended()) { // else the pages were released with those of their attempt
            List<Integer> free = items.stream().map(item -> item.devicePage).filter(page -> !desk.device.pinned(page)).toList();
            desk.ports.engines().released(owner.session(), owner.request(), owner.attempt(), free);
        }
        tellEnd(run);
        loader.ended().run();
    }

    private void tellEnd(int run) {
        if (!loader.logged()) {
            return;
        }
        List<BlockResult> results = items.stream().map(Item::onDevice).toList();
        String request = loader.owner().request();
        int number = loader.owner().attempt();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason reason = firstFailure();
        if (run > 0) {
            desk.tell("", e -> new LoadBackDone(e, operation, request, number, namespace, results, bytes, micros));
        } else {
            desk.tell("", e -> new LoadBackFailed(e, operation, request, number, reason, namespace, results));
        }
    }

    /** Every page that the engine named, and the host pages to read from, are pinned under its name before anything moves. */
    void pinBothEnds() {
        for (Item item : items) {
            desk.device.pin(operation, loader.owner(), item.devicePage);
            Page page = item.page();
            if (page != null) {
                desk.pages.pin(operation, page);
            }
        }
    }
}
