/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;

/**
 * Host to device by name, outside of requests. Each block counts for itself; one that another operation brings to the host is copied as soon as it
 * serves there. For the core's one thread.
 */
final class ReadBack extends Session {
    private final PageOwner owner;
    private final long call;
    private boolean unheard;

    ReadBack(Desk desk, PageOwner owner, String namespace, long call, List<Item> items) {
        super(desk, desk.nextLoad(), "", namespace, items, State.RUNNING);
        this.owner = owner;
        this.call = call;
    }

    long call() {
        return call;
    }

    PageOwner owner() {
        return owner;
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
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        throw new IllegalStateException("A load is under way until its outcome is known: " + item.block);
    }

    @Override
    void joinEnded(Item item, boolean serves, OperationReason whyNot) {
        if (serves && !isUseless()) {
            Page page = item.requirePage();
            item.on(page); // with the generation that serves
            desk.pages.pin(operation, page);
            again(item);
        } else {
            item.failed(serves ? OperationReason.CANCELLED : whyNot);
        }
    }

    @Override
    void cancelled(OperationReason why) {
        useless(why);
    }

    @Override
    void end() {
        for (Item item : items) {
            if (item.done() && item.devicePage < desk.device.capacity()) {
                Content content = new Content(namespace, item.block.key(), item.block.index(), item.generation);
                desk.device.remember(item.devicePage, content);
                desk.counters.increment(AgentCounter.LOADED_BLOCKS);
            }
        }
        desk.pages.unpinAll(operation);
        desk.ports.engines().read(call, items.stream().map(item -> new BlockAnswer(item.done(), item.reason())).toList());
        desk.released(desk.device.unpinAll(operation));
        if (unheard) {
            List<Integer> free = items.stream().map(item -> item.devicePage).filter(page -> !desk.device.pinned(page)).toList();
            desk.ports.engines().released(owner.session(), owner.request(), owner.attempt(), free);
        }
        tellEnd();
    }

    /** The log hears of what could have moved; a block that was nowhere is no move. */
    private void tellEnd() {
        List<BlockResult> results = items.stream().filter(item -> item.page() != null).map(Item::onDevice).toList();
        long bytes = movedBytes();
        long micros = durationMicros();
        if (anyDone()) {
            desk.tell("", e -> new LoadBackDone(e, operation, "", 0, namespace, results, bytes, micros));
        } else if (!results.isEmpty()) {
            OperationReason why = results.getFirst().reason();
            desk.tell("", e -> new LoadBackFailed(e, operation, "", 0, why, namespace, results));
        }
    }
}
