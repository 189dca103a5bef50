/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.streams.TestLog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

/** An API client that checks every response against the OpenAPI document. */
final class ApiClient implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    final OpenApiCheck check = new OpenApiCheck(OperatorRoutes.openApi());
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int port;
    private String token = "";

    ApiClient(int port) {
        this.port = port;
    }

    /** An answer. */
    record Reply(int status, JsonNode body, HttpHeaders headers) {
        String mediaType() {
            return headers.firstValue("Content-Type").orElse("");
        }

        /** The last part of the problem's type. */
        String problem() {
            return body.path("type").asText().replace("urn:tierlog:problem:", "");
        }
    }

    /** From now on it comes with this token. */
    ApiClient token(String value) {
        token = value;
        return this;
    }

    Reply get(String path) {
        return checked("GET", path, send("GET", path, ""));
    }

    Reply send(String method, String path, String body) {
        return later(method, path, body).join();
    }

    /** Sends a body; the answer is held against the document. */
    Reply ask(String method, String path, String body) {
        return checked(method, path, send(method, path, body));
    }

    CompletableFuture<Reply> later(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        request.method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).thenApply(ApiClient::reply);
    }

    Reply checked(String method, String path, Reply reply) {
        String template = path.replaceAll("\\?.*", "")
                .replaceAll("^/v1/(migrations|nodes)/[^/]+", "/v1/$1/{id}");
        check.answer(method, template, reply.status(), reply.mediaType(), reply.body());
        return reply;
    }

    /** Waits until the API has read the state. */
    void awaitReady() {
        TestLog.await("the API", () -> send("GET", "/v1/policy", "").status() == 200);
    }

    private static Reply reply(HttpResponse<String> response) {
        try {
            return new Reply(response.statusCode(), JSON.readTree(response.body()), response.headers());
        } catch (IOException e) {
            throw new AssertionError("no JSON: " + response.body(), e);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
