/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The limits of one server, against clients that are slow, greedy or wrong. */
class HttpServerTest {
    private static final String LOOPBACK = "127.0.0.1";

    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch waiting = new CountDownLatch(1);
    private final HttpClient client = HttpClient.newHttpClient();

    private HttpServer server(ServerLimits.Clients clients) {
        Listener where = new Listener("--test", new Endpoint(LOOPBACK, 0), new ServerLimits(1 << 20, 8, 2, clients));
        return new HttpServer(where, Tokens.of(Optional.empty()), List.of(
                Route.get("/fast", Set.of(), _ -> HttpResponse.of(200, JsonNodeFactory.instance.objectNode())),
                Route.ask("/body", _ -> HttpResponse.of(200, JsonNodeFactory.instance.objectNode())),
                Route.get("/big", Set.of(), _ -> HttpResponse.of(200, JsonNodeFactory.instance.objectNode().put("x", "x".repeat(32 << 20)))),
                Route.get("/fault", Set.of(), _ -> {
                    throw new IllegalStateException("/secret/path");
                }),
                Route.get("/wait", Set.of(), _ -> {
                    waiting.countDown();
                    try {
                        boolean done = release.await(20, TimeUnit.SECONDS);
                        return HttpResponse.of(done ? 200 : 202, JsonNodeFactory.instance.objectNode());
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                })));
    }

    private static ServerLimits.Clients clients(int connections, int requestMs, int responseMs) {
        return new ServerLimits.Clients(connections, 2_048, requestMs, responseMs);
    }

    private java.net.http.HttpResponse<String> get(HttpServer server, String path) throws Exception {
        return client.send(java.net.http.HttpRequest.newBuilder(URI.create("http://" + LOOPBACK + ":" + server.port() + path)).build(),
                BodyHandlers.ofString());
    }

    private static Socket socket(HttpServer server) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Sends a byte every 100 ms until the server closes the connection. */
    private static void drip(Socket socket) throws Exception {
        try (ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor()) {
            var bytes = pace.scheduleAtFixedRate(() -> {
                try {
                    write(socket, "x");
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }, 0, 100, TimeUnit.MILLISECONDS);
            try {
                Throwable end = assertThrows(ExecutionException.class, () -> bytes.get(20, TimeUnit.SECONDS)).getCause();
                assertTrue(end.getCause() instanceof SocketException, end.toString());
            } finally {
                bytes.cancel(true);
            }
        }
    }

    @Test
    void aClientThatSendsItsHeadersByteByByteIsDisconnected() throws Exception {
        try (HttpServer server = server(clients(8, 1_000, 5_000));
                Socket slow = socket(server)) {
            write(slow, "GET /fast HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
            drip(slow);
            assertEquals(200, get(server, "/fast").statusCode());
        }
    }

    @Test
    void aClientThatSendsItsBodyByteByByteIsDisconnected() throws Exception {
        try (HttpServer server = server(clients(8, 1_000, 5_000));
                Socket slow = socket(server)) {
            write(slow, "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n");
            drip(slow);
            assertEquals(200, get(server, "/fast").statusCode());
        }
    }

    @Test
    void aClientThatDoesNotReadItsResponseIsDisconnected() throws Exception {
        try (HttpServer server = server(clients(8, 500, 1_000));
                Socket slow = socket(server)) {
            write(slow, "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
            // The server writes into full buffers, makes no progress for longer than its response limit, and closes.
            assertThrows(TimeoutException.class, () -> new CompletableFuture<Void>().get(2_500, TimeUnit.MILLISECONDS));
            InputStream in = slow.getInputStream();
            long read = 0;
            try {
                byte[] piece = new byte[1 << 20];
                for (int more = in.read(piece); more > 0; more = in.read(piece)) {
                    read += more;
                }
            } catch (SocketException e) {
                assertTrue(read >= 0, e.toString());
            }
            assertTrue(read < 32 << 20, read + " bytes came");
        }
    }

    @Test
    void anIdleConnectionIsClosedAndAWaitingRequestIsNot() throws Exception {
        try (HttpServer server = server(clients(8, 500, 20_000));
                Socket idle = socket(server)) {
            CompletableFuture<java.net.http.HttpResponse<String>> reply = client.sendAsync(
                    java.net.http.HttpRequest.newBuilder(URI.create("http://" + LOOPBACK + ":" + server.port() + "/wait")).build(),
                    BodyHandlers.ofString());
            assertTrue(waiting.await(10, TimeUnit.SECONDS));
            assertEquals(-1, idle.getInputStream().read());
            assertThrows(TimeoutException.class, () -> reply.get(1_500, TimeUnit.MILLISECONDS));
            release.countDown();
            assertEquals(200, reply.get(10, TimeUnit.SECONDS).statusCode());
        }
    }

    /** With 64 such connections a port was taken for 25 s. */
    @Test
    void clientsThatOnlyHoldConnectionsKeepNoneFromOthers() throws Exception {
        List<Socket> held = new ArrayList<>();
        try (StatusServer status = new StatusServer("--status", new Endpoint(LOOPBACK, 0), Tls.NONE, new PrometheusRegistry(),
                () -> new StatusServer.Report(true, JsonNodeFactory.instance.objectNode().put("state", "up")))) {
            long deadlineNs = System.nanoTime() + 9_000_000_000L; // before the first are closed for being slow
            while (held.size() < 300) {
                assertTrue(System.nanoTime() < deadlineNs, () -> "no connection after " + held.size());
                try {
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), status.port());
                    held.add(socket);
                    LockSupport.parkNanos(2_000_000); // no faster than it accepts: a connection that the kernel drops costs a second
                    if (held.size() % 2 == 0) {
                        write(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
                    }
                } catch (SocketException e) {
                    LockSupport.parkNanos(10_000_000); // faster than it accepts, or closed for a new one
                }
            }
            URI health = URI.create("http://" + LOOPBACK + ":" + status.port() + "/health");
            for (int i = 0; i < 20; i++) {
                long startNs = System.nanoTime();
                try (HttpClient fresh = HttpClient.newHttpClient()) {
                    var request = java.net.http.HttpRequest.newBuilder(health).timeout(java.time.Duration.ofSeconds(5)).build();
                    assertEquals(200, fresh.send(request, BodyHandlers.ofString()).statusCode());
                }
                assertTrue(System.nanoTime() - startNs < 2_000_000_000L, "slow");
            }
        } finally {
            for (Socket socket : held) {
                socket.close();
            }
        }
    }

    @Test
    void withoutTokensRequestsUnderTheNameOfAnotherSiteAreRefused() throws Exception {
        try (HttpServer server = server(clients(8, 5_000, 5_000))) {
            for (String headers : List.of("Host: evil.example", "Host: 127.0.0.1.evil.example:8081", "Host: localhost\r\nOrigin: http://evil.example",
                    "Host: localhost\r\nOrigin: null")) {
                String reply = reply(server, headers);
                assertTrue(reply.startsWith("HTTP/1.1 403 ") && reply.contains("call it by 127.0.0.1 or localhost"), headers + ": " + reply);
            }
            for (String headers : List.of("Host: localhost", "Host: LOCALHOST:8081", "Host: 127.0.0.1:" + server.port(), "Host: [::1]:80",
                    "Host: localhost\r\nOrigin: http://localhost:3000")) {
                assertTrue(reply(server, headers).startsWith("HTTP/1.1 200 "), headers);
            }
        }
    }

    private static String reply(HttpServer server, String headers) throws IOException {
        try (Socket socket = socket(server)) {
            write(socket, "GET /fast HTTP/1.1\r\n" + headers + "\r\nConnection: close\r\n\r\n");
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void connectionsOverTheLimitReplaceIdleOnesAndTheStatusPortStillAnswers() throws Exception {
        PrometheusRegistry registry = new PrometheusRegistry();
        Gauge.builder().name("some").help("some").register(registry).inc();
        try (HttpServer server = server(clients(2, 1_500, 5_000));
                StatusServer status = new StatusServer("--status", new Endpoint(LOOPBACK, 0), Tls.NONE, registry,
                        () -> new StatusServer.Report(false, JsonNodeFactory.instance.objectNode().put("state", "down")));
                Socket first = socket(server);
                Socket second = socket(server)) {
            write(first, "GET");
            write(second, "GET");
            CompletableFuture<Integer> third = CompletableFuture.supplyAsync(() -> {
                try {
                    return get(server, "/fast").statusCode();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            URI health = URI.create("http://" + LOOPBACK + ":" + status.port() + "/health");
            java.net.http.HttpResponse<String> down = client.send(java.net.http.HttpRequest.newBuilder(health).build(), BodyHandlers.ofString());
            assertEquals(503, down.statusCode());
            assertEquals("{\"state\":\"down\"}", down.body());
            java.net.http.HttpResponse<String> metrics =
                    client.send(java.net.http.HttpRequest.newBuilder(health.resolve("/metrics?name[]=some")).build(), BodyHandlers.ofString());
            assertEquals(200, metrics.statusCode());
            assertTrue(metrics.body().contains("some 1.0"), metrics.body());
            assertTrue(metrics.headers().firstValue("Content-Type").orElse("").startsWith("text/plain"), metrics.headers()::toString);
            assertEquals(404, client.send(java.net.http.HttpRequest.newBuilder(health.resolve("/")).build(), BodyHandlers.ofString()).statusCode());
            assertEquals(200, third.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void headersOverTheLimitAreRefusedAsAProblem() throws Exception {
        try (HttpServer server = server(clients(8, 5_000, 5_000));
                Socket socket = socket(server)) {
            write(socket, "GET /fast HTTP/1.1\r\nHost: localhost\r\nX-Long: " + "x".repeat(4_000) + "\r\n\r\n");
            String reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(reply.startsWith("HTTP/1.1 431 "), reply);
            assertTrue(reply.contains("application/problem+json") && reply.contains("\"status\":431"), reply);
        }
    }

    @Test
    void anInternalErrorDoesNotShowItsCause() throws Exception {
        try (HttpServer server = server(clients(8, 5_000, 5_000))) {
            java.net.http.HttpResponse<String> reply = get(server, "/fault");
            assertEquals(500, reply.statusCode());
            assertFalse(reply.body().contains("secret") || reply.body().contains("Exception"), reply.body());
        }
    }

    @Test
    void closingLetsARequestInProgressEnd() throws Exception {
        HttpServer server = server(clients(8, 5_000, 5_000));
        CompletableFuture<Integer> reply = CompletableFuture.supplyAsync(() -> {
            try {
                return get(server, "/wait").statusCode();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        assertTrue(waiting.await(10, TimeUnit.SECONDS));
        CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS).execute(release::countDown);
        server.close();
        assertEquals(200, reply.get(10, TimeUnit.SECONDS));
        assertThrows(IOException.class, () -> get(server, "/fast"));
    }

    @Test
    void serversSetNoSystemProperties() {
        List<String> before = new ArrayList<>(System.getProperties().stringPropertyNames());
        server(ServerLimits.Clients.DEFAULTS).close();
        List<String> after = new ArrayList<>(System.getProperties().stringPropertyNames());
        after.removeAll(before);
        assertEquals(List.of(), after);
        assertNull(System.getProperty("jdk.httpserver.maxConnections"));
    }
}
