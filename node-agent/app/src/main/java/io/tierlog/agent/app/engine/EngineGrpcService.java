/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.agent.app.engine.PendingCalls.Pending;
import io.tierlog.agent.app.engine.PendingCalls.UnexpectedAnswerException;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.request.PromptBound;
import io.tierlog.engine.v1.Ack;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.CancelRequest;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.ExistReply;
import io.tierlog.engine.v1.ExistRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.HealthReply;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.JoinRequest;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.Opened;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.ReadReply;
import io.tierlog.engine.v1.ReadRequest;
import io.tierlog.engine.v1.RegisterBuffersReply;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.Registered;
import io.tierlog.engine.v1.ReleaseRequest;
import io.tierlog.engine.v1.ReserveReply;
import io.tierlog.engine.v1.ReserveRequest;
import io.tierlog.engine.v1.SaveReply;
import io.tierlog.engine.v1.SaveRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.engine.v1.Waiting;
import io.tierlog.schemas.Bytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * Every call of the engine API: checked, numbered, remembered, given to the core. The answer comes later through {@link GrpcEngineReplies}.
 *
 * <p>Called by gRPC's threads and never blocks them, but for the opening of an engine's memory.
 */
final class EngineGrpcService extends EngineServiceGrpc.EngineServiceImplBase {
    private final EngineServer.Wiring wiring;
    private final EngineApiLimits limits;
    private final EngineArguments arguments;
    private final EngineSessions sessions;
    private final PendingCalls pending;
    private final RankedCalls rankedCalls;

    /** Makes the core's input of a call of a session. */
    private interface Maker {
        AgentInput make(long call, EngineSession session) throws BadArgumentException;
    }

    /** The core's input of one call. */
    private interface Input {
        AgentInput make() throws BadArgumentException;
    }

    EngineGrpcService(EngineServer.Wiring wiring, EngineApiLimits limits, EngineSessions sessions, PendingCalls pending) {
        this.wiring = wiring;
        this.limits = limits;
        this.arguments = new EngineArguments(limits, wiring.blockBytes());
        this.sessions = sessions;
        this.pending = pending;
        this.rankedCalls = new RankedCalls(limits.pendingCalls());
    }

    @Override
    public void open(OpenRequest request, StreamObserver<Notice> observer) {
        ServerCallStreamObserver<Notice> stream = (ServerCallStreamObserver<Notice>) observer;
        String instance;
        try {
            instance = arguments.instance(request);
        } catch (BadArgumentException e) {
            stream.onError(bad(e));
            return;
        }
        EngineSession session = new EngineSession(sessions.newId(instance), stream, limits.queuedNotices());
        SessionEnds.End end = SessionEnds.current();
        if (!sessions.add(session)) {
            stream.onError(EngineErrors.of(Refusal.BUSY, limits.sessions() + " sessions are open already", true));
            return;
        }
        stream.setOnCancelHandler(() -> {
            session.gone();
            if (sessions.remove(session)) {
                wiring.posts().accept(new AgentInput.SessionClosed(session.id(), end.orderly()));
            }
        });
        long call = pending.nextNumber();
        // The core may open it all the same, and then only this service knows that it is over.
        Departure late = new Departure(() -> wiring.posts().accept(new AgentInput.SessionClosed(session.id(), false)));
        Pending opening = new Opening(session);
        AgentInput input = new AgentInput.SessionOpened(call, session.id(), instance);
        // The stream has no end of its own, but its first notice has.
        pass(call, opening, input, pending.add(call, opening, limits.callMs(), () -> expire(call, late)));
        late.passed();
    }

    /** Open is answered with the first notice; a refusal ends the stream. */
    private final class Opening implements Pending {
        private final EngineSession session;

        Opening(EngineSession session) {
            this.session = session;
        }

        @Override
        public void answer(Answer answer) {
            session.send(opened(session));
        }

        @Override
        public void refuse(StatusRuntimeException status) {
            sessions.remove(session);
            session.end(status);
        }
    }

    @Override
    public void registerBuffers(RegisterBuffersRequest request, StreamObserver<RegisterBuffersReply> observer) {
        if (isLate()) {
            observer.onError(EngineErrors.expired("the deadline of the call had passed when it came; nothing was begun"));
            return;
        }
        EngineSession session = sessions.find(request.getSession());
        if (session == null) {
            observer.onError(EngineErrors.unknownSession());
            return;
        }
        ServerCallStreamObserver<RegisterBuffersReply> caller = (ServerCallStreamObserver<RegisterBuffersReply>) observer;
        // Not forgotten when the caller goes: the core may have taken the pool, and then its memory must be attached.
        caller.setOnCancelHandler(() -> {});
        register(request, session, new Registrant() {
            @Override
            public void accepted() {
                caller.onNext(RegisterBuffersReply.newBuilder().setIncarnation(wiring.health().get().incarnation()).build());
                caller.onCompleted();
            }

            @Override
            public void refused(StatusRuntimeException status) {
                caller.onError(status);
            }
        });
    }

    /** Who receives the outcome of a registration; one of the two, once. */
    private interface Registrant {
        void accepted();

        void refused(StatusRuntimeException status);
    }

    private void register(RegisterBuffersRequest request, EngineSession session, Registrant registrant) {
        EnginePool pool;
        try {
            arguments.buffers(request);
            EngineBuffers buffers = EngineBuffers.of(request, wiring.agreed());
            pool = wiring.pools().open(buffers.layouts(), buffers.handles());
        } catch (BadArgumentException e) {
            registrant.refused(bad(e));
            return;
        } catch (LayoutFault e) {
            registrant.refused(EngineErrors.of(Refusal.BAD_ARGUMENT, String.valueOf(e.getMessage()), false));
            return;
        } catch (DeviceFault e) {
            registrant.refused(EngineErrors.of(e));
            return;
        }
        long call = pending.nextNumber();
        Registering registering = new Registering(session, pool, registrant);
        AgentInput input = new AgentInput.BuffersRegistered(
                call,
                session.id(),
                request.getPages(),
                request.getBlockBytes(),
                Bytes.wrapUnshared(request.getLayoutDigest().toByteArray()),
                Map.copyOf(request.getConfigurationMap()));
        boolean watched = Context.current().getDeadline() == null;
        pass(call, registering, input, watched
                ? pending.add(call, registering, limits.callMs(), registering::late)
                : pending.add(call, registering));
    }

    /** The memory is attached when the core has taken the pool, before the engine receives the reply. */
    private final class Registering implements Pending {
        private final EngineSession session;
        private final EnginePool pool;
        private final Registrant registrant;
        private final AtomicBoolean answered = new AtomicBoolean();

        Registering(EngineSession session, EnginePool pool, Registrant registrant) {
            this.session = session;
            this.pool = pool;
            this.registrant = registrant;
        }

        @Override
        public void answer(Answer answer) {
            wiring.pools().attach(pool);
            session.devicePages(pool.blocks());
            if (answered.compareAndSet(false, true)) {
                registrant.accepted();
            }
        }

        @Override
        public void refuse(StatusRuntimeException status) {
            pool.release();
            if (answered.compareAndSet(false, true)) {
                registrant.refused(status);
            }
        }

        /** The caller receives EXPIRED; the core's answer still counts. */
        void late() {
            if (answered.compareAndSet(false, true)) {
                registrant.refused(EngineErrors.expired("no answer within " + limits.callMs() + " ms; register again to learn its outcome"));
            }
        }
    }

    @Override
    public void join(JoinRequest request, StreamObserver<Notice> observer) {
        ServerCallStreamObserver<Notice> stream = (ServerCallStreamObserver<Notice>) observer;
        EngineSession session = request.getInstance().isEmpty()
                ? sessions.find(request.getBuffers().getSession())
                : sessions.ofInstance(request.getInstance());
        if (session == null) {
            stream.onError(EngineErrors.of(Refusal.UNKNOWN_SESSION, "the instance has no session yet: open one, then join again", true));
            return;
        }
        EngineSession rank = new EngineSession(session.id(), stream, limits.queuedNotices());
        stream.setOnCancelHandler(() -> {
            rank.gone();
            if (session.ranks().remove(rank) && session.devicePages() > 0) {
                end(session, "rank " + request.getRank() + " has left, and its memory with it");
            }
        });
        int ranks = wiring.agreed().ranks();
        Optional<StatusRuntimeException> refused = session.ranks().add(request, rank, ranks);
        if (refused.isPresent()) {
            stream.onError(refused.get());
        } else if (session.ranks().completes(ranks)) {
            registerRanks(session);
        }
    }

    private void registerRanks(EngineSession session) {
        ByteString agreed = ByteString.copyFrom(Layouts.layoutDigest(wiring.agreed().layouts()).unshared());
        RegisterBuffersRequest all = session.ranks().merged(session.id(), agreed, wiring.blockBytes());
        register(all, session, new Registrant() {
            @Override
            public void accepted() {
                String layout = session.ranks().layout();
                boolean reads = session.ranks().send(opened(session));
                Registered registered = Registered.newBuilder().setPages(all.getPages()).setLayout(layout).build();
                if (!session.ranks().complete(wiring.agreed().ranks()) || !reads
                        || !session.send(Notice.newBuilder().setRegistered(registered).build())) {
                    end(session, "a rank has left, and its memory with it");
                }
            }

            @Override
            public void refused(StatusRuntimeException status) {
                session.ranks().end(status);
            }
        });
    }

    private Notice opened(EngineSession session) {
        Opened opened = Opened.newBuilder()
                .setSession(session.id())
                .setNode(wiring.node())
                .setBlockBytes(wiring.blockBytes())
                .setPromptBlocks(limits.promptBlocks())
                .setCallBlocks(limits.blocksPerCall())
                .build();
        return Notice.newBuilder().setOpened(opened).build();
    }

    private void end(EngineSession session, String why) {
        if (sessions.remove(session)) {
            session.end(Status.ABORTED.withDescription(why));
            wiring.posts().accept(new AgentInput.SessionClosed(session.id(), false));
        }
    }

    /** The observer that answers every rank, when all have made the call; nothing while ranks are missing. */
    private <R> Optional<ServerCallStreamObserver<R>> everyRank(
            Message call, String session, boolean ranked, int rank, StreamObserver<R> observer) {
        ServerCallStreamObserver<R> caller = (ServerCallStreamObserver<R>) observer;
        return ranked
                ? rankedCalls.called(call, rank, wiring.agreed().ranks(), sessions.find(session) != null, caller)
                : Optional.of(caller);
    }

    @Override
    public void submit(SubmitRequest request, StreamObserver<SubmitReply> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.submit(call, request, session.devicePages(), TraceHeaders.current()),
                answer -> submitReply(answer, PromptBound.taken(0, request.getKeysCount(), limits.promptBlocks())));
    }

    @Override
    public void exist(ExistRequest request, StreamObserver<ExistReply> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.exist(call, request),
                answer -> Existence.encode(expect(Answer.Found.class, answer)));
    }

    @Override
    public void reserve(ReserveRequest request, StreamObserver<ReserveReply> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.reserve(call, request), answer -> {
            Answer.Reserved reserved = expect(Answer.Reserved.class, answer);
            return ReserveReply.newBuilder().setLease(reserved.lease()).setLeaseMs(reserved.leaseMs()).build();
        });
    }

    @Override
    public void release(ReleaseRequest request, StreamObserver<Ack> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.release(call, request), EngineGrpcService::ack);
    }

    @Override
    public void load(LoadRequest request, StreamObserver<LoadReply> observer) {
        Maker maker = (number, session) -> {
            try {
                return arguments.load(number, request, session.devicePages());
            } catch (BadArgumentException e) {
                // As for what the core refuses: nothing stays pinned for a load that never comes. No caller waits for an answer to this.
                wiring.posts().accept(new AgentInput.LeaseReleased(number, session.id(), request.getLease()));
                throw e;
            }
        };
        Attempt attempt = new Attempt(request.getSession(), request.getRequest(), request.getAttempt());
        Message call = request.toBuilder().clearRank().build();
        everyRank(call, request.getSession(), request.hasRank(), request.getRank(), observer)
                .ifPresent(all -> unary(all, request.getSession(), maker, answer -> {
                    Answer.Loaded loaded = expect(Answer.Loaded.class, answer);
                    return LoadReply.newBuilder().setLoaded(loaded.blocks()).setReason(loaded.reason()).build();
                }, number -> new AgentInput.CallGone(number, attempt, pages(request.getBlocksList()))));
    }

    @Override
    public void prefilled(PrefilledRequest request, StreamObserver<Ack> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.prefilled(call, request), EngineGrpcService::ack);
    }

    @Override
    public void sealed(SealedRequest request, StreamObserver<Ack> observer) {
        Maker maker = (number, session) -> arguments.sealed(number, request, session.devicePages());
        Message call = request.toBuilder().clearRank().build();
        everyRank(call, request.getSession(), request.hasRank(), request.getRank(), observer)
                .ifPresent(all -> unary(all, request.getSession(), maker, answer -> {
                    int first = request.getBlocksCount() == 0 ? 0 : request.getBlocks(0).getIndex();
                    int taken = PromptBound.taken(first, request.getBlocksCount(), limits.promptBlocks());
                    return ack(answer).toBuilder().setTakenBlocks(taken).build();
                }));
    }

    @Override
    public void read(ReadRequest request, StreamObserver<ReadReply> observer) {
        Maker maker = (call, session) -> arguments.read(call, request, session.devicePages());
        Attempt outside = new Attempt(request.getSession(), "", 0);
        unary(observer, request.getSession(), maker, answer -> {
            Answer.Read read = expect(Answer.Read.class, answer);
            return ReadReply.newBuilder().addAllBlocks(BlockAnswers.encode(read.blocks())).build();
        }, call -> new AgentInput.CallGone(call, outside, pages(request.getBlocksList())));
    }

    private static List<Integer> pages(List<BlockPage> blocks) {
        return blocks.stream().map(BlockPage::getPage).toList();
    }

    @Override
    public void save(SaveRequest request, StreamObserver<SaveReply> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.save(call, request, session.devicePages()),
                answer -> SaveReply.newBuilder().addAllBlocks(BlockAnswers.encode(expect(Answer.Saved.class, answer).blocks())).build());
    }

    @Override
    public void finish(FinishRequest request, StreamObserver<Ack> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.finish(call, request), EngineGrpcService::ack);
    }

    @Override
    public void cancel(CancelRequest request, StreamObserver<Ack> observer) {
        Maker maker = (call, session) ->
                new AgentInput.Cancelled(call, arguments.attempt(request.getSession(), request.getRequest(), request.getAttempt()));
        unary(observer, request.getSession(), maker, EngineGrpcService::ack);
    }

    @Override
    public void evicted(EvictedRequest request, StreamObserver<Ack> observer) {
        Maker maker = (call, session) -> arguments.evicted(call, request, session.devicePages());
        unary(observer, request.getSession(), maker, EngineGrpcService::ack);
    }

    @Override
    public void health(HealthRequest request, StreamObserver<HealthReply> observer) {
        EngineApiHealth health = wiring.health().get();
        observer.onNext(HealthReply.newBuilder()
                .setOnTheLog(health.onTheLog())
                .setIncarnation(health.incarnation())
                .setHostFreeBlocks(health.hostFreeBlocks())
                .setDiskFreeBlocks(health.diskFreeBlocks())
                .setWaitingRequests(health.waitingRequests())
                .setActiveOperations(health.activeOperations())
                .build());
        observer.onCompleted();
    }

    private <R> void unary(StreamObserver<R> observer, String session, Maker maker, Function<Answer, R> encode) {
        unary(observer, session, maker, encode, AgentInput.CallGone::new);
    }

    /** {@code gone} reports to the core that no caller received, or will receive, the outcome of the call, whatever it was. */
    private <R> void unary(
            StreamObserver<R> observer, String session, Maker maker, Function<Answer, R> encode, LongFunction<AgentInput> gone) {
        ServerCallStreamObserver<R> caller = (ServerCallStreamObserver<R>) observer;
        EngineSession found = sessions.find(session);
        long call = pending.nextNumber();
        Departure departure = new Departure(() -> wiring.posts().accept(gone.apply(call)));
        caller.setOnCancelHandler(() -> {
            pending.take(call);
            departure.gone();
        });
        if (isLate()) {
            caller.onError(EngineErrors.expired("the deadline of the call had passed when it came; nothing was begun"));
            departure.gone();
        } else if (found == null) {
            caller.onError(EngineErrors.unknownSession());
        } else {
            give(call, PendingCalls.unary(caller, encode), () -> maker.make(call, found), departure);
        }
        departure.passed();
    }

    /** The API's own deadline for a call that brought none. */
    private void expire(long call, Departure departure) {
        pending.take(call).ifPresent(waiting -> {
            waiting.refuse(EngineErrors.expired("no answer within " + limits.callMs() + " ms, the API's own deadline for a call that brings none"));
            departure.gone();
        });
    }

    private static boolean isLate() {
        Deadline deadline = Context.current().getDeadline();
        return Context.current().isCancelled() || (deadline != null && deadline.isExpired());
    }

    private void give(long call, Pending waiting, Input made, Departure departure) {
        AgentInput input;
        try {
            input = made.make();
        } catch (BadArgumentException e) {
            waiting.refuse(bad(e));
            return;
        }
        boolean added = Context.current().getDeadline() == null
                ? pending.add(call, waiting, limits.callMs(), () -> expire(call, departure))
                : pending.add(call, waiting);
        pass(call, waiting, input, added);
    }

    private void pass(long call, Pending waiting, AgentInput input, boolean added) {
        if (!added) {
            waiting.refuse(EngineErrors.of(Refusal.BUSY, limits.pendingCalls() + " calls wait for the agent already", true));
        } else if (!wiring.calls().test(input)) {
            pending.take(call).ifPresent(left -> left.refuse(EngineErrors.of(Refusal.BUSY, "the agent has too much to do", true)));
        }
    }

    private static SubmitReply submitReply(Answer answer, int taken) {
        SubmitReply.Builder reply = SubmitReply.newBuilder().setTakenBlocks(taken);
        return answer instanceof Answer.Waits
                ? reply.setWaiting(Waiting.getDefaultInstance()).build()
                : reply.setOffer(Offers.encode(expect(Answer.Offered.class, answer).offer())).build();
    }

    private static Ack ack(Answer answer) {
        expect(Answer.Done.class, answer);
        return Ack.getDefaultInstance();
    }

    private static <A extends Answer> A expect(Class<A> type, Answer answer) {
        if (!type.isInstance(answer)) {
            throw new UnexpectedAnswerException();
        }
        return type.cast(answer);
    }

    private static StatusRuntimeException bad(BadArgumentException e) {
        return EngineErrors.of(Refusal.BAD_ARGUMENT, String.valueOf(e.getMessage()), false);
    }
}
