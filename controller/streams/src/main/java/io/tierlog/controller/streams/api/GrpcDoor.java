/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The operator's door over gRPC: the port and its bounds. {@link MigrateService} answers.
 *
 * <p>A virtual thread for each call. Bounded in message size, calls of a connection and idle time; how many calls wait is bounded by the
 * {@link Desk}, together with HTTP's. The price: no TLS of its own.
 */
final class GrpcDoor implements AutoCloseable {
    private static final int CALLS_OF_A_CONNECTION = 32;
    private static final int METADATA_BYTES = 16 << 10;
    private static final int IDLE_MIN = 10;
    private static final int END_S = 2;

    private final Server server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * Listens at once.
     *
     * @throws ApiException.CannotListen when the address is taken
     */
    GrpcDoor(ApiConfig.Endpoint endpoint, MigrateService service, ApiLimits limits) {
        server = NettyServerBuilder.forAddress(endpoint.toSocketAddress())
                .executor(threads)
                .maxInboundMessageSize(limits.bodyBytes())
                .maxInboundMetadataSize(METADATA_BYTES)
                .maxConcurrentCallsPerConnection(CALLS_OF_A_CONNECTION)
                .maxConnectionIdle(IDLE_MIN, TimeUnit.MINUTES)
                .addService(ServerInterceptors.intercept(service, MigrateService.AUTHORIZATION))
                .build();
        try {
            server.start();
        } catch (IOException e) {
            threads.shutdownNow();
            throw new ApiException.CannotListen("--grpc-listen", endpoint, e.getCause() == null ? e : e.getCause());
        }
    }

    /** The port it listens on. */
    int port() {
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

    /** An entry of text in a call's metadata. */
    static Metadata.Key<String> entry(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }
}
