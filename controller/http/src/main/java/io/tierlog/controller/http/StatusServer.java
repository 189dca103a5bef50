/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.exporter.httpserver.MetricsHandler;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Serves {@code /metrics} (Prometheus) and {@code /health} (JSON; 200 while the instance does its work, 503 otherwise).
 * Bounded: two threads, a short queue, what is more is refused. The price: no authentication, so it listens where the operator says.
 */
public final class StatusServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int THREADS = 2;
    private static final int QUEUE = 16;

    private final HttpServer server;
    private final ExecutorService workers;
    private final Supplier<Report> health;

    /**
     * How an instance is.
     *
     * @param working whether it does its work
     * @param body what is told of it
     */
    public record Report(boolean working, ObjectNode body) {}

    /**
     * Listens at once.
     *
     * @throws ServerException.CannotListen when the address is taken
     */
    public StatusServer(String option, Endpoint endpoint, PrometheusRegistry metrics, Supplier<Report> health) {
        this.health = health;
        HttpBounds.set();
        try {
            server = HttpServer.create(endpoint.toSocketAddress(), QUEUE);
        } catch (IOException | IllegalArgumentException e) {
            throw new ServerException.CannotListen(option, endpoint, e);
        }
        workers = new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), task -> {
            Thread thread = new Thread(task, "tierlog-status-http");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(workers);
        server.createContext("/metrics", new MetricsHandler(metrics));
        server.createContext("/health", this::answerHealth);
        server.start();
    }

    /** The port it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
    }

    private void answerHealth(HttpExchange exchange) throws IOException {
        Report report = health.get();
        byte[] bytes = JSON.writeValueAsBytes(report.body());
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(report.working() ? 200 : 503, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }
}
