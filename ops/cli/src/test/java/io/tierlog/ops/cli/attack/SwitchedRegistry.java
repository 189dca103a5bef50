/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A schema registry with a switch: it gives ids and schemas, or answers 503. Safe for use by several threads. */
final class SwitchedRegistry implements AutoCloseable {
    /** The id of a schema that no part registers. */
    static final int STRANGE = 900_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final Map<Integer, String> schemas = new ConcurrentHashMap<>(Map.of(STRANGE, "\"string\""));
    private final Map<String, Integer> ids = new ConcurrentHashMap<>();
    private final AtomicInteger lastId = new AtomicInteger();
    private volatile boolean up = true;

    SwitchedRegistry() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void setUp(boolean newUp) {
        up = newUp;
    }

    private void answer(HttpExchange exchange) throws IOException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String path = exchange.getRequestURI().getPath();
        if (!up) {
            body.put("error_code", 50301).put("message", "down");
        } else if (exchange.getRequestMethod().equals("POST")) {
            String schema = JSON.readTree(exchange.getRequestBody()).path("schema").asText();
            int id = ids.computeIfAbsent(schema, _ -> lastId.incrementAndGet());
            schemas.put(id, schema);
            body.put("id", id);
        } else {
            body.put("schema", schemas.get(Integer.valueOf(path.substring(path.lastIndexOf('/') + 1))));
        }
        byte[] bytes = JSON.writeValueAsBytes(body);
        exchange.sendResponseHeaders(up ? 200 : 503, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
