/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.tierlog.controller.http.GrpcTls;
import io.tierlog.events.Causes;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets of the engine API: a gRPC server for TCP, another for the Unix socket, one service behind both. A Netty server has one kind of channel,
 * and the kind for Unix sockets is Java's own, so that no native library is needed.
 *
 * <p>For one thread. Trade-off of the Unix socket: two threads of its own.
 */
final class EngineListeners {
    private static final Logger LOG = LoggerFactory.getLogger(EngineListeners.class);
    private static final int KEEP_ALIVE_S = 20;

    private final List<Server> servers = new ArrayList<>();
    private final List<EventLoopGroup> loops = new ArrayList<>();
    private final EngineAddress address;
    private final Tls tls;
    private final ServerServiceDefinition service;
    private final int messageBytes;
    private final TraceHeaders traces = new TraceHeaders();
    private Optional<SocketFile> file = Optional.empty();
    private @Nullable Server tcp;

    EngineListeners(EngineAddress address, Tls tls, ServerServiceDefinition service, int messageBytes) {
        this.address = address;
        this.tls = tls;
        this.service = service;
        this.messageBytes = messageBytes;
    }

    /**
     * Opens what the address names.
     *
     * @throws EngineServerException when the port is taken, or the socket cannot be opened; what was opened before is closed again by {@link #end}
     */
    void start() {
        try {
            if (address.port().isPresent()) {
                InetSocketAddress loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), address.port().getAsInt());
                tcp = start(GrpcTls.serve(NettyServerBuilder.forAddress(loopback), tls));
            }
            if (address.socket().isPresent()) {
                SocketFile socket = new SocketFile(address.socket().get());
                file = Optional.of(socket);
                NettyServerBuilder builder = NettyServerBuilder.forAddress(socket.bindAt())
                        .channelType(NioServerDomainSocketChannel.class)
                        .bossEventLoopGroup(loop("engine-socket-accept"))
                        .workerEventLoopGroup(loop("engine-socket"));
                start(builder);
                socket.publish();
            }
        } catch (IOException | UnsupportedOperationException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new EngineServerException("the engine API cannot listen: " + e.getMessage() + (cause == e ? "" : ": " + cause.getMessage()), e);
        }
    }

    private EventLoopGroup loop(String name) {
        EventLoopGroup loop = new NioEventLoopGroup(1, new DefaultThreadFactory(name, true));
        loops.add(loop);
        return loop;
    }

    private Server start(NettyServerBuilder builder) throws IOException {
        Server server = builder.directExecutor()
                .maxInboundMessageSize(messageBytes)
                .keepAliveTime(KEEP_ALIVE_S, TimeUnit.SECONDS)
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .addStreamTracerFactory(new SessionEnds())
                .intercept(traces)
                .addService(service)
                .build();
        servers.add(server);
        server.start();
        return server;
    }

    /** The TCP port; -1 when there is none, or before the start. */
    int port() {
        return tcp == null ? -1 : tcp.getPort();
    }

    /** Trace contexts of calls that were malformed, count. */
    long malformedTraces() {
        return traces.malformed();
    }

    /** Takes no new connections and calls. */
    void shutdown() {
        servers.forEach(Server::shutdown);
    }

    /** Waits so long for calls to end, ends them otherwise, and gives back the sockets. */
    void end(int seconds) {
        try {
            for (Server server : servers) {
                if (!server.shutdown().awaitTermination(seconds, TimeUnit.SECONDS)) {
                    server.shutdownNow();
                    server.awaitTermination(seconds, TimeUnit.SECONDS);
                }
            }
        } catch (InterruptedException e) {
            servers.forEach(Server::shutdownNow);
            Thread.currentThread().interrupt();
        }
        for (EventLoopGroup loop : loops) {
            var _ = loop.shutdownGracefully(0, seconds, TimeUnit.SECONDS);
        }
        try {
            if (file.isPresent()) {
                file.get().close();
            }
        } catch (IOException e) {
            LOG.warn("the socket of the engine API was not removed: {}", Causes.of(e));
        }
    }
}
