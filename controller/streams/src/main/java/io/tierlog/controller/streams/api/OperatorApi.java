/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.GrpcServer;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.TokenMetrics;
import io.tierlog.controller.http.Tokens;
import io.tierlog.events.Closers;
import io.tierlog.tls.Tls;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operator API of a controller instance: HTTP, optional gRPC, and the committed state behind both. Safe for use by several threads.
 *
 * <p>It does not use Kafka Streams: it writes to the events topic like every other sender, and reads what the controller has committed. So it
 * answers for all partitions, whichever instance owns them, and returns NOT_READY until it has read the state.
 */
public final class OperatorApi implements AutoCloseable {

    private final Closers closers = new Closers();
    private @Nullable ChangelogReader feed;
    private int port;
    private int grpcPort = -1;

    private OperatorApi() {}

    /**
     * Starts the API.
     *
     * @param tls of its listeners
     * @param metrics that count refusals
     * @throws io.tierlog.controller.http.ServerException when a port is taken, or the tokens cannot be used; nothing is left open
     */
    public static OperatorApi start(LogAccess log, ApiConfig config, Tls tls, PrometheusRegistry metrics) {
        OperatorApi api = new OperatorApi();
        try {
            api.open(log, config, tls, metrics);
            return api;
        } catch (RuntimeException | Error e) {
            api.close();
            throw e;
        }
    }

    private void open(LogAccess log, ApiConfig config, Tls tls, PrometheusRegistry metrics) {
        Tokens tokens = closers.add("tokens", Tokens.of(config.access(), tls));
        TokenMetrics.register(tokens, metrics);
        CommittedState view = new CommittedState(log, config.limits());
        feed = closers.add("changelog reader", new ChangelogReader(log, view));
        OperatorLog writer = closers.add("operator log", new OperatorLog(log));
        OperatorRequests requests = new OperatorRequests(view, writer, config.limits());
        Listener where = new Listener("--api-listen", config.listen(), config.limits().server(), tls);
        HttpServer http = new HttpServer(where, tokens, new OperatorRoutes(view, requests, config.limits()).all());
        port = closers.add("HTTP server", http).port();
        config.grpc().ifPresent(endpoint -> {
            GrpcServer grpc = new GrpcServer(new Listener("--grpc-listen", endpoint, config.limits().server(), tls),
                    List.of(new MigrateService(tokens, view, requests, config.limits())), GrpcServer.CALLS_PER_CONNECTION);
            grpcPort = closers.add("gRPC server", grpc).port();
        });
        feed.start();
    }

    /** How its reader of the state is. */
    public HealthParts.State state() {
        ChangelogReader reader = feed;
        return reader == null ? HealthParts.State.WELL : reader.state();
    }

    /** The port of HTTP. */
    public int port() {
        return port;
    }

    /** The port of gRPC; -1 when there is none. */
    public int grpcPort() {
        return grpcPort;
    }

    @Override
    public void close() {
        closers.close();
    }
}
