/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.small;
import static io.tierlog.events.registry.Samples.subject;
import static io.tierlog.events.registry.ScriptedServer.endlessBody;
import static io.tierlog.events.registry.ScriptedServer.error;
import static io.tierlog.events.registry.ScriptedServer.halfABody;
import static io.tierlog.events.registry.ScriptedServer.redirect;
import static io.tierlog.events.registry.ScriptedServer.reply;
import static io.tierlog.events.registry.ScriptedServer.schema;
import static io.tierlog.events.registry.ScriptedServer.silence;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The client against servers that are slow, broken, lying or no registry at all. */
@Timeout(30)
final class MisbehavingRegistryTest {
    /** A request 5 s, a call 20 s, three rounds 5 to 20 ms apart, 64 KiB a reply, 3 entries a cache, unknown ids for a minute. */
    private static final RegistryLimits QUICK = limits(5_000, 20_000, 60_000);

    private static final ScriptedServer.Step UNKNOWN = error(404, 40403, "Schema 7 not found.");
    private static final Schema ONE = small("One");

    private static RegistryLimits limits(int requestTimeoutMs, int callTimeoutMs, int unknownForMs) {
        return new RegistryLimits(requestTimeoutMs, requestTimeoutMs, callTimeoutMs, 3, 10, 20, 1 << 16, 3, unknownForMs);
    }

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : opened) {
            resource.close();
        }
    }

    private ScriptedServer server(ScriptedServer.Step... steps) throws IOException {
        ScriptedServer server = new ScriptedServer(steps);
        opened.add(server);
        return server;
    }

    private RegistryClient client(ScriptedServer... servers) {
        return client(Credentials.NONE, QUICK, servers);
    }

    private RegistryClient client(Credentials credentials, RegistryLimits limits, ScriptedServer... servers) {
        List<URI> urls = Stream.of(servers).map(s -> URI.create(s.baseUrl())).toList();
        RegistryClient client = new RegistryClient(new RegistryConfig(urls, credentials, limits));
        opened.add(client);
        return client;
    }

    static Stream<Arguments> noAnswers() {
        return Stream.of(
                Arguments.of("error of its own", error(500, 50001, "Error in the backend"), "answered 500: Error in the backend"),
                Arguments.of("too busy", reply(429, ""), "answered 429"),
                Arguments.of("endless body", endlessBody(), "IOException"),
                Arguments.of("cut JSON", reply(200, "{\"schema\":"), "not of the registry API"),
                Arguments.of("other JSON", reply(200, "{\"hello\":\"world\"}"), "not of the registry API"),
                Arguments.of("a list", reply(200, "[]"), "not of the registry API"),
                Arguments.of("nothing", reply(200, ""), "not of the registry API"),
                Arguments.of("a login page", reply(200, "<html>Sign in</html>"), "not of the registry API"),
                Arguments.of("a proxy's 404", reply(404, "<html>404</html>"), "not of the registry API"),
                Arguments.of("another API's 404", error(404, 404, "no such route"), "not of the registry API"),
                Arguments.of("a proxy's 409", reply(409, "conflict"), "not of the registry API"),
                Arguments.of("bad credentials", error(401, 40101, "Unauthorized"), "refused the credentials (401)"),
                Arguments.of("elsewhere", redirect("/other"), "answered 302"));
    }

    /** None of these may look like "there is no such schema": a reader would skip a record that is readable. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("noAnswers")
    void anInvalidReplyIsUnavailable(String name, ScriptedServer.Step step, String why) throws Exception {
        ScriptedServer server = server(step);
        RegistryClient client = client(server);

        RegistryUnavailableException e = assertThrows(RegistryUnavailableException.class, () -> client.byId(7));

        assertTrue(e.toString().contains(why), e.toString());
        assertTrue(e.toString().contains(server.baseUrl()), e.toString());
        assertEquals(QUICK.rounds(), server.requests(), "asked once a round");
        assertThrows(RegistryUnavailableException.class, () -> client.register(subject(ONE), ONE));
    }

    static Stream<ScriptedServer.Step> hangs() {
        return Stream.of(silence(), halfABody());
    }

    @ParameterizedTest
    @MethodSource("hangs")
    void aReplyThatDoesNotEndIsUnavailableInTime(ScriptedServer.Step hang) throws Exception {
        ScriptedServer server = server(hang);
        RegistryClient client = client(Credentials.NONE, limits(300, 500, 0), server);
        long startedNs = System.nanoTime();

        RegistryUnavailableException e = assertThrows(RegistryUnavailableException.class, () -> client.byId(7));

        // 300 ms for the first request and what is left of 500 ms for the second, none for the third; the rest is a slow machine's.
        Duration took = Duration.ofNanos(System.nanoTime() - startedNs);
        assertTrue(took.toMillis() >= 490 && took.toMillis() < 10_000, took.toString());
        assertTrue(e.toString().contains("no reply within"), e.toString());
        assertTrue(server.requests() <= 2, server.requests() + " requests");
    }

    @Test
    void anEndlessBodyIsCutOff() throws Exception {
        ScriptedServer server = server(endlessBody());

        assertThrows(RegistryUnavailableException.class, () -> client(server).byId(7));

        assertTrue(server.awaitClientGone(), "the client hung up");
        // Three replies of 64 KiB; what the sockets buffer comes on top.
        assertTrue(server.bytesSent() < 64 << 20, server.bytesSent() + " bytes were taken");
    }

    @Test
    void aPassingErrorIsOvercome() throws Exception {
        ScriptedServer server = server(error(503, 50301, "starting"), reply(200, "not JSON"), schema(ONE.toString()));

        assertEquals(ONE, client(server).byId(7));
        assertEquals(3, server.requests());
    }

    @Test
    void anIdIsUnknownAfterTwoReplies() throws Exception {
        ScriptedServer server = server(UNKNOWN);
        RegistryClient client = client(server);

        assertEquals(7, assertThrows(UnknownSchemaIdException.class, () -> client.byId(7)).id());
        assertEquals(2, server.requests());
        assertThrows(UnknownSchemaIdException.class, () -> client.byId(7));
        assertEquals(2, server.requests(), "remembered for a minute");
    }

    @Test
    void anUnknownIdIsRequestedAgainInTheEnd() throws Exception {
        RegistryLimits forgetful = limits(5_000, 20_000, 0);
        ScriptedServer server = server(UNKNOWN, UNKNOWN, schema(ONE.toString()));
        RegistryClient client = client(Credentials.NONE, forgetful, server);

        assertThrows(UnknownSchemaIdException.class, () -> client.byId(7));
        assertEquals(ONE, client.byId(7));
    }

    @Test
    void aFollowerThatLagsIsNotBelieved() throws Exception {
        assertEquals(ONE, client(server(UNKNOWN, schema(ONE.toString()))).byId(7));
        assertEquals(ONE, client(server(UNKNOWN), server(schema(ONE.toString()))).byId(7));
    }

    @Test
    void oneUnknownAndThenSilenceIsUnavailable() throws Exception {
        ScriptedServer server = server(UNKNOWN, reply(500, ""));

        assertThrows(RegistryUnavailableException.class, () -> client(server).byId(7));
    }

    @Test
    void theInstanceThatAnsweredIsTriedFirst() throws Exception {
        ScriptedServer broken = server(reply(500, ""));
        ScriptedServer sound = server(schema(ONE.toString()));
        RegistryClient client = client(broken, sound);

        client.byId(1);
        client.byId(2);
        client.byId(3);

        assertEquals(1, broken.requests());
        assertEquals(3, sound.requests());
    }

    @Test
    void aRememberedSchemaIsNotRequestedAgain() throws Exception {
        ScriptedServer schemas = server(schema(ONE.toString()));
        RegistryClient reader = client(schemas);
        reader.byId(1);
        reader.byId(1);
        assertEquals(1, schemas.requests());
        for (int id = 2; id <= 4; id++) {
            reader.byId(id);
        }
        reader.byId(4);
        assertEquals(4, schemas.requests());
        reader.byId(1);
        assertEquals(5, schemas.requests(), "the cache holds three, the first one had to leave");

        ScriptedServer ids = server(reply(200, "{\"id\":12}"));
        RegistryClient writer = client(ids);
        assertEquals(12, writer.register("s", ONE));
        assertEquals(12, writer.register("s", small("One")));
        assertEquals(1, ids.requests());
        writer.register("t", ONE);
        assertEquals(2, ids.requests(), "another subject is another question");
    }

    @Test
    void aRefusalHasTheRegistrysWords() throws Exception {
        ScriptedServer server = server(error(409, 409, "Schema being registered is incompatible"), error(422, 42201, "Invalid schema"));
        RegistryClient client = client(server);

        IncompatibleSchemaException incompatible =
                assertThrows(IncompatibleSchemaException.class, () -> client.register(subject(ONE), ONE));
        assertEquals("Schema being registered is incompatible (409)", incompatible.reason());
        assertEquals(
                "Invalid schema (42201)",
                assertThrows(IncompatibleSchemaException.class, () -> client.register(subject(ONE), ONE)).reason());
        assertEquals(2, server.requests(), "an answer is not asked for again");
    }

    @Test
    void aSchemaThatIsNotForUsIsUnreadable() throws Exception {
        assertUnreadable(reply(200, "{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax = 3;\"}"));
        assertUnreadable(reply(200, "{\"schema\":\"\\\"io.tierlog.Elsewhere\\\"\"}"));
        assertUnreadable(reply(200, "{\"schema\":\"no schema\"}"));
        assertUnreadable(reply(200, "{\"schema\":\"\\\"int\\\"\",\"references\":[{\"name\":\"a\",\"subject\":\"b\",\"version\":1}]}"));
        assertUnreadable(reply(200, "{\"schema\":\"" + "[".repeat(20_000) + "\"}"));
    }

    private void assertUnreadable(ScriptedServer.Step step) throws IOException {
        RegistryClient client = client(server(step));
        assertEquals(7, assertThrows(UnreadableSchemaException.class, () -> client.byId(7)).id());
    }

    @Test
    void requestsAreThoseOfTheApi() throws Exception {
        ScriptedServer server = server(
                reply(200, "{\"id\":1}"), schema(ONE.toString()), reply(200, "{\"compatibility\":\"FULL_TRANSITIVE\"}"));
        RegistryClient client = client(server);

        client.register("a b/c", ONE);
        client.byId(1);
        client.requireFullTransitive("a b/c");

        List<String> type = List.of("application/vnd.schemaregistry.v1+json");
        String escaped = ONE.toString().replace("\"", "\\\"");
        assertEquals(
                List.of(
                        new ScriptedServer.Seen(
                                "POST", "/subjects/a%20b%2Fc/versions", "{\"schema\":\"" + escaped + "\"}", List.of(), type),
                        new ScriptedServer.Seen("GET", "/schemas/ids/1", "", List.of(), type),
                        new ScriptedServer.Seen(
                                "PUT", "/config/a%20b%2Fc", "{\"compatibility\":\"FULL_TRANSITIVE\"}", List.of(), type)),
                server.seen());
    }

    @Test
    void aRuleThatWasNotTakenIsNotBelieved() throws Exception {
        RegistryClient client = client(server(reply(200, "{\"compatibility\":\"NONE\"}")));

        assertThrows(RegistryUnavailableException.class, () -> client.requireFullTransitive("s"));
    }

    @Test
    void credentialsAreSentAndNeverShown() throws Exception {
        ScriptedServer server = server(reply(403, "{\"message\":\"no\"}"));
        Credentials basic = new Credentials.Basic("Aladdin", "open sesame");
        Credentials bearer = new Credentials.Bearer(() -> "t0ken-one");
        Credentials broken = new Credentials.Bearer(() -> "t0ken\nX-Other: 1");

        String texts = "" + basic + bearer + broken;
        for (Credentials credentials : List.of(basic, bearer, broken)) {
            RegistryClient client = client(credentials, QUICK, server);
            texts += assertThrows(RegistryUnavailableException.class, () -> client.byId(1));
        }

        // The example of RFC 7617. Three rounds each, none for a token that is no header.
        List<String> sent = server.seen().stream().flatMap(s -> s.authorization().stream()).toList();
        assertEquals(6, sent.size());
        assertEquals("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", sent.get(0));
        assertEquals("Bearer t0ken-one", sent.get(3));
        assertFalse(texts.contains("t0ken") || texts.contains("sesame") || texts.contains("QWxhZGR"), texts);
    }

    @Test
    void aRedirectIsNotFollowed() throws Exception {
        ScriptedServer elsewhere = server(schema(ONE.toString()));
        RegistryClient client = client(new Credentials.Bearer(() -> "secret"), QUICK, server(redirect(elsewhere.baseUrl())));

        assertThrows(RegistryUnavailableException.class, () -> client.byId(1));
        assertEquals(0, elsewhere.requests());
    }

    @Test
    void anInterruptEndsTheCallAndStays() throws Exception {
        RegistryClient client = client(server(silence()));
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            assertThrows(RegistryUnavailableException.class, () -> client.byId(1));
            flag.complete(Thread.currentThread().isInterrupted());
        });
        caller.start();
        caller.interrupt();

        assertTrue(flag.get(20, TimeUnit.SECONDS));
    }

    @Test
    void closingEndsCallsUnderWay() throws Exception {
        ScriptedServer server = server(silence());
        RegistryLimits patient = limits(20_000, 20_000, 0);
        RegistryClient client = client(Credentials.NONE, patient, server);
        CompletableFuture<RegistryUnavailableException> ended = new CompletableFuture<>();
        Thread caller =
                new Thread(() -> ended.complete(assertThrows(RegistryUnavailableException.class, () -> client.byId(1))));
        caller.start();
        assertTrue(server.awaitAsked());

        client.close();

        assertTrue(ended.get(10, TimeUnit.SECONDS).toString().contains(server.baseUrl()));
        assertThrows(RegistryUnavailableException.class, () -> client.byId(2));
    }
}
