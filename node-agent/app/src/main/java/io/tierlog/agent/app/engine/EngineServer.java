/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.Closing;
import io.tierlog.engine.v1.Notice;
import io.tierlog.tls.Tls;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The engine API: gRPC on loopback, on a Unix socket, or on both, for the engines of this node.
 *
 * <p>Safe for use by several threads. Calls become inputs of the core on gRPC's threads, without a hop; replies go out from the core's
 * thread. Trade-off: any process on this machine can open a session, unless the API has a Unix socket alone, which only its own user
 * can open; device memory is what the engine says it is.
 */
public final class EngineServer implements AutoCloseable {
    private static final int END_S = 2;

    /**
     * The collaborators of the server.
     *
     * @param node name of the node, which engines receive
     * @param agreed what engines must hand over; gives the size of a block, at most 2^31 - 1 bytes
     * @param calls takes an engine's call; false when its inbox is full
     * @param posts takes the end of a session; always
     * @param pools where the memory of engines is opened and given to
     * @param health how the agent is
     */
    public record Wiring(
            String node,
            AgreedLayouts agreed,
            Predicate<AgentInput> calls,
            Consumer<AgentInput> posts,
            Pools pools,
            Supplier<EngineApiHealth> health) {
        /** Size of a block in bytes. */
        int blockBytes() {
            return Math.toIntExact(Layouts.blockBytes(agreed.layouts()));
        }
    }

    /** The device side of the API. */
    public interface Pools {
        /**
         * Opens the memory of an engine.
         *
         * @param handles one for each region of the layout
         * @throws DeviceFault when the device does not have that memory
         */
        EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault;

        /** The core has taken the pool: copies work on it from here on. */
        void attach(EnginePool pool);
    }

    private final EngineSessions sessions;
    private final PendingCalls pending;
    private final GrpcEngineReplies replies;
    private final EngineListeners listeners;

    /**
     * A server that does not listen yet.
     *
     * @param address where it will be
     * @param tls of its port; a Unix socket has none
     * @param around what sees every call before the API does
     */
    public EngineServer(EngineAddress address, Tls tls, Wiring wiring, EngineApiLimits limits, ServerInterceptor... around) {
        sessions = new EngineSessions(limits.sessions());
        pending = new PendingCalls(limits.pendingCalls());
        replies = new GrpcEngineReplies(sessions, pending, wiring.posts());
        listeners = new EngineListeners(
                address, tls, ServerInterceptors.intercept(new EngineGrpcService(wiring, limits, sessions, pending), around), limits.messageBytes());
    }

    /**
     * Starts to listen.
     *
     * @throws EngineServerException when the port is taken, or the socket cannot be opened; the server must be closed all the same
     */
    public void start() {
        listeners.start();
    }

    /** The port engines connect to; -1 when the API has none. */
    public int port() {
        return listeners.port();
    }

    /** Calls that wait for the core's answer, count. */
    public int waitingCalls() {
        return pending.size();
    }

    /** Sessions that are open. */
    public int openSessions() {
        return sessions.size();
    }

    /** Trace contexts of Submit calls that were malformed, and so ignored, count. */
    public long malformedTraces() {
        return listeners.malformedTraces();
    }

    /** What the core answers through. */
    public EngineReplies replies() {
        return replies;
    }

    /** Says goodbye to every engine, refuses every call that waits, and closes. */
    public void close(String reason) {
        Notice closing = Notice.newBuilder().setClosing(Closing.newBuilder().setReason(reason)).build();
        listeners.shutdown();
        for (EngineSession session : sessions.all()) {
            if (sessions.remove(session)) {
                session.complete(closing);
            }
        }
        pending.refuseAll(EngineErrors.of(Refusal.CLOSING, reason, false));
        listeners.end(END_S);
        pending.close();
    }

    @Override
    public void close() {
        close("the agent stops");
    }
}
