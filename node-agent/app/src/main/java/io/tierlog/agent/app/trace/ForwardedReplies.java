/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.OperationReason;
import java.util.List;

/** Passes every answer on; its subclasses look at some. */
class ForwardedReplies implements EngineReplies {
    private final EngineReplies replies;

    ForwardedReplies(EngineReplies replies) {
        this.replies = replies;
    }

    @Override
    public void offer(long call, Offer offer) {
        replies.offer(call, offer);
    }

    @Override
    public void waiting(long call) {
        replies.waiting(call);
    }

    @Override
    public void ready(String session, String request, int attempt, Offer offer) {
        replies.ready(session, request, attempt, offer);
    }

    @Override
    public void loaded(long call, int loaded, String reason) {
        replies.loaded(call, loaded, reason);
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        replies.refused(call, refusal, detail, retry);
    }

    @Override
    public void released(String session, String request, int attempt, List<Integer> pages) {
        replies.released(session, request, attempt, pages);
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        replies.found(call, blocks);
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        replies.reserved(call, lease, leaseMs);
    }

    @Override
    public void missing(long call, int position) {
        replies.missing(call, position);
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        replies.read(call, blocks);
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        replies.saved(call, blocks);
    }

    @Override
    public void failed(String session, String request, int attempt, List<Integer> pages, OperationReason reason) {
        replies.failed(session, request, attempt, pages, reason);
    }

    @Override
    public void done(long call) {
        replies.done(call);
    }
}
