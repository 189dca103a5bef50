/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.FakeCache;
import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.tls.Tls;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which requests with LMCache's events are accepted. No broker is needed: dead letters are lost here. */
class CacheEndpointTest {
    private final FakeCache cache = new FakeCache("i", 5);
    private final BridgeCounts counts = new BridgeCounts();
    private final CacheQueue queue = new CacheQueue(2, 1 << 20);
    private final EventWriter writer = new EventWriter(
            new EventWriter.Log(KafkaAccess.of("127.0.0.1:9"), Topics.DEFAULT, 1, new Codec(Schemas.bundled()), "p"), failure -> {});
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        client.close();
        writer.close();
    }

    private CacheEndpoint endpoint(Optional<Path> tokens) {
        return new CacheEndpoint(new CacheFeeds.Http(new Endpoint("127.0.0.1", 0), tokens, false), Tls.NONE, new CacheParts(queue, writer, counts));
    }

    private HttpResponse<String> post(CacheEndpoint endpoint, byte[] body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + endpoint.port() + "/events"))
                .header("Content-Type", "application/json").POST(BodyPublishers.ofByteArray(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void aRequestIsAcceptedOnceItsBatchesWaitAndRefusedWhileThereIsNoSpace() throws Exception {
        try (CacheEndpoint endpoint = endpoint(Optional.empty())) {
            HttpResponse<String> accepted = post(endpoint, FakeCache.payload(List.of(cache.next(), cache.next())));
            assertEquals(202, accepted.statusCode());
            assertEquals("{\"accepted\":2,\"malformed\":0}", accepted.body());
            byte[] more = FakeCache.payload(List.of(cache.next()));
            HttpResponse<String> full = post(endpoint, more);
            assertEquals(503, full.statusCode());
            assertEquals(Optional.of("1"), full.headers().firstValue("Retry-After"));
            assertEquals(1, counts.of(BridgeCounter.REFUSED_REQUESTS));
            assertTrue(queue.poll().isPresent());
            assertEquals(202, post(endpoint, more).statusCode());
            assertTrue(queue.poll().isPresent());
            assertTrue(queue.poll().isPresent());
            assertEquals(Optional.empty(), queue.poll(), "nothing of the refused request was taken");
        }
    }

    @Test
    void whatCannotBeReadIsRefusedAndCounted() throws Exception {
        try (CacheEndpoint endpoint = endpoint(Optional.empty())) {
            HttpResponse<String> bad = post(endpoint, "{\"batches\": [{\"seq\": 1}]}".getBytes(StandardCharsets.UTF_8));
            assertEquals(400, bad.statusCode());
            assertTrue(bad.body().contains("instance_id"), bad.body());
            assertEquals(400, post(endpoint, "{".getBytes(StandardCharsets.UTF_8)).statusCode());
            assertEquals(2, counts.of(BridgeCounter.MALFORMED));
            assertEquals(413, post(endpoint, new byte[(16 << 20) + 1]).statusCode());
            assertEquals(Optional.empty(), queue.poll());
            // Its sender and its number can be read: it is lost, and the other one is not.
            byte[] one = FakeCache.payload(List.of(cache.next().put("event_type", 7), cache.next()));
            HttpResponse<String> partly = post(endpoint, one);
            assertEquals("{\"accepted\":2,\"malformed\":1}", partly.body());
            assertEquals(3, counts.of(BridgeCounter.MALFORMED));
        }
    }

    @Test
    void anOperatorsTokenIsNeededWhereThereAreTokens(@TempDir Path directory) throws Exception {
        String line = "%s %s sha256:" + HexFormat.of().formatHex(
                MessageDigest.getInstance("SHA-256").digest("secret".getBytes(StandardCharsets.UTF_8))) + "\n";
        Path file = Files.writeString(directory.resolve("tokens"), line.formatted("operator", "lm"));
        byte[] body = FakeCache.payload(List.of(cache.next()));
        try (CacheEndpoint endpoint = endpoint(Optional.of(file))) {
            assertEquals(401, post(endpoint, body).statusCode());
            assertEquals(202, post(endpoint, body, "Authorization", "Bearer secret").statusCode());
        }
        Path reader = Files.writeString(directory.resolve("reader"), line.formatted("reader", "lm"));
        try (CacheEndpoint endpoint = endpoint(Optional.of(reader))) {
            assertEquals(403, post(endpoint, body, "Authorization", "Bearer secret").statusCode());
        }
    }

    @Test
    void otherMachinesNeedATokenOrToBeAllowed() {
        Endpoint any = new Endpoint("0.0.0.0", 0);
        assertThrows(IllegalArgumentException.class, () -> new CacheFeeds.Http(any, Optional.empty(), false));
        assertEquals(any, new CacheFeeds.Http(any, Optional.empty(), true).listen());
    }
}
