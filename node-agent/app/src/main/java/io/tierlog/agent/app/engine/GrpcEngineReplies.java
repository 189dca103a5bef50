/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Status;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.engine.v1.Failed;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.Ready;
import io.tierlog.engine.v1.Released;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.function.Consumer;

/** What the core says to engines, given to gRPC. Called by the core's thread; never blocks, since gRPC queues what it is given. */
final class GrpcEngineReplies implements EngineReplies {
    private final EngineSessions sessions;
    private final PendingCalls pending;
    private final Consumer<AgentInput> posts;

    GrpcEngineReplies(EngineSessions sessions, PendingCalls pending, Consumer<AgentInput> posts) {
        this.sessions = sessions;
        this.pending = pending;
        this.posts = posts;
    }

    @Override
    public void offer(long call, Offer offer) {
        answer(call, new Answer.Offered(offer));
    }

    @Override
    public void waiting(long call) {
        answer(call, new Answer.Waits());
    }

    @Override
    public void loaded(long call, int loaded, String reason) {
        answer(call, new Answer.Loaded(loaded, reason));
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        answer(call, new Answer.Found(blocks));
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        answer(call, new Answer.Reserved(lease, leaseMs));
    }

    @Override
    public void missing(long call, int position) {
        pending.take(call).ifPresent(waiting -> waiting.refuse(EngineErrors.missing(position)));
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        answer(call, new Answer.Read(blocks));
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        answer(call, new Answer.Saved(blocks));
    }

    @Override
    public void failed(String session, String request, int attempt, List<Integer> pages, OperationReason reason) {
        Failed failed = Failed.newBuilder()
                .setRequest(request)
                .setAttempt(attempt)
                .addAllPages(pages)
                .setReason(BlockAnswers.reason(reason))
                .build();
        notice(session, Notice.newBuilder().setFailed(failed).build(), true);
    }

    @Override
    public void done(long call) {
        answer(call, new Answer.Done());
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        pending.take(call).ifPresent(waiting -> waiting.refuse(EngineErrors.of(refusal, detail, retry)));
    }

    @Override
    public void ready(String session, String request, int attempt, Offer offer) {
        Ready ready = Ready.newBuilder().setRequest(request).setAttempt(attempt).setOffer(Offers.encode(offer)).build();
        notice(session, Notice.newBuilder().setReady(ready).build(), false);
    }

    @Override
    public void released(String session, String request, int attempt, List<Integer> pages) {
        Released released = Released.newBuilder().setRequest(request).setAttempt(attempt).addAllPages(pages).build();
        notice(session, Notice.newBuilder().setReleased(released).build(), true);
    }

    private void answer(long call, Answer answer) {
        pending.take(call).ifPresent(waiting -> waiting.answer(answer));
    }

    /** {@code ranks} says whether every rank that has joined receives it too. */
    private void notice(String id, Notice notice, boolean ranks) {
        EngineSession session = sessions.find(id);
        if (session == null) {
            return;
        }
        boolean read = session.send(notice) && (!ranks || session.ranks().send(notice));
        if (!read && sessions.remove(session)) {
            session.end(Status.RESOURCE_EXHAUSTED.withDescription("a rank does not read its notices"));
            posts.accept(new AgentInput.SessionClosed(id, false));
        }
    }
}
