/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** The start of the log is deleted while a publisher runs: it answers with what is left, and its numbers stay. */
class TrimmedLogTest {
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init")
    private static KafkaAccess access;

    /** A batch of a replay: its number, and its payload in hexadecimal. */
    private record Replayed(long seq, String payload) {}

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        access = KafkaAccess.of(broker.bootstrapServers());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static PublishApp publisher(PlacedFacts facts, Map<String, Object> options) {
        Map<String, Object> all = new HashMap<>(options);
        all.putAll(Map.of(PublishOptions.EVENTS, ANY_PORT, PublishOptions.REPLAY, ANY_PORT, PublishOptions.REPLAY_TOPICS, false,
                LogOptions.BOOTSTRAP_SERVERS, broker.bootstrapServers(), LogOptions.TOPIC_PREFIX, facts.topics.prefix()));
        return PublishApp.start(PublishConfig.of(OptionValues.parse(PublishOptions.options(), all)));
    }

    /** Deletes what is before that offset, all for -1; returns where the log begins now. */
    private static long cut(PlacedFacts facts, long offset) throws Exception {
        TopicPartition where = new TopicPartition(facts.topics.decisions(), 0);
        try (Admin admin = Admin.create(access.client(Map.of()))) {
            return admin.deleteRecords(Map.of(where, RecordsToDelete.beforeOffset(offset))).lowWatermarks().get(where).get(30, TimeUnit.SECONDS)
                    .lowWatermark();
        }
    }

    private static List<Replayed> replay(PublishApp publisher, long from) {
        List<Replayed> all = new ArrayList<>();
        try (ZContext context = new ZContext()) {
            ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
            dealer.setReceiveTimeOut(60_000);
            dealer.connect(publisher.replays().getFirst());
            dealer.sendMore("");
            dealer.send(ReplayAnswer.number(from));
            while (true) {
                assertTrue(dealer.recv() != null, "no answer came after " + all.size() + " batches");
                long seq = ByteBuffer.wrap(dealer.recv()).getLong();
                String payload = HexFormat.of().formatHex(dealer.recv());
                if (seq < 0) {
                    return all;
                }
                all.add(new Replayed(seq, payload));
            }
        }
    }

    private static List<String> payloads(List<Replayed> batches) {
        return batches.stream().map(Replayed::payload).toList();
    }

    @Test
    void replaysAreAnsweredWithWhatIsLeftUnderTheNumbersThatItHad() throws Exception {
        try (PlacedFacts facts = new PlacedFacts(access, "trim", 1, 31)) {
            facts.write(220);
            try (PublishApp publisher = publisher(facts, Map.of())) {
                List<Replayed> before = replay(publisher, 0);
                assertTrue(before.size() > 300, "some marks: " + before.size());
                // Before the second mark, again, and after the last one.
                for (long offset : new long[] {50, 300, 600}) {
                    assertEquals(offset, cut(facts, offset));
                    List<Replayed> left = replay(publisher, 0);
                    assertTrue(!left.isEmpty() && left.size() < before.size(), left.size() + " of " + before.size());
                    assertEquals(before.subList(before.size() - left.size(), before.size()), left, "cut at " + offset);
                    before = left;
                    long middle = left.get(left.size() / 2).seq();
                    assertEquals(left.subList(left.size() / 2, left.size()), replay(publisher, middle));
                    try (PublishApp next = publisher(facts, Map.of())) {
                        List<Replayed> fresh = replay(next, 0);
                        assertEquals(payloads(left), payloads(fresh), "all that is left");
                        assertTrue(fresh.getFirst().seq() >= left.getFirst().seq(), "numbers jump forward only");
                    }
                }
                cut(facts, -1);
                assertEquals(List.of(), replay(publisher, 0));
                facts.place(7);
                List<Replayed> more = new ArrayList<>();
                eventually(() -> more.addAll(replay(publisher, 0)) ? "" : "the new batch is not there");
                assertEquals(before.getLast().seq() + 1, more.getFirst().seq(), "numbers go on");
                assertFalse(publisher.ended().isDone());
                assertEquals(0, publisher.counts().of(PublishCounter.LEFT));
            }
        }
    }

    @Test
    void clientsWithoutZeroMqGoOnWithWhatComesNext() throws Exception {
        AtomicInteger posts = new AtomicInteger();
        HttpServer receiver = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        receiver.createContext("/", exchange -> {
            posts.incrementAndGet();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
        URI hook = URI.create("http://127.0.0.1:" + receiver.getAddress().getPort());
        try (PlacedFacts facts = new PlacedFacts(access, "quiet", 1, 32)) {
            facts.write(20);
            try (PublishApp publisher = publisher(facts, Map.of(PublishOptions.HTTP_LISTEN, "127.0.0.1:0"));
                    HttpClient client = HttpClient.newHttpClient()) {
                long next = replay(publisher, 0).getLast().seq() + 1;
                cut(facts, -1);
                URI url = URI.create("http://127.0.0.1:" + publisher.httpPort() + EventPage.PATH);
                try (Webhook _ = publisher.webhook(hook, 0, 1_000)) {
                    HttpResponse<InputStream> response = client.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofInputStream());
                    facts.place(8);
                    try (BufferedReader lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                        String line = String.valueOf(lines.readLine());
                        while (line.isEmpty() || line.startsWith(":")) {
                            line = String.valueOf(lines.readLine());
                        }
                        assertEquals("id: " + next, line);
                    }
                    eventually(() -> posts.get() > 0 ? "" : "no post came");
                    assertEquals(0, publisher.counts().of(PublishCounter.PLACES_LOST), "it got all that came");
                }
            }
        } finally {
            receiver.stop(0);
        }
    }

    /** A cursor cannot be made: here its address is none. */
    @Test
    void aReplayThatCannotReadTheLogIsRefusedAndTheNextOneIsTaken() {
        PublishCounts counts = new PublishCounts();
        AtomicReference<Throwable> ended = new AtomicReference<>();
        try (ZContext context = new ZContext()) {
            ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
            router.bind(ANY_PORT);
            String address = router.getLastEndpoint();
            BatchLog log = new BatchLog(KafkaAccess.of("no port"), Topics.DEFAULT, new Codec(Schemas.bundled()), Set.of(Tier.HOST));
            ReplayAnswer.Shape shape = new ReplayAnswer.Shape(new BatchForm(true, false, 16), true);
            ReplayServer.Parts parts = new ReplayServer.Parts(log, List.of(new BatchIndex(0)), shape, counts);
            try (ReplayServer _ = new ReplayServer(context, List.of(router), parts, ended::set)) {
                ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
                dealer.connect(address);
                for (int i = 1; i <= 2; i++) {
                    int asked = i;
                    dealer.sendMore("");
                    dealer.send(ReplayAnswer.number(0));
                    eventually(() -> counts.of(PublishCounter.REFUSED) == asked || ended.get() != null ? "" : "the question is not refused");
                }
                assertEquals(null, ended.get());
                assertEquals(2, counts.of(PublishCounter.REFUSED));
            }
        }
    }

    @Test
    void aCursorThatWaitsForTheRegistryEndsWhenItShall() throws Exception {
        AtomicBoolean asked = new AtomicBoolean();
        AtomicBoolean going = new AtomicBoolean(true);
        HttpServer registry = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        registry.createContext("/", exchange -> {
            asked.set(true);
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        registry.start();
        try (PlacedFacts facts = new PlacedFacts(access, "away", 1, 33);
                RegistryClient client = new RegistryClient(RegistryConfig.of("http://127.0.0.1:" + registry.getAddress().getPort()))) {
            facts.place(1);
            BatchLog log = new BatchLog(access, facts.topics, new Codec(client), Set.of(Tier.HOST));
            CompletableFuture<Optional<BatchLog.Numbered>> read = CompletableFuture.supplyAsync(() -> {
                try (LogCursor cursor = new LogCursor(log, new BatchIndex(0), 0, going::get)) {
                    cursor.seek(0);
                    return cursor.next(Duration.ofMinutes(10));
                }
            });
            eventually(() -> asked.get() || read.isDone() ? "" : "the registry is not asked");
            going.set(false);
            assertEquals(Optional.empty(), read.get(60, TimeUnit.SECONDS));
        } finally {
            registry.stop(0);
        }
    }
}
