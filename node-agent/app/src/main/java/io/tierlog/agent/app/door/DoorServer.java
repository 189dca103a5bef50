/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.tierlog.agent.app.Layouts;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.door.v1.Closing;
import io.tierlog.door.v1.Notice;
import io.tierlog.schemas.Layout;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The engine door: a gRPC server on loopback, for the engines of this node.
 *
 * <p>Safe for use by several threads. Calls become inputs of the core on gRPC's threads, without a hop; replies go out from the core's
 * thread. The price: whoever can open a socket on this machine can open a session; device memory is what the engine says it is.
 */
public final class DoorServer implements AutoCloseable {
    private static final int KEEP_ALIVE_S = 20;
    private static final int END_S = 2;

    /**
     * What the door stands between.
     *
     * @param node name of the node, told to engines
     * @param layouts what a block consists of; gives its size, at most 2^31 - 1 bytes
     * @param calls takes an engine's call; false when there is no room
     * @param posts takes the end of a session; always
     * @param pools where the memory of engines is opened and given to
     * @param health how the agent is
     */
    public record Wiring(
            String node,
            List<Layout> layouts,
            Predicate<AgentInput> calls,
            Consumer<AgentInput> posts,
            Pools pools,
            Supplier<DoorHealth> health) {
        /** Size of a block in bytes. */
        int blockBytes() {
            return Math.toIntExact(Layouts.blockBytes(layouts));
        }
    }

    /** The device side of the door. */
    public interface Pools {
        /**
         * Opens the memory of an engine.
         *
         * @param handles one for each region of the layout
         * @throws DeviceFault when the device does not have that memory
         */
        EnginePool open(KvLayout layout, List<MemoryHandle> handles) throws DeviceFault;

        /** The core has taken the pool: copies work on it from here on. */
        void attach(EnginePool pool);
    }

    private final DoorSessions sessions;
    private final PendingCalls pending;
    private final DoorReplies replies;
    private final Server server;

    /**
     * A door that is not open yet.
     *
     * @param port 0 for any free one
     */
    public DoorServer(int port, Wiring wiring, DoorLimits limits) {
        sessions = new DoorSessions(limits.sessions());
        pending = new PendingCalls(limits.pendingCalls());
        replies = new DoorReplies(sessions, pending, wiring.posts());
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .directExecutor()
                .maxInboundMessageSize(limits.messageBytes())
                .keepAliveTime(KEEP_ALIVE_S, TimeUnit.SECONDS)
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .addStreamTracerFactory(new SessionEnds())
                .addService(new DoorService(wiring, limits, sessions, pending))
                .build();
    }

    /**
     * Opens the door.
     *
     * @throws DoorException when the port is taken
     */
    public void start() {
        try {
            server.start();
        } catch (IOException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new DoorException("the engine door cannot be opened: " + e.getMessage() + ": " + cause.getMessage(), e);
        }
    }

    /** The port engines connect to. */
    public int port() {
        return server.getPort();
    }

    /** What the core answers through. */
    public EngineReplies replies() {
        return replies;
    }

    /** Says goodbye to every engine, refuses every call that waits, and closes. */
    public void close(String reason) {
        Notice closing = Notice.newBuilder().setClosing(Closing.newBuilder().setReason(reason)).build();
        server.shutdown();
        for (DoorSession session : sessions.all()) {
            if (sessions.remove(session)) {
                session.complete(closing);
            }
        }
        pending.refuseAll(DoorErrors.of(Refusal.CLOSING, reason, false));
        try {
            if (!server.awaitTermination(END_S, TimeUnit.SECONDS)) {
                server.shutdownNow();
                server.awaitTermination(END_S, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        close("the agent stops");
    }
}
