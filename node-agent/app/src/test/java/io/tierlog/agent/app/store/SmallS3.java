/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * As much of S3's protocol as the store uses: objects by path, ranges, and conditional puts that are one step, as S3 has them and S3Mock, which
 * compares and sets in two, has not. Answers errors on request. Signatures are not checked. Safe for use by several threads.
 */
public final class SmallS3 implements AutoCloseable {
    private final Map<String, Held> objects = new ConcurrentHashMap<>();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final AtomicLong tags = new AtomicLong();
    private final AtomicLong requests = new AtomicLong();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);

    private record Held(byte[] bytes, String generation, String tag) {}

    private record Answer(int status, Held held) {
        static final Held NOTHING = new Held(new byte[0], "", "");
    }

    public SmallS3() throws IOException {
        // The client finds its credentials in the usual chain.
        System.setProperty("aws.accessKeyId", "test");
        System.setProperty("aws.secretAccessKey", "test");
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Port on loopback. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** What {@code --store} names. */
    public String url() {
        return "s3://bucket/prefix?endpoint=http://127.0.0.1:" + port();
    }

    /** Answers later requests with these, one each: an HTTP status and S3's code, as in {@code 503 SlowDown}. */
    public void fail(String... answers) {
        errors.addAll(List.of(answers));
    }

    /** Requests so far. */
    public long requests() {
        return requests.get();
    }

    /** Flips a bit in the last byte of every object; how many there are. */
    public int corrupt() {
        objects.replaceAll((path, held) -> {
            byte[] bytes = held.bytes().clone();
            bytes[bytes.length - 1] ^= 1;
            return new Held(bytes, held.generation(), held.tag() + "x");
        });
        return objects.size();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.incrementAndGet();
            byte[] body = exchange.getRequestBody().readAllBytes();
            String error = errors.poll();
            if (error != null) {
                String code = error.split(" ", 2)[1];
                fail(exchange, Integer.parseInt(error.split(" ", 2)[0]), code);
                return;
            }
            String path = exchange.getRequestURI().getPath();
            switch (exchange.getRequestMethod()) {
                case "PUT" -> put(exchange, path, body);
                case "GET", "HEAD" -> get(exchange, path);
                default -> fail(exchange, 501, "NotImplemented");
            }
        }
    }

    private void put(HttpExchange exchange, String path, byte[] body) throws IOException {
        String match = exchange.getRequestHeaders().getFirst("If-Match");
        boolean absent = "*".equals(exchange.getRequestHeaders().getFirst("If-None-Match"));
        String generation = exchange.getRequestHeaders().getFirst("x-amz-meta-tierlog-generation");
        AtomicReference<Answer> answer = new AtomicReference<>(new Answer(412, Answer.NOTHING));
        objects.compute(path, (same, there) -> {
            if (match != null && there == null) {
                answer.set(new Answer(404, Answer.NOTHING));
            } else if (absent ? there == null : there != null && there.tag().equals(match)) {
                answer.set(new Answer(200, new Held(body, generation, "\"" + tags.incrementAndGet() + "\"")));
                return answer.get().held();
            }
            return there;
        });
        if (answer.get().status() == 200) {
            exchange.getResponseHeaders().set("ETag", answer.get().held().tag());
            exchange.sendResponseHeaders(200, -1);
        } else {
            fail(exchange, answer.get().status(), answer.get().status() == 404 ? "NoSuchKey" : "PreconditionFailed");
        }
    }

    private void get(HttpExchange exchange, String path) throws IOException {
        Held held = objects.get(path);
        if (held == null) {
            fail(exchange, 404, "NoSuchKey");
            return;
        }
        int last = Integer.parseInt(exchange.getRequestHeaders().getFirst("Range").replace("bytes=0-", ""));
        byte[] part = Arrays.copyOf(held.bytes(), Math.min(held.bytes().length, last + 1));
        exchange.getResponseHeaders().set("ETag", held.tag());
        exchange.getResponseHeaders().set("x-amz-meta-tierlog-generation", held.generation());
        exchange.getResponseHeaders().set("Content-Range", "bytes 0-" + (part.length - 1) + "/" + held.bytes().length);
        exchange.sendResponseHeaders(206, part.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(part);
        }
    }

    private static void fail(HttpExchange exchange, int status, String code) throws IOException {
        byte[] xml = ("<Error><Code>" + code + "</Code><Message>" + code + ", as asked for</Message></Error>")
                .getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/xml");
        exchange.sendResponseHeaders(status, xml.length);
        exchange.getResponseBody().write(xml);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
