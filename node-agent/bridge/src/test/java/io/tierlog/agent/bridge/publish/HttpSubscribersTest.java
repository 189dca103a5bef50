/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import static io.tierlog.agent.bridge.DirectoryAnswers.difference;
import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.threads.ThreadFaults;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Subscribers without ZeroMQ know the same placements: over server-sent events, and by posts of which some fail. */
class HttpSubscribersTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static PublishConfig config(PlacedFacts facts, Map<String, Object> options) {
        Map<String, Object> all = new HashMap<>(options);
        all.putAll(Map.of(PublishOptions.EVENTS, "tcp://127.0.0.1:*", PublishOptions.REPLAY, "tcp://127.0.0.1:*",
                LogOptions.BOOTSTRAP_SERVERS, broker.bootstrapServers(), LogOptions.TOPIC_PREFIX, facts.topics.prefix()));
        return PublishConfig.of(OptionValues.parse(PublishOptions.options(), all));
    }

    /** Applies a batch as the page describes it. */
    private static void apply(JsonNode batch, Set<String> held) {
        for (JsonNode event : batch.get("events")) {
            for (JsonNode key : event.get("keys")) {
                String what = "%s ext-%s-dp0 %s".formatted(key.asText(), batch.get("node").asText().replace(':', '-'), event.get("tier").asText());
                if (event.get("type").asText().equals("BlockStored")) {
                    held.add(what);
                } else {
                    held.remove(what);
                }
            }
        }
    }

    @Test
    void serverSentEventsGoFromTheFirstBatchToTheLast() throws Exception {
        try (PlacedFacts facts = new PlacedFacts(KafkaAccess.of(broker.bootstrapServers()), "sse", 1, 21)) {
            facts.write(60);
            try (PublishApp publisher = PublishApp.start(config(facts, Map.of(PublishOptions.HTTP_LISTEN, "127.0.0.1:0")));
                    HttpClient client = HttpClient.newHttpClient()) {
                URI url = URI.create("http://127.0.0.1:" + publisher.httpPort() + EventPage.PATH);
                HttpResponse<InputStream> response = client.send(HttpRequest.newBuilder(URI.create(url + "?from=0&stream=0")).build(),
                        HttpResponse.BodyHandlers.ofInputStream());
                assertEquals("text/event-stream", response.headers().firstValue("Content-Type").orElse(""));
                facts.write(20);
                facts.place(0x7fff_0000_0000_0001L);
                Set<String> held = new TreeSet<>();
                long last = -1;
                try (BufferedReader lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                    while (!held.contains("7fff000000000001 ext-a-dp0 HOST")) {
                        String line = String.valueOf(lines.readLine());
                        assertTrue(line.isEmpty() || line.startsWith(":") || line.startsWith("id: ") || line.startsWith("data: "), line);
                        if (line.startsWith("data: ")) {
                            JsonNode batch = JSON.readTree(line.substring(6));
                            assertTrue(batch.get("seq").asLong() > last);
                            last = batch.get("seq").asLong();
                            apply(batch, held);
                        }
                    }
                }
                assertEquals("", difference(facts.truth(), held));
                for (String wrong : Set.of("?stream=1", "?from=x", "?since=0")) {
                    assertEquals(400, client.send(HttpRequest.newBuilder(URI.create(url + wrong)).build(),
                            HttpResponse.BodyHandlers.discarding()).statusCode(), wrong);
                }
            }
        }
    }

    @Test
    void aWebhookGetsEveryBatchInOrderThoughPostsFail() throws Exception {
        Set<String> held = new ConcurrentSkipListSet<>();
        AtomicInteger posts = new AtomicInteger();
        HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        receiver.createContext("/", exchange -> {
            JsonNode body = JSON.readTree(exchange.getRequestBody());
            boolean fails = posts.incrementAndGet() % 3 == 1;
            if (!fails) {
                body.get("batches").forEach(batch -> apply(batch, held));
            }
            exchange.sendResponseHeaders(fails ? 503 : 204, -1);
            exchange.close();
        });
        receiver.start();
        try (PlacedFacts facts = new PlacedFacts(KafkaAccess.of(broker.bootstrapServers()), "hook", 1, 22);
                PublishApp publisher = PublishApp.start(config(facts, Map.of(PublishOptions.WEBHOOK,
                        "http://127.0.0.1:" + receiver.getAddress().getPort() + "/hook")))) {
            facts.write(60);
            eventually(() -> difference(facts.truth(), held));
            facts.write(20);
            facts.place(5);
            eventually(() -> difference(facts.truth(), held));
            assertTrue(publisher.counts().of(PublishCounter.POST_FAILURES) > 0);
            assertEquals(0, publisher.counts().of(PublishCounter.PLACES_LOST));
        } finally {
            receiver.stop(0);
        }
    }

    /** Errors between two batches of a post: what was read and not posted is read again. */
    @Test
    void aWebhookGetsEveryBatchThoughItsThreadMeetsErrors() throws Exception {
        Set<String> held = new ConcurrentSkipListSet<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        receiver.createContext("/", exchange -> {
            JSON.readTree(exchange.getRequestBody()).get("batches").forEach(batch -> apply(batch, held));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
        AtomicInteger records = new AtomicInteger();
        AtomicBoolean written = new AtomicBoolean();
        try (PlacedFacts facts = new PlacedFacts(KafkaAccess.of(broker.bootstrapServers()), "errors", 1, 25);
                PublishApp publisher = PublishApp.start(config(facts, Map.of()));
                Webhook _ = publisher.webhook(URI.create("http://127.0.0.1:" + receiver.getAddress().getPort()), 0, 10_000, going -> () -> {
                    if (written.get() && records.incrementAndGet() % 17 == 0 && records.get() < 60) {
                        throw new StackOverflowError("between two records");
                    }
                    return going.getAsBoolean();
                })) {
            written.set(true);
            facts.write(60);
            eventually(() -> difference(facts.truth(), held));
            assertEquals(Map.of("publish-webhook-0", 3L), ThreadFaults.ofProcess().counts());
        } finally {
            receiver.stop(0);
            ThreadFaults.ofProcess().forget();
        }
    }

    @Test
    void aReceiverThatIsTooFarBehindLosesItsPlaceOnRecord() throws Exception {
        try (PlacedFacts facts = new PlacedFacts(KafkaAccess.of(broker.bootstrapServers()), "far", 1, 23);
                PublishApp publisher = PublishApp.start(config(facts, Map.of()))) {
            Set<Long> got = new ConcurrentSkipListSet<>();
            AtomicInteger refused = new AtomicInteger();
            HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
            receiver.createContext("/", exchange -> {
                JsonNode body = JSON.readTree(exchange.getRequestBody());
                boolean takes = publisher.counts().of(PublishCounter.PLACES_LOST) > 0;
                if (takes) {
                    body.get("batches").forEach(batch -> got.add(batch.get("seq").asLong()));
                } else {
                    refused.incrementAndGet();
                }
                exchange.sendResponseHeaders(takes ? 200 : 500, -1);
                exchange.close();
            });
            receiver.start();
            try (Webhook _ = publisher.webhook(URI.create("http://127.0.0.1:" + receiver.getAddress().getPort()), 0, 3)) {
                facts.place(1);
                eventually(() -> refused.get() > 0 ? "" : "no post came");
                for (int i = 2; i < 10; i++) {
                    facts.place(i);
                }
                eventually(() -> publisher.counts().of(PublishCounter.PLACES_LOST) == 1 ? "" : "it has its place still");
                AtomicInteger next = new AtomicInteger(100);
                eventually(() -> {
                    facts.place(next.incrementAndGet());
                    return got.isEmpty() ? "nothing new came" : "";
                });
                assertTrue(got.iterator().next() > 0, "it goes on with new batches: " + got);
            } finally {
                receiver.stop(0);
            }
        }
    }

    @Test
    void otherMachinesNeedATokenFile() {
        try (PlacedFacts facts = new PlacedFacts(KafkaAccess.of(broker.bootstrapServers()), "tokens", 1, 24)) {
            assertThrows(IllegalArgumentException.class, () -> config(facts, Map.of(PublishOptions.HTTP_LISTEN, "0.0.0.0:0")));
        }
    }
}
