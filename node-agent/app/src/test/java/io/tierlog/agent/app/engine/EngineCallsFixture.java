/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.StoreAnswer;
import io.tierlog.agent.core.port.EngineReplies.Whereabouts;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.OperationReason;
import java.util.Collections;
import java.util.List;

/**
 * The service of the engine API without sockets: what it takes as valid, a core answers at once. One session is always open. For one thread.
 */
public final class EngineCallsFixture implements AutoCloseable {
    /** Instance of the session. */
    public static final String INSTANCE = "gpu0";
    /** The session that is open. */
    public static final String SESSION = INSTANCE + "-0123456789abcdef";
    /** Size of a block in bytes. */
    public static final int BLOCK = 64;
    /** Pages of the session's pool. */
    public static final int PAGES = 8;

    private static final int SESSIONS = 8;
    private static final int PENDING = 64;

    private final EngineSessions sessions = new EngineSessions(SESSIONS);
    private final PendingCalls pending = new PendingCalls(PENDING);
    private final GrpcEngineReplies replies = new GrpcEngineReplies(sessions, pending, _ -> {});
    private final EmulatedDevice device = new EmulatedDevice("fixture", EmulatedDevice.Limits.DEFAULTS);
    private final List<Layout> layouts;
    private final ServerServiceDefinition service;

    /** @param ranks of the engine */
    public EngineCallsFixture(int ranks) {
        layouts = Layouts.onRanks(Layouts.opaque(BLOCK, 16), ranks);
        EngineServer.Wiring wiring = new EngineServer.Wiring("n", new AgreedLayouts(layouts, ranks), this::called, _ -> {}, new Memory(),
                () -> new EngineApiHealth(true, 1, 1, 0, 0, 0));
        service = ServerInterceptors.intercept(
                new EngineGrpcService(wiring, EngineApiLimits.DEFAULTS, sessions, pending), new TraceHeaders(), new Ends());
    }

    /** How streams end is known by a trace of gRPC's server, which a call without a socket does not have. */
    private static final class Ends implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String method = call.getMethodDescriptor().getFullMethodName();
            return Contexts.interceptCall(
                    new SessionEnds().newServerStreamTracer(method, headers).filterContext(Context.current()), call, headers, next);
        }
    }

    /** Memory of engines in real files; given back at once, since nothing is copied. */
    private final class Memory implements EngineServer.Pools {
        @Override
        public EnginePool open(List<KvLayout> asked, List<MemoryHandle> handles) throws DeviceFault {
            return EnginePool.open(device, asked, handles);
        }

        @Override
        public void attach(EnginePool pool) {
            pool.release();
        }
    }

    /** The service, with the session open. */
    public ServerServiceDefinition service() {
        EngineSession known = sessions.find(SESSION);
        if (known == null) {
            known = new EngineSession(SESSION, new TestCaller<>(), 1);
            sessions.add(known);
        }
        known.devicePages(PAGES);
        return service;
    }

    /** The digest of the layout that the agent has. */
    public byte[] layoutDigest() {
        return Layouts.layoutDigest(layouts).unshared().clone();
    }

    /** Open sessions but the one, and calls that wait: none once every call has ended. */
    public long left() {
        return sessions.all().stream().filter(session -> !session.id().equals(SESSION)).count() + pending.size();
    }

    private boolean called(AgentInput input) {
        switch (input) {
            case AgentInput.SessionOpened in -> replies.done(in.call());
            case AgentInput.BuffersRegistered in -> replies.done(in.call());
            case AgentInput.Submitted in -> replies.offer(in.call(), Offer.none(0, Offer.Reason.NOTHING_BELOW));
            case AgentInput.LoadCalled in -> replies.loaded(in.call(), in.blocks().size(), "");
            case AgentInput.ReadCalled in -> replies.read(in.call(), answers(in.blocks().size()));
            case AgentInput.ExistCalled in -> replies.found(
                    in.call(), Collections.nCopies(in.keys().size(), new Whereabouts(true, false, StoreAnswer.UNKNOWN)));
            case AgentInput.ReserveCalled in -> replies.reserved(in.call(), "lease", in.leaseMs());
            case AgentInput.LeaseReleased in -> replies.done(in.call());
            case AgentInput.Prefilled in -> replies.done(in.call());
            case AgentInput.Sealed in -> replies.done(in.call());
            case AgentInput.SaveCalled in -> replies.saved(in.call(), answers(in.blocks().size()));
            case AgentInput.Finished in -> replies.done(in.call());
            case AgentInput.Cancelled in -> replies.done(in.call());
            case AgentInput.DeviceEvicted in -> replies.done(in.call());
            default -> throw new IllegalStateException("no call of an engine: " + input);
        }
        return true;
    }

    private static List<BlockAnswer> answers(int blocks) {
        return Collections.nCopies(blocks, new BlockAnswer(true, OperationReason.COMPLETED));
    }

    @Override
    public void close() {
        pending.close();
        device.close();
    }
}
