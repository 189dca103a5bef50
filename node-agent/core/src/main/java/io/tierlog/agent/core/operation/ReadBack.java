/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import java.util.List;

/**
 * Host to device by name, outside of requests. Each block counts for itself. A block that another operation brings to the host is copied as soon
 * as it serves there. For the core's one thread.
 */
public final class ReadBack extends DeviceLoad {
    public ReadBack(AgentContext context, PageOwner owner, String namespace, long call, List<BlockTransfer> items) {
        super(context, owner, namespace, call, items);
    }

    @Override
    void joinEnded(BlockTransfer item, boolean serves, OperationReason whyNot) {
        if (serves && !isUseless()) {
            Page page = item.requirePage();
            item.on(page); // with the generation that serves
            context.pages().pin(operation, page);
            again(item);
        } else {
            item.failed(serves ? OperationReason.CANCELLED : whyNot);
        }
    }

    @Override
    void discardUncounted() {
        // each counts
    }

    @Override
    void answer() {
        context.ports().engines().read(call(), items.stream().map(item -> new BlockAnswer(item.done(), item.reason())).toList());
    }

    @Override
    void released() {
        // no lease
    }

    /** Reports the blocks that could have moved; a block that was on no tier of this node is left out. */
    @Override
    void reportEnd() {
        List<BlockResult> results = items.stream().filter(item -> item.page() != null).map(BlockTransfer::onDevice).toList();
        long bytes = movedBytes();
        long micros = durationMicros();
        if (anyDone()) {
            context.append("", e -> new LoadBackDone(e, operation, "", 0, namespace, results, bytes, micros));
        } else if (!results.isEmpty()) {
            OperationReason why = results.getFirst().reason();
            context.append("", e -> new LoadBackFailed(e, operation, "", 0, why, namespace, results));
        }
    }
}
