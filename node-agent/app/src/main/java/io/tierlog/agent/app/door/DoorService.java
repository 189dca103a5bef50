/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.agent.app.door.PendingCalls.Pending;
import io.tierlog.agent.app.door.PendingCalls.UnexpectedAnswerException;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.layout.LayoutFault;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.door.v1.Ack;
import io.tierlog.door.v1.CancelRequest;
import io.tierlog.door.v1.EngineDoorGrpc;
import io.tierlog.door.v1.EvictedRequest;
import io.tierlog.door.v1.FinishRequest;
import io.tierlog.door.v1.HealthReply;
import io.tierlog.door.v1.HealthRequest;
import io.tierlog.door.v1.LoadReply;
import io.tierlog.door.v1.LoadRequest;
import io.tierlog.door.v1.Notice;
import io.tierlog.door.v1.OpenRequest;
import io.tierlog.door.v1.Opened;
import io.tierlog.door.v1.PrefilledRequest;
import io.tierlog.door.v1.RegisterBuffersReply;
import io.tierlog.door.v1.RegisterBuffersRequest;
import io.tierlog.door.v1.SealedRequest;
import io.tierlog.door.v1.SubmitReply;
import io.tierlog.door.v1.SubmitRequest;
import io.tierlog.door.v1.Waiting;
import io.tierlog.schemas.Bytes;
import java.util.Map;
import java.util.function.Function;

/**
 * Every call of the door: checked, numbered, remembered, given to the core. The answer comes later through {@link DoorReplies}.
 *
 * <p>Called by gRPC's threads and never blocks them, but for the opening of an engine's memory.
 */
final class DoorService extends EngineDoorGrpc.EngineDoorImplBase {
    private final DoorServer.Wiring wiring;
    private final DoorLimits limits;
    private final DoorArguments arguments;
    private final DoorSessions sessions;
    private final PendingCalls pending;

    /** Makes the core's input of a call of a session. */
    private interface Maker {
        AgentInput make(long call, DoorSession session) throws BadArgumentException;
    }

    DoorService(DoorServer.Wiring wiring, DoorLimits limits, DoorSessions sessions, PendingCalls pending) {
        this.wiring = wiring;
        this.limits = limits;
        this.arguments = new DoorArguments(limits, wiring.blockBytes());
        this.sessions = sessions;
        this.pending = pending;
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
        DoorSession session = new DoorSession(sessions.newId(instance), stream, limits.queuedNotices());
        SessionEnds.End end = SessionEnds.current();
        if (!sessions.add(session)) {
            stream.onError(DoorErrors.of(Refusal.BUSY, limits.sessions() + " sessions are open already", true));
            return;
        }
        stream.setOnCancelHandler(() -> {
            session.gone();
            if (sessions.remove(session)) {
                wiring.posts().accept(new AgentInput.SessionClosed(session.id(), end.orderly()));
            }
        });
        long call = pending.nextNumber();
        give(call, new Opening(session), new AgentInput.SessionOpened(call, session.id(), instance));
    }

    /** Open is answered with the first notice; a refusal ends the stream. */
    private final class Opening implements Pending {
        private final DoorSession session;

        Opening(DoorSession session) {
            this.session = session;
        }

        @Override
        public void answer(Answer answer) {
            Opened opened = Opened.newBuilder()
                    .setSession(session.id())
                    .setNode(wiring.node())
                    .setBlockBytes(wiring.blockBytes())
                    .build();
            session.send(Notice.newBuilder().setOpened(opened).build());
        }

        @Override
        public void refuse(StatusRuntimeException status) {
            sessions.remove(session);
            session.end(status);
        }
    }

    @Override
    public void registerBuffers(RegisterBuffersRequest request, StreamObserver<RegisterBuffersReply> observer) {
        DoorSession session = sessions.find(request.getSession());
        if (session == null) {
            observer.onError(unknownSession());
            return;
        }
        EnginePool pool;
        try {
            arguments.buffers(request);
            DoorBuffers buffers = DoorBuffers.of(request, wiring.layouts());
            pool = wiring.pools().open(buffers.layout(), buffers.handles());
        } catch (BadArgumentException e) {
            observer.onError(bad(e));
            return;
        } catch (LayoutFault e) {
            observer.onError(DoorErrors.of(Refusal.BAD_ARGUMENT, String.valueOf(e.getMessage()), false));
            return;
        } catch (DeviceFault e) {
            observer.onError(DoorErrors.of(e));
            return;
        }
        long call = pending.nextNumber();
        ServerCallStreamObserver<RegisterBuffersReply> caller = (ServerCallStreamObserver<RegisterBuffersReply>) observer;
        // Not forgotten when the caller goes: the core may have taken the pool, and then its memory must be attached.
        caller.setOnCancelHandler(() -> {});
        give(call, new Registering(session, pool, caller), new AgentInput.BuffersRegistered(
                call,
                session.id(),
                request.getPages(),
                request.getBlockBytes(),
                Bytes.wrapUnshared(request.getLayoutDigest().toByteArray()),
                Map.copyOf(request.getConfigurationMap())));
    }

    /** The memory is attached when the core has taken the pool, before the engine hears of it. */
    private final class Registering implements Pending {
        private final DoorSession session;
        private final EnginePool pool;
        private final ServerCallStreamObserver<RegisterBuffersReply> caller;

        Registering(DoorSession session, EnginePool pool, ServerCallStreamObserver<RegisterBuffersReply> caller) {
            this.session = session;
            this.pool = pool;
            this.caller = caller;
        }

        @Override
        public void answer(Answer answer) {
            wiring.pools().attach(pool);
            session.devicePages(pool.blocks());
            caller.onNext(RegisterBuffersReply.newBuilder().setIncarnation(wiring.health().get().incarnation()).build());
            caller.onCompleted();
        }

        @Override
        public void refuse(StatusRuntimeException status) {
            pool.release();
            caller.onError(status);
        }
    }

    @Override
    public void submit(SubmitRequest request, StreamObserver<SubmitReply> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.submit(call, request), answer -> switch (answer) {
            case Answer.Offered offered -> SubmitReply.newBuilder().setOffer(Offers.encode(offered.offer())).build();
            case Answer.Waits waits -> SubmitReply.newBuilder().setWaiting(Waiting.getDefaultInstance()).build();
            case Answer.Loaded loaded -> throw new UnexpectedAnswerException();
            case Answer.Done done -> throw new UnexpectedAnswerException();
        });
    }

    @Override
    public void load(LoadRequest request, StreamObserver<LoadReply> observer) {
        Maker maker = (call, session) -> arguments.load(call, request, session.devicePages());
        unary(observer, request.getSession(), maker, answer -> switch (answer) {
            case Answer.Loaded loaded -> LoadReply.newBuilder().setLoaded(loaded.blocks()).setReason(loaded.reason()).build();
            case Answer.Offered offered -> throw new UnexpectedAnswerException();
            case Answer.Waits waits -> throw new UnexpectedAnswerException();
            case Answer.Done done -> throw new UnexpectedAnswerException();
        });
    }

    @Override
    public void prefilled(PrefilledRequest request, StreamObserver<Ack> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.prefilled(call, request), DoorService::ack);
    }

    @Override
    public void sealed(SealedRequest request, StreamObserver<Ack> observer) {
        Maker maker = (call, session) -> arguments.sealed(call, request, session.devicePages());
        unary(observer, request.getSession(), maker, DoorService::ack);
    }

    @Override
    public void finish(FinishRequest request, StreamObserver<Ack> observer) {
        unary(observer, request.getSession(), (call, session) -> arguments.finish(call, request), DoorService::ack);
    }

    @Override
    public void cancel(CancelRequest request, StreamObserver<Ack> observer) {
        Maker maker = (call, session) ->
                new AgentInput.Cancelled(call, arguments.attempt(request.getSession(), request.getRequest(), request.getAttempt()));
        unary(observer, request.getSession(), maker, DoorService::ack);
    }

    @Override
    public void evicted(EvictedRequest request, StreamObserver<Ack> observer) {
        Maker maker = (call, session) -> arguments.evicted(call, request, session.devicePages());
        unary(observer, request.getSession(), maker, DoorService::ack);
    }

    @Override
    public void health(HealthRequest request, StreamObserver<HealthReply> observer) {
        DoorHealth health = wiring.health().get();
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
        DoorSession found = sessions.find(session);
        if (found == null) {
            observer.onError(unknownSession());
            return;
        }
        long call = pending.nextNumber();
        AgentInput input;
        try {
            input = maker.make(call, found);
        } catch (BadArgumentException e) {
            observer.onError(bad(e));
            return;
        }
        ServerCallStreamObserver<R> caller = (ServerCallStreamObserver<R>) observer;
        caller.setOnCancelHandler(() -> pending.forget(call));
        give(call, PendingCalls.unary(caller, encode), input);
    }

    private void give(long call, Pending waiting, AgentInput input) {
        if (!pending.add(call, waiting)) {
            waiting.refuse(DoorErrors.of(Refusal.BUSY, limits.pendingCalls() + " calls wait for the agent already", true));
        } else if (!wiring.calls().test(input)) {
            pending.take(call).ifPresent(left -> left.refuse(DoorErrors.of(Refusal.BUSY, "the agent has too much to do", true)));
        }
    }

    private static Ack ack(Answer answer) {
        return switch (answer) {
            case Answer.Done done -> Ack.getDefaultInstance();
            case Answer.Offered offered -> throw new UnexpectedAnswerException();
            case Answer.Waits waits -> throw new UnexpectedAnswerException();
            case Answer.Loaded loaded -> throw new UnexpectedAnswerException();
        };
    }

    private static StatusRuntimeException bad(BadArgumentException e) {
        return DoorErrors.of(Refusal.BAD_ARGUMENT, String.valueOf(e.getMessage()), false);
    }

    private static StatusRuntimeException unknownSession() {
        return DoorErrors.of(Refusal.UNKNOWN_SESSION, "no such session: open one, and use the id of its first notice", false);
    }
}
