/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.tierlog.threads.Supervised;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A gRPC server: the port, TLS and limits. The services answer.
 *
 * <p>Each call has a virtual thread, except calls that never wait. Connections, message size, calls per connection and idle time are bounded here;
 * each service bounds its waiting calls.
 */
public final class GrpcServer implements AutoCloseable {
    /** Default of calls at once on one connection. */
    public static final int CALLS_PER_CONNECTION = 32;

    private static final int METADATA_BYTES = 16 << 10;
    private static final int IDLE_MIN = 10;
    private static final int END_S = 2;

    private final Server server;
    private final GrpcConnections connections;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(Supervised.tasks("grpc-call"));

    /**
     * Listens at once; every call may wait.
     *
     * @param calls of one connection at once
     * @throws ServerException.CannotListen when the address is in use, or not of this machine
     */
    public GrpcServer(Listener where, List<BindableService> services, int calls) {
        this(where, services, calls, Set.of());
    }

    /**
     * Listens at once.
     *
     * @param calls of one connection at once
     * @param waitless full names of methods that never wait: they run on the thread that reads their connection, which saves two thread switches for
     *     each message
     * @throws ServerException.CannotListen when the address is in use, or not of this machine
     */
    public GrpcServer(Listener where, List<BindableService> services, int calls, Set<String> waitless) {
        connections = new GrpcConnections(where.option(), GrpcConnections.MAX_CONNECTIONS);
        try {
            NettyServerBuilder builder = connections.limit(NettyServerBuilder.forAddress(where.endpoint().toSocketAddress()))
                    .executor(threads)
                    .callExecutor(executors(Set.copyOf(waitless)))
                    .maxInboundMessageSize(where.limits().bodyBytes())
                    .maxInboundMetadataSize(METADATA_BYTES)
                    .maxConcurrentCallsPerConnection(calls)
                    .maxConnectionIdle(IDLE_MIN, TimeUnit.MINUTES);
            GrpcTls.serve(builder, where.tls());
            services.forEach(service -> builder.addService(ServerInterceptors.intercept(service, GrpcCalls.AUTHORIZATION)));
            server = builder.build();
            server.start();
        } catch (IOException e) {
            throw cannotListen(where, e.getCause() == null ? e : e.getCause());
        } catch (IllegalArgumentException e) {
            throw cannotListen(where, e);
        }
    }

    private ServerException cannotListen(Listener where, Throwable why) {
        threads.shutdownNow();
        connections.close();
        return new ServerException.CannotListen(where.option(), where.endpoint(), why);
    }

    private ServerCallExecutorSupplier executors(Set<String> waitless) {
        return new ServerCallExecutorSupplier() {
            @Override
            public <Q, R> Executor getExecutor(ServerCall<Q, R> call, Metadata metadata) {
                return waitless.contains(call.getMethodDescriptor().getFullMethodName()) ? Runnable::run : threads;
            }
        };
    }

    /** The port it listens on. */
    public int port() {
        return server.getPort();
    }

    @Override
    public void close() {
        try {
            if (!server.shutdown().awaitTermination(END_S, TimeUnit.SECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
        connections.close();
    }
}
