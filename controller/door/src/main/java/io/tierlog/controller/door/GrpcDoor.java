/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.door;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A door over gRPC: the port and its bounds. The services answer.
 *
 * <p>A virtual thread for each call. Bounded in message size, calls of a connection and idle time; how many calls wait is bounded by the
 * services. The price: no TLS of its own.
 */
public final class GrpcDoor implements AutoCloseable {
    /** Calls of one connection at once, where nothing speaks for another number. */
    public static final int CALLS_OF_A_CONNECTION = 32;

    private static final int METADATA_BYTES = 16 << 10;
    private static final int IDLE_MIN = 10;
    private static final int END_S = 2;

    private final Server server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * Listens at once.
     *
     * @param calls of one connection at once
     * @throws DoorException.CannotListen when the address is taken
     */
    public GrpcDoor(Listening where, List<BindableService> services, int calls) {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(where.endpoint().toSocketAddress())
                .executor(threads)
                .maxInboundMessageSize(where.limits().bodyBytes())
                .maxInboundMetadataSize(METADATA_BYTES)
                .maxConcurrentCallsPerConnection(calls)
                .maxConnectionIdle(IDLE_MIN, TimeUnit.MINUTES);
        services.forEach(service -> builder.addService(ServerInterceptors.intercept(service, GrpcCalls.AUTHORIZATION)));
        server = builder.build();
        try {
            server.start();
        } catch (IOException e) {
            threads.shutdownNow();
            throw new DoorException.CannotListen(where.option(), where.endpoint(), e.getCause() == null ? e : e.getCause());
        }
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
    }
}
