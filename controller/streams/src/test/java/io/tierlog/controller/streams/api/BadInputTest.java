/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.Route;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.http.Tokens;
import io.tierlog.controller.streams.TestBroker;
import io.tierlog.controller.streams.api.ApiClient.Reply;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.tls.Tls;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that the operator API refuses, and its problems. No such request reaches the log. */
class BadInputTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static ApiUnderTest server;

    @SuppressWarnings("NullAway.Init")
    private static ScriptedController controller;

    @SuppressWarnings("NullAway.Init")
    private static ApiClient client;

    @BeforeAll
    static void start() throws Exception {
        server = new ApiUnderTest(BROKER.kafka(), 1, ApiConfig.loopback(0));
        controller = server.controller;
        client = new ApiClient(server.api.port());
        client.awaitReady();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', nullValues = "none", value = {
        "POST   | /v1/migrations         | {                                     | 400 | the body is not JSON",
        "POST   | /v1/migrations         | []                                    | 400 | is JSON but not an object",
        "POST   | /v1/migrations         | {} {}                                 | 400 | the body is not JSON",
        "POST   | /v1/migrations         | {\"id\":\"a\",\"id\":\"a\"}           | 400 | Duplicate field 'id'",
        "POST   | /v1/migrations         | {\"id\":\"a b\"}                      | 400 | id must be 1 to 128",
        "POST   | /v1/migrations         | {\"id\":7}                            | 400 | id must be 1 to 128",
        "POST   | /v1/migrations         | {\"nodes\":[]}                        | 400 | nodes must be a list of 1 to 256",
        "POST   | /v1/migrations         | {\"nodes\":[\"a/b\"]}                 | 400 | nodes[0] must be the name of a node",
        "POST   | /v1/migrations         | {\"method\":\"MOVE\"}                 | 400 | method must be one of [COPY, MARK, BOTH]",
        "POST   | /v1/migrations         | {\"source\":\"STORE\"}                | 400 | source must be one of",
        "POST   | /v1/migrations         | {\"source\":\"DISK\",\"target\":\"DISK\"} | 400 | target must be colder than DISK",
        "POST   | /v1/migrations         | {\"method\":\"COPY\"}                 | 400 | retention is missing",
        "POST   | /v1/migrations         | {\"method\":\"COPY\"}                 | 400 | blocks or sample must be present",
        "POST   | /v1/migrations         | {\"blocks\":[7]}                      | 400 | blocks[0] must be an object",
        "POST   | /v1/migrations         | {\"blocks\":[{\"key\":\"zz\"}]}       | 400 | blocks[0].key must be hexadecimal digits",
        "POST   | /v1/migrations         | {\"blocks\":[{\"key\":\"00\"}]}       | 400 | blocks[0].key must be 8 to 32 bytes",
        "POST   | /v1/migrations         | {\"blocks\":[{\"key\":\"00\"}]}       | 400 | blocks[0].namespace is missing",
        "POST   | /v1/migrations         | {\"sample\":{\"count\":0}}            | 400 | sample.count must be a whole number from 1 to 4096",
        "POST   | /v1/migrations         | {\"sample\":{\"count\":1.5}}          | 400 | sample.count must be a whole number",
        "POST   | /v1/migrations         | {\"sample\":{\"colour\":1}}           | 400 | sample.colour is not a field",
        "POST   | /v1/migrations         | {\"mark_timeout_ms\":0}               | 400 | mark_timeout_ms must be a whole number from 1",
        "POST   | /v1/migrations         | {\"dry_run\":\"yes\"}                 | 400 | dry_run must be true or false",
        "POST   | /v1/migrations         | {\"deadline_ms\":60001}               | 400 | deadline_ms must be a whole number from 0 to 60000",
        "POST   | /v1/migrations         | {\"deadline_ms\":99999999999999999999}| 400 | deadline_ms must be a whole number",
        "POST   | /v1/migrations?x=1     | {}                                    | 400 | 'x' is not a parameter",
        "DELETE | /v1/migrations/m1      | {\"why\":1}                           | 400 | why is not a field",
        "DELETE | /v1/marks              | {}                                    | 400 | node is missing",
        "DELETE | /v1/marks              | {\"node\":\"a\",\"blocks\":[]}        | 400 | blocks must be a list of 1 to 4096",
        "POST   | /v1/nodes/a/drain      | {\"instance\":\"\"}                   | 400 | instance must be the name",
        "GET    | /v1/migrations?limit=0 | none                                  | 400 | limit must be a whole number from 1 to 1000",
        "GET    | /v1/migrations?limit=x | none                                  | 400 | limit must be a whole number",
        "GET    | /v1/nodes?limit=1&limit=2 | none                               | 400 | 'limit' is given twice",
        "GET    | /v1/nodes?after=*      | none                                  | 400 | after is not a token",
        "GET    | /v1/marks?after=YQ     | none                                  | 400 | after is not a token",
        "GET    | /v1/marks?colour=red   | none                                  | 400 | these are:",
        "GET    | /v1/nodes/missing      | none                                  | 404 | no agent has registered",
        "GET    | /v1/migrations/missing | none                                  | 404 | no migration is called missing",
        "GET    | /                      | none                                  | 404 | there is nothing at /",
        "GET    | /v1/nodes/             | none                                  | 404 | no agent has registered",
        "GET    | /v2/nodes              | none                                  | 404 | there is nothing at /v2/nodes",
        "PUT    | /v1/nodes              | none                                  | 405 | /v1/nodes takes GET, not PUT",
        "PATCH  | /v1/migrations         | none                                  | 405 | takes GET, POST, not PATCH",
        "POST   | /v1/migrations/m1      | none                                  | 405 | takes DELETE, GET, not POST",
    })
    void isRefusedWithADetail(String method, String path, String body, int status, String detail) {
        Reply reply = client.send(method, path, body == null ? "" : body);
        assertProblem(status, reply);
        String all = reply.body().path("detail").asText() + reply.body().path("errors");
        JsonNode errors = reply.body().path("errors");
        List<String> sentences = new ArrayList<>(List.of(reply.body().path("detail").asText()));
        errors.forEach(error -> sentences.add(error.path("field").asText() + " " + error.path("detail").asText()));
        assertTrue(sentences.stream().anyMatch(sentence -> sentence.contains(detail)), all);
        if (status == 405) {
            assertEquals(detail.replaceAll(".*takes (.*), not.*", "$1"), reply.headers().firstValue("Allow").orElse(""));
        }
        assertEquals(0, controller.waiting(Event.class));
    }

    @Test
    void aProblemListsAllFindings() {
        Reply reply = client.ask("POST", "/v1/migrations", "{\"id\":7,\"colour\":1,\"blocks\":[{\"key\":\"00\"}]}");
        List<String> fields = new ArrayList<>();
        reply.body().path("errors").forEach(error -> fields.add(error.path("field").asText()));
        assertEquals(List.of("id", "method", "source", "target", "retention", "blocks[0].namespace", "blocks[0].key", "colour"), fields);
    }

    @Test
    void theFieldsThatAreReadAreThoseOfTheDocument() {
        String block = "{\"blocks\":[{\"nothing\":1}],\"nothing\":1}";
        assertEquals(client.check.fields("MigrationRequest"), read("POST", "/v1/migrations", block, "nothing"));
        assertEquals(client.check.fields("Block"), read("POST", "/v1/migrations", block, "blocks[0].nothing"));
        assertEquals(client.check.fields("Sample"), read("POST", "/v1/migrations", "{\"sample\":{\"nothing\":1}}", "sample.nothing"));
        assertEquals(client.check.fields("CancelRequest"), read("DELETE", "/v1/migrations/m1", "{\"nothing\":1}", "nothing"));
        assertEquals(client.check.fields("ClearRequest"), read("DELETE", "/v1/marks", "{\"nothing\":1}", "nothing"));
        assertEquals(client.check.fields("DrainRequest"), read("POST", "/v1/nodes/a/drain", "{\"nothing\":1}", "nothing"));
        assertEquals(client.check.fields("DrainRequest"), read("DELETE", "/v1/nodes/a/drain", "{\"nothing\":1}", "nothing"));
    }

    /** The known fields in the finding about an unknown one. */
    private static List<String> read(String method, String path, String body, String field) {
        for (JsonNode error : client.ask(method, path, body).body().path("errors")) {
            if (error.path("field").asText().equals(field)) {
                String all = error.path("detail").asText().replace("is not a field; these are: ", "");
                return List.copyOf(new TreeSet<>(List.of(all.split(", ", -1))));
            }
        }
        throw new AssertionError("no finding about " + field);
    }

    @Test
    void theRoutesThatAreServedAreThoseOfTheDocument() {
        List<String> documented = new ArrayList<>();
        client.check.document().path("paths").properties().forEach(path -> path.getValue().fieldNames()
                .forEachRemaining(method -> documented.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        CommittedState view = new CommittedState(controller.access, ApiLimits.DEFAULTS);
        try (OperatorLog writer = new OperatorLog(controller.access)) {
            List<Route> routes = new OperatorRoutes(view, new OperatorRequests(view, writer, ApiLimits.DEFAULTS), ApiLimits.DEFAULTS).all();
            assertEquals(
                    documented.stream().sorted().toList(),
                    routes.stream().map(route -> route.method() + " " + route.template()).sorted().toList());
            for (Route route : routes) {
                JsonNode operation = client.check.document().path("paths").path(route.template())
                        .path(route.method().toLowerCase(Locale.ROOT));
                List<String> query = new ArrayList<>();
                operation.path("parameters").forEach(parameter -> {
                    if (parameter.path("in").asText().equals("query")) {
                        query.add(parameter.path("name").asText());
                    }
                });
                assertEquals(new TreeSet<>(query), new TreeSet<>(route.query()), route.template());
                assertEquals(operation.path("x-role").asText(), route.role().name().toLowerCase(Locale.ROOT), route.template());
                assertEquals(operation.has("requestBody"), route.takesBody(), route.template());
            }
        }
    }

    @Test
    void aBodyOfTwoMebibytesIsTooLarge() {
        Reply reply = client.send("POST", "/v1/migrations", "{\"id\":\"" + "x".repeat(2 << 20) + "\"}");
        assertProblem(413, reply);
        assertEquals("body-too-large", reply.problem());
    }

    @Test
    void deepJsonIsRefused() {
        Reply reply = client.send("POST", "/v1/migrations", "[".repeat(100_000) + "]".repeat(100_000));
        assertProblem(400, reply);
        assertTrue(reply.body().path("detail").asText().contains("nesting depth"), reply.body().toString());
    }

    @Test
    void aBodyMustSayThatItIsJson() throws Exception {
        String request = "POST /v1/migrations HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                + "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.api.port())) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            String answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(answer.startsWith("HTTP/1.1 415 "), answer);
            assertTrue(answer.contains("text/plain"), answer);
        }
    }

    @Test
    void aCallerWithoutATokenIsUnauthorizedAndAReaderMayNotOperate() throws Exception {
        Path file = Files.writeString(directory.resolve("tokens"), "# callers\n\nreader ann sha256:" + digest("r-token") + "\noperator bob sha256:"
                + digest("o-token").toUpperCase(Locale.ROOT) + "\n");
        try (OperatorApi guarded = OperatorApi.start(controller.access, ApiConfig.loopback(0).withTokens(file), Tls.NONE, new PrometheusRegistry());
                ApiClient guest = new ApiClient(guarded.port())) {
            Reply anonymous = guest.get("/v1/nodes");
            assertProblem(401, anonymous);
            assertEquals("Bearer", anonymous.headers().firstValue("WWW-Authenticate").orElse(""));
            assertEquals(401, guest.token("wrong").get("/v1/nodes").status());
            guest.token("r-token").awaitReady();
            assertEquals(200, guest.get("/v1/nodes").status());
            Reply reader = guest.ask("POST", "/v1/nodes/a/drain", "{\"deadline_ms\":0}");
            assertProblem(403, reader);
            assertTrue(reader.body().path("detail").asText().contains("ann"), reader.body().toString());
            assertEquals(0, controller.waiting(Event.class));
            assertEquals(202, guest.token("o-token").ask("POST", "/v1/migrations",
                    "{\"method\":\"MARK\",\"source\":\"HOST\",\"target\":\"DISK\",\"sample\":{},\"deadline_ms\":0}").status());
            String sender = controller.next(MigrationRequested.class).event().envelope().sender();
            assertTrue(sender.startsWith("operator/bob/"), sender);
        }
    }

    @Test
    void unusableTokenFilesAreRefused() throws Exception {
        for (String text : List.of("", "# empty\n", "admin x sha256:" + digest("x"), "reader x sha256:12", "reader x/y sha256:" + digest("x"))) {
            Path file = Files.writeString(directory.resolve("bad-tokens"), text);
            ServerException refused = assertThrows(ServerException.TokensUnusable.class, () -> Tokens.of(Optional.of(file)));
            assertTrue(String.valueOf(refused.getMessage()).contains("sha256sum"), refused.getMessage());
        }
        assertThrows(ServerException.TokensUnusable.class, () -> Tokens.of(Optional.of(directory.resolve("absent"))));
    }

    @Test
    void withoutTokensOnlyLoopbackIsListenedOn() {
        Endpoint all = Endpoint.parse("0.0.0.0:0");
        ApiConfig loopback = ApiConfig.loopback(0);
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> new ApiConfig(all, Optional.empty(), AccessRules.OPEN, false, ApiLimits.DEFAULTS));
        assertTrue(String.valueOf(refused.getMessage()).contains("--api-tokens"), refused.getMessage());
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> loopback.withGrpc(all)).getMessage()).contains("--grpc-listen"));
        assertTrue(new ApiConfig(all, Optional.empty(), AccessRules.OPEN, true, ApiLimits.DEFAULTS).insecure());
        assertEquals(new Endpoint("::1", 7), Endpoint.parse("[::1]:7"));
        for (String text : List.of("", "host", "host:", ":1", "host:70000", "a:b:1")) {
            assertThrows(IllegalArgumentException.class, () -> Endpoint.parse(text), text);
        }
    }

    @Test
    void aPortInUseIsReported() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            ApiConfig config = ApiConfig.loopback(taken.getLocalPort());
            ServerException refused = assertThrows(
                    ServerException.CannotListen.class,
                    () -> OperatorApi.start(controller.access, config, Tls.NONE, new PrometheusRegistry()).close());
            assertTrue(String.valueOf(refused.getMessage()).contains("--api-listen"), refused.getMessage());
        }
    }

    @Test
    void oneRequestTooManyGetsRetryAfter() {
        ApiConfig narrow = ApiConfig.loopback(0).withLimits(ApiLimits.DEFAULTS.withRequests(2));
        try (OperatorApi small = OperatorApi.start(controller.access, narrow, Tls.NONE, new PrometheusRegistry());
                ApiClient many = new ApiClient(small.port())) {
            many.awaitReady();
            List<CompletableFuture<Reply>> waiting = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                waiting.add(many.later("POST", "/v1/migrations",
                        "{\"method\":\"MARK\",\"source\":\"HOST\",\"target\":\"DISK\",\"sample\":{},\"deadline_ms\":3000}"));
                controller.next(MigrationRequested.class);
            }
            Reply third = many.get("/v1/nodes");
            assertProblem(503, third);
            assertEquals("overloaded", third.problem());
            assertEquals("1", third.headers().firstValue("Retry-After").orElse(""));
            waiting.forEach(reply -> assertEquals(202, reply.join().status()));
            assertEquals(200, many.get("/v1/nodes").status());
        }
    }

    @Test
    void moreRowsThanAreHeldAreNotAnsweredInPart() {
        ApiConfig narrow = ApiConfig.loopback(0).withLimits(ApiLimits.DEFAULTS.withViewRows(1));
        try (OperatorApi small = OperatorApi.start(controller.access, narrow, Tls.NONE, new PrometheusRegistry());
                ApiClient guest = new ApiClient(small.port())) {
            guest.awaitReady();
            Reply nodes = guest.get("/v1/nodes");
            assertProblem(503, nodes);
            assertTrue(nodes.body().path("detail").asText().contains("more nodes than the 1 that are held"), nodes.body().toString());
            assertEquals(200, guest.get("/v1/policy").status());
        }
    }

    @Test
    void untilTheStateIsReadNothingIsAnswered() {
        LogAccess nothing = new LogAccess(server.log.access, server.log.topics, server.log.codec, 1, "no-such-changelog");
        try (OperatorApi early = OperatorApi.start(nothing, ApiConfig.loopback(0), Tls.NONE, new PrometheusRegistry());
                ApiClient guest = new ApiClient(early.port())) {
            Reply reply = guest.get("/v1/nodes");
            assertProblem(503, reply);
            assertEquals("not-ready", reply.problem());
            assertFalse(reply.headers().firstValue("Retry-After").isEmpty());
        }
    }

    private static void assertProblem(int status, Reply reply) {
        assertEquals(status, reply.status(), reply.body().toString());
        assertEquals("application/problem+json", reply.mediaType());
        assertEquals(List.of(), client.check.check("Problem", reply.body()));
        assertEquals(status, reply.body().path("status").asInt());
        assertFalse(reply.body().path("action").asText().isEmpty());
    }

    private static String digest(String token) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }
}
