/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.exporter.httpserver.MetricsHandler;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.core.Core;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Serves {@code /metrics} (Prometheus) and {@code /health} (JSON; 200 while the instance decides, 503 otherwise).
 * Bounded: two threads, a short queue, what is more is refused. The price: no authentication, so it listens where the operator says.
 */
final class StatusServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int THREADS = 2;
    private static final int QUEUE = 16;

    private final HttpServer server;
    private final ExecutorService workers;
    private final Health health;
    private final String instance;

    /**
     * Listens at once.
     *
     * @throws ControllerException.CannotListen when the address is taken
     */
    StatusServer(ControllerConfig.HttpAddress address, PrometheusRegistry metrics, Health health, String instance) {
        this.health = health;
        this.instance = instance;
        try {
            server = HttpServer.create(new InetSocketAddress(address.host(), address.port()), QUEUE);
        } catch (IOException | IllegalArgumentException e) {
            throw new ControllerException.CannotListen(address, e);
        }
        workers = new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), task -> {
            Thread thread = new Thread(task, "tierlog-controller-http");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(workers);
        server.createContext("/metrics", new MetricsHandler(metrics));
        server.createContext("/health", this::answerHealth);
        server.start();
    }

    /** The port it listens on. */
    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
    }

    private void answerHealth(HttpExchange exchange) throws IOException {
        Health.State state = health.state();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("state", state.name());
        body.put("detail", health.detail());
        body.put("instance", instance);
        body.put("coreVersion", Core.VERSION);
        byte[] bytes = JSON.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(state == Health.State.RUNNING ? 200 : 503, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }
}
