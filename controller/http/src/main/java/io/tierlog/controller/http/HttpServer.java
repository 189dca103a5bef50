/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP API: finds the route, checks the token, reads the body, answers with JSON, and turns every failure into problem details (RFC 9457).
 *
 * <p>Each request has a virtual thread, since some wait for seconds. {@link ServerLimits} bounds connections, requests, bytes and time: a request too
 * many gets 503 with Retry-After.
 */
public final class HttpServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);
    /** Bytes read of a body that is refused, so that its sender gets to read why. */
    private static final int DRAIN_BYTES = 8 << 20;
    private static final int PIECE_BYTES = 16 << 10;

    private final JettyServer server;
    private final List<Route> routes;
    private final Map<String, Page> pages;
    private final Tokens tokens;
    private final LocalCallers local;
    private final ServerLimits limits;
    private final ObjectMapper json;
    private final Semaphore requests;

    /**
     * Listens at once.
     *
     * @throws ServerException when the address is taken or not of this machine
     */
    public HttpServer(Listener where, Tokens tokens, List<Route> routes) {
        this(where, tokens, routes, List.of());
    }

    /**
     * Listens at once, with pages besides the routes.
     *
     * @throws ServerException when the address is taken or not of this machine
     */
    public HttpServer(Listener where, Tokens tokens, List<Route> routes, List<Page> pages) {
        this.pages = pages.stream().collect(Collectors.toUnmodifiableMap(Page::path, Function.identity()));
        this.tokens = tokens;
        local = new LocalCallers(where, tokens);
        this.routes = List.copyOf(routes);
        limits = where.limits();
        json = JsonBody.mapper(limits);
        requests = new Semaphore(limits.requests());
        server = new JettyServer(where, "tierlog-http", this::handle);
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    @Override
    public void close() {
        server.close();
    }

    private void handle(Request request, Response response) throws IOException {
        Page page = request.getMethod().equals("GET") ? pages.get(request.getHttpURI().getPath()) : null;
        if (page != null) {
            show(page, request, response);
            return;
        }
        if (!requests.tryAcquire()) {
            Problem problem = new Problem(Problem.Kind.OVERLOADED, limits.requests() + " requests are in progress", "retry in a moment");
            send(response, refused(problem, Map.of()), Problem.MEDIA_TYPE);
            return;
        }
        try {
            answer(request, response);
        } finally {
            requests.release();
        }
    }

    private void show(Page page, Request request, Response response) throws IOException {
        try {
            admitSite(request);
            Route route = Route.get(page.path(), page.query(), any -> HttpResponse.of(200, json.createObjectNode()));
            Caller caller = page.open() ? Caller.NONE : tokens.admit(request.getHeaders().get("Authorization"), Caller.Role.READER);
            HttpRequest.Raw raw = new HttpRequest.Raw(caller, Map.of(), request.getHttpURI().getQuery(), null, null);
            page.answer().to(new HttpRequest(raw, route, JsonBody.of(json, new byte[0])), new PageOut(request, response));
        } catch (Problem problem) {
            send(response, refused(problem, Map.of()), Problem.MEDIA_TYPE);
        }
    }

    /** A page of another site, or a name that another site chose, reaches no server without tokens. */
    private void admitSite(Request request) {
        local.admit(request.getHeaders().get("Host"), request.getHeaders().get("Origin"));
    }

    /** Sends what a page makes. */
    private final class PageOut implements Page.Out {
        private final Request request;
        private final Response response;

        PageOut(Request request, Response response) {
            this.request = request;
            this.response = response;
        }

        @Override
        public void file(String mediaType, Map<String, String> headers, byte[] body) throws IOException {
            headers.forEach(response.getHeaders()::put);
            JettyServer.send(response, 200, mediaType, body);
        }

        @Override
        public Page.Events events() throws IOException {
            response.setStatus(200);
            response.getHeaders().put("Content-Type", "text/event-stream");
            response.getHeaders().put("Cache-Control", "no-store");
            response.getHeaders().put("X-Accel-Buffering", "no");
            return text -> {
                Content.Sink.write(response, false, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
                server.taken(request);
            };
        }
    }

    private void answer(Request request, Response response) throws IOException {
        HttpResponse answer;
        String mediaType = Problem.MEDIA_TYPE;
        try {
            answer = answered(request);
            mediaType = "application/json";
        } catch (MethodNotAllowed e) {
            answer = refused(e.problem, Map.of("Allow", e.allowed));
        } catch (Problem problem) {
            answer = refused(problem, Map.of());
        } catch (RuntimeException e) {
            LOG.error("{} {} failed", request.getMethod(), request.getHttpURI().getPath(), e);
            answer = refused(Problem.internal(), Map.of());
        }
        send(response, answer, mediaType);
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

    private HttpResponse answered(Request request) throws IOException, MethodNotAllowed {
        admitSite(request);
        String rawPath = request.getHttpURI().getPath();
        Found found = find(request.getMethod(), rawPath);
        // Before the body is read: a caller without a valid token sends nothing.
        Caller caller = admitted(request, found.route());
        byte[] sent = found.route().takesBody() ? body(request) : new byte[0];
        JsonBody body = JsonBody.of(json, found.route().asSent() ? new byte[0] : sent);
        String key = request.getHeaders().get("Idempotency-Key");
        HttpRequest.Raw raw = new HttpRequest.Raw(caller, found.path(), request.getHttpURI().getQuery(), key,
                request.getHeaders().get("Authorization"), sent);
        return found.route().handler().apply(new HttpRequest(raw, found.route(), body));
    }

    private Caller admitted(Request request, Route route) {
        try {
            return tokens.admit(request.getHeaders().get("Authorization"), route.role());
        } catch (Problem problem) {
            if (route.role() == Caller.Role.OPERATOR) {
                RefusedCalls.log(request.getMethod() + " " + request.getHttpURI().getPath(), Request.getRemoteAddr(request), problem);
            }
            throw problem;
        }
    }

    private record Found(Route route, Map<String, String> path) {}

    private Found find(String method, String rawPath) throws MethodNotAllowed {
        List<String> allowed = routes.stream().filter(route -> match(route, rawPath) != null).map(Route::method).toList();
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
        throw new MethodNotAllowed(new Problem(Problem.Kind.METHOD_NOT_ALLOWED, rawPath + " takes " + all + ", not " + method,
                "GET /v1/openapi.json has all methods"), all);
    }

    private static @Nullable Map<String, String> match(Route route, String rawPath) {
        try {
            return route.match(rawPath);
        } catch (IllegalArgumentException e) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the path has a broken escape: " + e.getMessage(),
                    "encode it as a percent sign and two hexadecimal digits");
        }
    }

    /** The path has routes, none of them with this method. */
    private static final class MethodNotAllowed extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Problem problem;
        private final String allowed;

        MethodNotAllowed(Problem problem, String allowed) {
            super(problem.detail());
            this.problem = problem;
            this.allowed = allowed;
        }
    }

    private byte[] body(Request request) throws IOException {
        String type = request.getHeaders().get("Content-Type");
        Upload upload = new Upload(Request.asInputStream(request), System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limits.clients().requestMs()));
        byte[] body = upload.read(limits.bodyBytes() + 1);
        if (body.length > limits.bodyBytes()) {
            upload.drain();
            throw new Problem(Problem.Kind.BODY_TOO_LARGE, "the body has more than " + limits.bodyBytes() + " bytes",
                    "send several requests with fewer blocks each");
        }
        if (body.length > 0 && (type == null || !type.strip().toLowerCase(Locale.ROOT).startsWith("application/json"))) {
            throw new Problem(Problem.Kind.UNSUPPORTED_MEDIA_TYPE, "the body's Content-Type is " + (type == null ? "missing" : type),
                    "send JSON, with the header Content-Type: application/json");
        }
        return body;
    }

    /** A body as it arrives, for as long as its client has. */
    private record Upload(InputStream in, long deadlineNs) {
        /** At most {@code most} bytes. */
        byte[] read(int most) throws IOException {
            byte[] bytes = new byte[Math.min(most, PIECE_BYTES)];
            int count = 0;
            while (true) {
                if (count == bytes.length) {
                    if (count == most) {
                        return bytes;
                    }
                    bytes = Arrays.copyOf(bytes, Math.min(most, 2 * count));
                }
                int more = in.read(bytes, count, bytes.length - count);
                if (more < 0) {
                    return Arrays.copyOf(bytes, count);
                }
                count += more;
                requireInTime();
            }
        }

        void drain() throws IOException {
            byte[] piece = new byte[PIECE_BYTES];
            int read = 0;
            for (int more = 0; more >= 0 && read < DRAIN_BYTES; more = in.read(piece)) {
                read += more;
                requireInTime();
            }
        }

        private void requireInTime() throws IOException {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IOException("the client sends its body too slowly");
            }
        }
    }

    private void send(Response response, HttpResponse answer, String mediaType) throws IOException {
        response.getHeaders().put("Cache-Control", "no-store");
        answer.headers().forEach(response.getHeaders()::put);
        JettyServer.send(response, answer.status(), mediaType, json.writeValueAsBytes(answer.body()));
    }
}
