/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;

/**
 * A load of leased blocks. What counts is the contiguous run from the first block on: the engine computes the rest, so nothing behind a block that
 * failed is of use. For the core's one thread.
 */
final class LoadBack extends ToDevice {
    /**
     * For whom blocks are loaded.
     *
     * @param owner of the device pages; without a request when the blocks were reserved outside of any
     * @param logged whether the log is told
     * @param ended releases what the lease pinned
     */
    record Loader(PageOwner owner, boolean logged, Runnable ended) {}

    private final Loader loader;

    LoadBack(Desk desk, Loader loader, String namespace, long call, List<Item> items) {
        super(desk, loader.owner(), namespace, call, items);
        this.loader = loader;
    }

    @Override
    void failed(Item item, OperationReason why) {
        super.failed(item, why);
        failPending(OperationReason.PREFIX_GONE);
    }

    @Override
    void discount() {
        items.stream().skip(doneRun()).filter(Item::done).forEach(item -> item.failed(OperationReason.PREFIX_GONE));
    }

    @Override
    void answer() {
        int run = doneRun();
        desk.ports.engines().loaded(call(), run, run == items.size() ? "" : firstFailure().toString());
    }

    @Override
    void tellEnd() {
        if (loader.logged()) {
            tellLog();
        }
        loader.ended().run();
    }

    private void tellLog() {
        List<BlockResult> results = items.stream().map(Item::onDevice).toList();
        String request = owner().request();
        int number = owner().attempt();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason reason = firstFailure();
        if (anyDone()) {
            desk.tell("", e -> new LoadBackDone(e, operation, request, number, namespace, results, bytes, micros));
        } else {
            desk.tell("", e -> new LoadBackFailed(e, operation, request, number, reason, namespace, results));
        }
    }
}
