/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.exporter.common.PrometheusHttpExchange;
import io.prometheus.metrics.exporter.common.PrometheusHttpRequest;
import io.prometheus.metrics.exporter.common.PrometheusHttpResponse;
import io.prometheus.metrics.exporter.common.PrometheusScrapeHandler;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.function.Supplier;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * Serves {@code /metrics} (Prometheus) and {@code /health} (JSON; 200 while the instance works, 503 otherwise) on a port of its own, so both answer
 * while
 * the API's port is full. Trade-off: no authentication, so the operator chooses the address.
 */
public final class StatusServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** Enough for several scrapers; a slow one is closed after 10 s. */
    private static final ServerLimits LIMITS = new ServerLimits(1_024, 4, 16, new ServerLimits.Clients(64, 16 << 10, 10_000, 30_000));

    private final JettyServer server;
    private final PrometheusScrapeHandler metrics;
    private final Supplier<Report> health;

    /**
     * State of an instance.
     *
     * @param working whether it works
     * @param body the answer to {@code /health}
     */
    public record Report(boolean working, ObjectNode body) {}

    /**
     * Listens at once.
     *
     * @param tls of the process, whose state is among the metrics
     * @throws ServerException.CannotListen when the address is taken
     */
    public StatusServer(String option, Endpoint endpoint, Tls tls, PrometheusRegistry metrics, Supplier<Report> health) {
        this.metrics = new PrometheusScrapeHandler(metrics);
        this.health = health;
        TlsMetrics.register(tls, metrics);
        server = new JettyServer(new Listener(option, endpoint, LIMITS, tls.of(TlsFiles.Plain.STATUS)), "tierlog-status", this::answer);
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }

    private void answer(Request request, Response response) throws IOException {
        switch (request.getHttpURI().getPath()) {
            case "/metrics" -> metrics.handleRequest(new Scrape(request, response));
            case "/health" -> {
                Report report = health.get();
                JettyServer.send(response, report.working() ? 200 : 503, "application/json", JSON.writeValueAsBytes(report.body()));
            }
            default -> JettyServer.send(response, 404, "text/plain", "GET /metrics or /health\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** A request for metrics as the exporter wants it. */
    private record Scrape(Request request, Response response) implements PrometheusHttpExchange, PrometheusHttpRequest, PrometheusHttpResponse {
        @Override
        public PrometheusHttpRequest getRequest() {
            return this;
        }

        @Override
        public PrometheusHttpResponse getResponse() {
            return this;
        }

        @Override
        public String getQueryString() {
            String query = request.getHttpURI().getQuery();
            return query == null ? "" : query;
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return request.getHeaders().getValues(name);
        }

        @Override
        public String getMethod() {
            return request.getMethod();
        }

        @Override
        public String getRequestPath() {
            return request.getHttpURI().getPath();
        }

        @Override
        public void setHeader(String name, String value) {
            response.getHeaders().put(name, value);
        }

        @Override
        public OutputStream sendHeadersAndGetBody(int status, int contentLength) {
            response.setStatus(status);
            if (contentLength > 0) {
                response.getHeaders().put("Content-Length", contentLength);
            }
            return Content.Sink.asOutputStream(response);
        }

        @Override
        public void handleException(IOException e) throws IOException {
            throw e;
        }

        @Override
        public void handleException(RuntimeException e) {
            throw e;
        }

        @Override
        public void close() {
            // The server completes the response.
        }
    }
}
