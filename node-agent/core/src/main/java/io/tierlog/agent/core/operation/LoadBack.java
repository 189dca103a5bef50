/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;

/**
 * A load of leased blocks. The contiguous run from the first block on counts: the engine computes the rest, so a block behind one that failed has
 * no use. For the core's one thread.
 */
public final class LoadBack extends DeviceLoad {
    /**
     * For whom blocks are loaded.
     *
     * @param owner of the device pages; without a request when the blocks were reserved outside of any
     * @param logged whether the load is reported to the log
     * @param ended releases what the lease pinned
     */
    public record Loader(PageOwner owner, boolean logged, Runnable ended) {}

    private final Loader loader;

    public LoadBack(AgentContext context, Loader loader, String namespace, long call, List<BlockTransfer> items) {
        super(context, loader.owner(), namespace, call, items);
        this.loader = loader;
    }

    @Override
    void failed(BlockTransfer item, OperationReason why) {
        super.failed(item, why);
        failPending(OperationReason.PREFIX_GONE);
    }

    @Override
    void discardUncounted() {
        items.stream().skip(doneRun()).filter(BlockTransfer::done).forEach(item -> item.failed(OperationReason.PREFIX_GONE));
    }

    @Override
    void answer() {
        int run = doneRun();
        context.ports().engines().loaded(call(), run, run == items.size() ? "" : firstFailure().toString());
    }

    @Override
    void released() {
        loader.ended().run();
    }

    @Override
    void reportEnd() {
        if (!loader.logged()) {
            return;
        }
        int most = context.limits().bounds().blocksPerCall();
        for (int from = 0; from < items.size(); from += most) {
            List<BlockTransfer> part = items.subList(from, Math.min(items.size(), from + most));
            report(from == 0 ? operation : context.nextLoad(), part);
        }
    }

    /** To the log each part of a long load is an operation of its own: it has its share of the bytes and of the time. */
    private void report(String name, List<BlockTransfer> part) {
        List<BlockResult> results = part.stream().map(BlockTransfer::onDevice).toList();
        String request = owner().request();
        int number = owner().attempt();
        boolean done = part.stream().anyMatch(BlockTransfer::done);
        long bytes = part.stream().filter(item -> item.from() != Tier.UNKNOWN).count() * context.registration().blockBytes();
        long micros = durationMicros() * part.size() / items.size();
        OperationReason reason = firstFailure(part);
        if (done) {
            context.append("", e -> new LoadBackDone(e, name, request, number, namespace, results, bytes, micros));
        } else {
            context.append("", e -> new LoadBackFailed(e, name, request, number, reason, namespace, results));
        }
    }
}
