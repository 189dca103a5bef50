/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Something on a port of 127.0.0.1 that answers as its script says, one step a request, the last step for ever. Steps that never end are
 * let go when the server closes.
 */
final class ScriptedServer implements AutoCloseable {
    private static final long ENDLESS_DEADLINE_S = 60;

    /** What to do with one request. */
    interface Step {
        void answer(ScriptedServer server, HttpExchange exchange) throws IOException, InterruptedException;
    }

    /** A request as it came. */
    record Seen(String method, String path, String body, List<String> authorization, List<String> contentType) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Step> steps;
    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final AtomicLong bytesSent = new AtomicLong();
    private final CountDownLatch clientGone = new CountDownLatch(1);
    private final CountDownLatch asked = new CountDownLatch(1);

    ScriptedServer(Step... steps) throws IOException {
        this.steps = List.of(steps);
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Answers at once. */
    static Step reply(int status, String body) {
        return (server, exchange) -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        };
    }

    /** The registry's own way to say no. */
    static Step error(int status, int code, String message) {
        return reply(status, "{\"error_code\":" + code + ",\"message\":\"" + message + "\"}");
    }

    static Step schema(String json) {
        return reply(200, "{\"schema\":\"" + json.replace("\"", "\\\"") + "\"}");
    }

    static Step redirect(String target) {
        return (server, exchange) -> {
            exchange.getResponseHeaders().set("Location", target);
            exchange.sendResponseHeaders(302, -1);
        };
    }

    /** Takes the request and says nothing. */
    static Step silence() {
        return (server, exchange) -> server.awaitClose();
    }

    /** Sends headers and the beginning of a body, then nothing. */
    static Step halfABody() {
        return (server, exchange) -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("{\"schema\":".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            server.awaitClose();
        };
    }

    /** Sends a body without end, as fast as it is taken, and notes how much was. */
    static Step endlessBody() {
        return (server, exchange) -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] spaces = " ".repeat(8_192).getBytes(StandardCharsets.UTF_8);
            try (OutputStream out = exchange.getResponseBody()) {
                while (server.closing.getCount() > 0) {
                    out.write(spaces);
                    server.bytesSent.addAndGet(spaces.length);
                }
            } catch (IOException e) {
                server.clientGone.countDown();
                throw e;
            }
        };
    }

    String baseUrl() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    List<Seen> seen() {
        return seen;
    }

    int requests() {
        return seen.size();
    }

    long bytesSent() {
        return bytesSent.get();
    }

    /** Waits until the client of an endless body has hung up; false when it does not. */
    boolean awaitClientGone() throws InterruptedException {
        return clientGone.await(ENDLESS_DEADLINE_S, TimeUnit.SECONDS);
    }

    /** Waits for the first request; false when there is none. */
    boolean awaitAsked() throws InterruptedException {
        return asked.await(ENDLESS_DEADLINE_S, TimeUnit.SECONDS);
    }

    private void awaitClose() throws InterruptedException {
        closing.await(ENDLESS_DEADLINE_S, TimeUnit.SECONDS);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Step step;
            synchronized (seen) {
                step = steps.get(Math.min(seen.size(), steps.size() - 1));
                seen.add(new Seen(
                        exchange.getRequestMethod(),
                        exchange.getRequestURI().getRawPath(),
                        body,
                        exchange.getRequestHeaders().getOrDefault("Authorization", List.of()),
                        exchange.getRequestHeaders().getOrDefault("Content-Type", List.of())));
            }
            asked.countDown();
            step.answer(this, exchange);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closing.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
