/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import com.fasterxml.jackson.databind.JsonNode;
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
import org.apache.avro.Schema;

/** As much of a schema registry as the client asks for, with a switch to take it down. */
final class ScriptedRegistry implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final Map<Integer, String> schemas;
    private final Map<String, Integer> ids;
    private final AtomicInteger lastId;
    private volatile boolean up = true;

    ScriptedRegistry() throws IOException {
        this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), new AtomicInteger());
    }

    private ScriptedRegistry(Map<Integer, String> schemas, Map<String, Integer> ids, AtomicInteger lastId) throws IOException {
        this.schemas = schemas;
        this.ids = ids;
        this.lastId = lastId;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Another server of the same registry. */
    ScriptedRegistry another() throws IOException {
        return new ScriptedRegistry(schemas, ids, lastId);
    }

    /** Down, it answers every request with 503. */
    void setUp(boolean newUp) {
        up = newUp;
    }

    /** Knows this schema, and gives its id. */
    int holds(Schema schema) {
        return ids.computeIfAbsent(schema.toString(), text -> {
            int id = lastId.incrementAndGet();
            schemas.put(id, text);
            return id;
        });
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        int status = 200;
        String path = exchange.getRequestURI().getPath();
        if (!up) {
            status = 503;
            body.put("error_code", 50301).put("message", "down");
        } else if (exchange.getRequestMethod().equals("POST")) {
            JsonNode request = JSON.readTree(exchange.getRequestBody());
            body.put("id", holds(new Schema.Parser().parse(request.path("schema").asText())));
        } else {
            String schema = schemas.get(Integer.valueOf(path.substring(path.lastIndexOf('/') + 1)));
            if (schema == null) {
                status = 404;
                body.put("error_code", 40403).put("message", "Schema not found");
            } else {
                body.put("schema", schema);
            }
        }
        byte[] bytes = JSON.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/vnd.schemaregistry.v1+json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
