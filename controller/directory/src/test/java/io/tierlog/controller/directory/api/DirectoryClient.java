/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.tierlog.controller.directory.PlacementLog;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** A client over HTTP that holds every question that is answered, and every answer, against the document of the interface. */
final class DirectoryClient implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final SchemaRegistry schemas = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private final ObjectNode document = DirectoryRoutes.openApi();
    private final int port;
    private String token = "";

    DirectoryClient(int port) {
        this.port = port;
    }

    record Reply(int status, JsonNode body, HttpHeaders headers) {
        /** The last part of the problem's type. */
        String problem() {
            return body.path("type").asText().replace("urn:tierlog:problem:", "");
        }
    }

    DirectoryClient token(String value) {
        token = value;
        return this;
    }

    /** Asks; the answer is held against the document, and what was asked too, when it was answered. */
    Reply ask(String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        request.POST(HttpRequest.BodyPublishers.ofString(body)).header("Content-Type", "application/json");
        Reply reply = send(request);
        JsonNode operation = document.path("paths").path(path).path("post");
        JsonNode response = operation.path("responses").path(String.valueOf(reply.status()));
        assertTrue(response.isObject(), () -> path + " answers " + reply.status() + ", which the document does not have: " + reply.body());
        String mediaType = reply.headers().firstValue("Content-Type").orElse("");
        check(response.path("content").path(mediaType).path("schema"), reply.body(), path + " " + reply.status());
        if (reply.status() == 200) {
            checkHeaders(response.path("headers"), reply.headers(), path);
            check(operation.path("requestBody").path("content").path("application/json").path("schema"), JSON.readTree(body), path + " asked");
        }
        return reply;
    }

    Reply get(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).GET());
    }

    private Reply send(HttpRequest.Builder request) throws Exception {
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(response.statusCode(), JSON.readTree(response.body()), response.headers());
    }

    /** Those that the document has, and no other of ours. */
    private static void checkHeaders(JsonNode documented, HttpHeaders headers, String path) {
        Set<String> named = new TreeSet<>();
        documented.fieldNames().forEachRemaining(name -> named.add(name.toLowerCase(Locale.ROOT)));
        Set<String> sent = new TreeSet<>();
        headers.map().keySet().stream().map(name -> name.toLowerCase(Locale.ROOT)).filter(name -> name.startsWith("tierlog-")).forEach(sent::add);
        assertEquals(named, sent, () -> "headers of " + path);
    }

    private void check(JsonNode reference, JsonNode value, String what) {
        assertTrue(reference.has("$ref"), () -> what + " has no schema in the document");
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.set("$ref", reference.path("$ref"));
        whole.set("components", document.path("components"));
        Schema schema = schemas.getSchema(whole);
        assertEquals(List.of(), List.copyOf(schema.validate(value)), () -> what + ": " + value);
    }

    /** The digest of a token, as a file of tokens has it. */
    static String digest(String token) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    /** Keys of 16 bytes of so many blocks, one behind the other. */
    static byte[] packed(int first, int count) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        IntStream.range(first, first + count).forEach(number -> keys.writeBytes(PlacementLog.key(number).unshared()));
        return keys.toByteArray();
    }

    /** A body about the blocks with these numbers. */
    static String keys(String namespace, int... numbers) {
        return keys(namespace, "", IntStream.of(numbers));
    }

    static String keys(String namespace, String more, IntStream numbers) {
        List<String> hex = new ArrayList<>();
        numbers.forEach(number -> hex.add("\"" + PlacementLog.key(number).hex() + "\""));
        return "{\"namespace\":\"" + namespace + "\",\"keys\":[" + String.join(",", hex) + "]" + more + "}";
    }

    static String key(String namespace, int number) {
        return "{\"namespace\":\"" + namespace + "\",\"key\":\"" + PlacementLog.key(number).hex() + "\"}";
    }

    /** Paths of the document that take this method. */
    List<String> documented(String method) {
        List<String> paths = new ArrayList<>();
        document.path("paths").properties().stream().filter(path -> path.getValue().has(method)).forEach(path -> paths.add(path.getKey()));
        return paths;
    }

    /** Fields that the document has for a body. */
    Optional<List<String>> fields(String schema) {
        List<String> fields = new ArrayList<>();
        document.path("components").path("schemas").path(schema).path("properties").fieldNames().forEachRemaining(fields::add);
        return fields.isEmpty() ? Optional.empty() : Optional.of(fields);
    }

    @Override
    public void close() {
        client.close();
    }
}
