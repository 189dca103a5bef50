/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A door over HTTP: finds the route, lets in who may come in, reads the body, answers with JSON, and turns every failure into a problem.
 *
 * <p>A virtual thread for each request, for some of them wait for seconds. Bounded by {@link HttpBounds} in connections and time, and by
 * {@link ServerLimits} in requests and bytes: a request too many is answered 503 with Retry-After. The price: no TLS of its own.
 */
public final class HttpServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);
    private static final int BACKLOG = 64;
    /** What is read of a body that is refused, so that whoever sends it gets to read why. */
    private static final int DRAIN_BYTES = 8 << 20;

    private final com.sun.net.httpserver.HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Route> routes;
    private final Tokens tokens;
    private final ServerLimits limits;
    private final ObjectMapper json;
    private final Semaphore requests;

    /**
     * Listens at once.
     *
     * @throws ServerException.CannotListen when the address is taken, or none of this machine
     */
    public HttpServer(Listener where, Tokens tokens, List<Route> routes) {
        this.tokens = tokens;
        this.routes = routes;
        limits = where.limits();
        json = JsonBody.mapper(limits);
        requests = new Semaphore(limits.requests());
        HttpBounds.set();
        try {
            server = com.sun.net.httpserver.HttpServer.create(where.endpoint().toSocketAddress(), BACKLOG);
        } catch (IOException | IllegalArgumentException e) {
            throw new ServerException.CannotListen(where.option(), where.endpoint(), e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** The port it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!requests.tryAcquire()) {
                Problem problem = new Problem(Problem.Kind.OVERLOADED, limits.requests() + " requests are in progress", "ask again in a moment");
                send(exchange, refused(problem, Map.of()), Problem.MEDIA_TYPE);
                return;
            }
            try {
                answer(exchange);
            } finally {
                requests.release();
            }
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        HttpResponse answer;
        String mediaType = Problem.MEDIA_TYPE;
        try {
            answer = answered(exchange);
            mediaType = "application/json";
        } catch (NoSuchMethod e) {
            answer = refused(e.problem, Map.of("Allow", e.allowed));
        } catch (Problem problem) {
            answer = refused(problem, Map.of());
        } catch (RuntimeException e) {
            LOG.error("{} {} failed", exchange.getRequestMethod(), exchange.getRequestURI(), e);
            answer = refused(new Problem(Problem.Kind.INTERNAL, e.toString(), "look at the log of this process, and report this"), Map.of());
        }
        send(exchange, answer, mediaType);
    }

    private static HttpResponse refused(Problem problem, Map<String, String> more) {
        Map<String, String> headers = new LinkedHashMap<>(more);
        if (problem.kind() == Problem.Kind.UNAUTHENTICATED) {
            headers.put("WWW-Authenticate", "Bearer");
        }
        if (problem.retryAfterS() > 0) {
            headers.put("Retry-After", String.valueOf(problem.retryAfterS()));
        }
        return new HttpResponse(problem.kind().status(), problem.toJson(), headers);
    }

    private HttpResponse answered(HttpExchange exchange) throws IOException, NoSuchMethod {
        URI uri = exchange.getRequestURI();
        Found found = find(exchange.getRequestMethod(), uri.getRawPath());
        // Before the body is read: who may not come in sends nothing.
        Caller caller = tokens.admit(exchange.getRequestHeaders().getFirst("Authorization"), found.route().role());
        JsonBody body = JsonBody.of(json, found.route().takesBody() ? body(exchange) : new byte[0]);
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        HttpRequest ask = new HttpRequest(new HttpRequest.Raw(caller, found.path(), uri.getRawQuery(), key), found.route(), body);
        return found.route().handler().apply(ask);
    }

    private record Found(Route route, Map<String, String> path) {}

    private Found find(String method, String rawPath) throws NoSuchMethod {
        List<String> allowed = routes.stream().filter(route -> matches(route, rawPath)).map(Route::method).toList();
        for (Route route : routes) {
            Map<String, String> path = route.method().equals(method) ? match(route, rawPath) : null;
            if (path != null) {
                return new Found(route, path);
            }
        }
        if (allowed.isEmpty()) {
            throw new Problem(Problem.Kind.UNKNOWN_PATH, "there is nothing at " + rawPath, "GET /v1/openapi.json has all paths");
        }
        String all = allowed.stream().sorted().collect(Collectors.joining(", "));
        throw new NoSuchMethod(new Problem(Problem.Kind.METHOD_NOT_ALLOWED, rawPath + " takes " + all + ", not " + method,
                "GET /v1/openapi.json has all methods"), all);
    }

    private static boolean matches(Route route, String rawPath) {
        return match(route, rawPath) != null;
    }

    private static @Nullable Map<String, String> match(Route route, String rawPath) {
        try {
            return route.match(rawPath);
        } catch (IllegalArgumentException e) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the path has a broken escape: " + e.getMessage(),
                    "encode it as a percent sign and two hexadecimal digits");
        }
    }

    /** The path is known, and not with this method. */
    private static final class NoSuchMethod extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Problem problem;
        private final String allowed;

        NoSuchMethod(Problem problem, String allowed) {
            super(problem.detail());
            this.problem = problem;
            this.allowed = allowed;
        }
    }

    private byte[] body(HttpExchange exchange) throws IOException {
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        InputStream in = exchange.getRequestBody();
        byte[] body = in.readNBytes(limits.bodyBytes() + 1);
        if (body.length > limits.bodyBytes()) {
            in.skipNBytes(Math.min(DRAIN_BYTES, Math.max(0, rest(exchange, body.length))));
            throw new Problem(Problem.Kind.BODY_TOO_LARGE, "the body has more than " + limits.bodyBytes() + " bytes",
                    "ask for less at once: several requests with fewer blocks each");
        }
        if (body.length > 0 && (type == null || !type.strip().toLowerCase(Locale.ROOT).startsWith("application/json"))) {
            throw new Problem(Problem.Kind.UNSUPPORTED_MEDIA_TYPE, "the body's Content-Type is " + (type == null ? "not given" : type),
                    "send JSON, with the header Content-Type: application/json");
        }
        return body;
    }

    /** Bytes of the body that were not read yet, as far as its length was announced. */
    private static long rest(HttpExchange exchange, int read) {
        String announced = exchange.getRequestHeaders().getFirst("Content-Length");
        try {
            return announced == null ? 0 : Long.parseLong(announced) - read;
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private void send(HttpExchange exchange, HttpResponse answer, String mediaType) throws IOException {
        byte[] bytes = bytes(answer);
        exchange.getResponseHeaders().set("Content-Type", mediaType);
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        answer.headers().forEach(exchange.getResponseHeaders()::set);
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(answer.status(), head ? -1 : bytes.length);
        if (!head) {
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(bytes);
            }
        }
    }

    private byte[] bytes(HttpResponse answer) throws JsonProcessingException {
        return json.writeValueAsBytes(answer.body());
    }
}
