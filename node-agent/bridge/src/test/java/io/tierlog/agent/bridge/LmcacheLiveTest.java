/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static io.tierlog.agent.bridge.DirectoryAnswers.difference;
import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.ops.process.ChildProcess;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.EngineBlocksStored;
import io.tierlog.schemas.event.Event;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From LMCache's batches, in a topic and over HTTP, to a directory: its answers are what the instances hold, or UNKNOWN. */
@Tag("slow")
class LmcacheLiveTest {
    private static final int BATCHES = 500;
    private static final String UNKNOWN = " UNKNOWN";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static LiveLog log;

    /** A cluster of its own for topics. */
    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka other;

    @BeforeAll
    static void start() throws Exception {
        log = LiveLog.start(directory);
        other = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("other")));
    }

    @AfterAll
    static void stop() {
        other.close();
        log.close();
    }

    private static Map<String, Object> options(Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(Map.of("bootstrap.servers", log.broker().bootstrapServers(), BridgeOptions.UNKNOWN_FOR, "86400"));
        all.putAll(more);
        return all;
    }

    private static BridgeApp bridge(Map<String, Object> more) {
        return BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), options(more))));
    }

    /** A bridge that can be killed. */
    static final class BridgeProcess {
        private BridgeProcess() {}

        public static void main(String[] arguments) {
            Map<String, Object> values = new TreeMap<>();
            for (String argument : arguments) {
                values.put(argument.substring(0, argument.indexOf('=')), argument.substring(argument.indexOf('=') + 1));
            }
            BridgeApp bridge = BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), values)));
            System.out.println("ready");
            bridge.ended().join();
        }

        static ChildProcess start(Map<String, Object> more) throws InterruptedException {
            List<String> arguments = options(more).entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).toList();
            return ChildProcess.java("bridge", List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"), BridgeProcess.class, arguments)
                    .readyWhen("ready"::equals).startReady(Duration.ofSeconds(60));
        }
    }

    /** A topic, and who writes to it. */
    private static final class Topic implements AutoCloseable {
        private final String name;
        private final KafkaAccess access;
        private final KafkaProducer<byte[], byte[]> producer;

        Topic(EmbeddedKafka broker, String name, int partitions) throws Exception {
            this.name = name;
            access = KafkaAccess.of(broker.bootstrapServers());
            try (Admin admin = Admin.create(access.client(Map.of()))) {
                admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1))).all().get();
            }
            producer = new KafkaProducer<>(access.client(Map.of("acks", "all")), new ByteArraySerializer(), new ByteArraySerializer());
        }

        void send(FakeCache cache, ObjectNode batch) {
            send(cache.instance(), FakeCache.payload(List.of(batch)));
        }

        void send(String key, byte[] value) {
            Future<RecordMetadata> _ = producer.send(new ProducerRecord<>(name, key.getBytes(StandardCharsets.UTF_8), value));
        }

        /** Deletes the records of partition 0. */
        void forgetAll() throws Exception {
            producer.flush();
            try (Admin admin = Admin.create(access.client(Map.of()))) {
                admin.deleteRecords(Map.of(new TopicPartition(name, 0), RecordsToDelete.beforeOffset(-1))).all().get();
            }
        }

        @Override
        public void close() {
            producer.close();
        }
    }

    private static Set<String> answers(FakeCache cache) {
        Set<String> said = new TreeSet<>();
        cache.keys().forEach((namespace, keys) -> DirectoryAnswers.answersByName(log.where(), namespace, keys)
                .forEach(each -> said.add(namespace + " " + each)));
        return said;
    }

    private static void isTrue(FakeCache cache) {
        eventually(() -> difference(cache.truth(), answers(cache)));
    }

    /** What is found is there, and what is there is found or UNKNOWN. */
    private static String wrongOrUnknown(FakeCache cache) {
        Set<String> found = answers(cache);
        Set<String> unknown = new TreeSet<>(found);
        unknown.removeIf(each -> !each.endsWith(UNKNOWN));
        found.removeAll(unknown);
        Set<String> truth = cache.truth();
        truth.removeIf(each -> !found.contains(each) && (unknown.contains(block(each) + UNKNOWN) || isFoundOnAnotherTier(found, each)));
        return difference(truth, found);
    }

    /** A block that is found says nothing of where else it may be. */
    private static boolean isFoundOnAnotherTier(Set<String> found, String placement) {
        return found.stream().anyMatch(each -> block(each).equals(block(placement)));
    }

    private static String block(String placement) {
        String[] parts = placement.split(" ", -1);
        return parts[0] + " " + parts[1];
    }

    /** A part of the batches: some come twice, and where {@code loses} some never; a process begins in the middle. */
    private static List<ObjectNode> part(FakeCache cache, Random random, int count, boolean loses) {
        List<ObjectNode> sent = new ArrayList<>();
        ObjectNode ended = cache.next();
        sent.add(ended);
        for (int i = 1; i < count; i++) {
            if (i == count / 2) {
                cache.restart();
            }
            ObjectNode batch = cache.next();
            if (!loses || random.nextInt(20) > 0) {
                sent.add(batch);
            }
            if (random.nextInt(10) == 0) {
                sent.add(sent.get(Math.max(0, sent.size() - 1 - random.nextInt(5))));
            }
        }
        // Of a process that has ended: a store or a delete that is long over.
        sent.add(sent.size() - 3, ended);
        return sent;
    }

    /** What a node has reported in its last incarnation: what it has at the end, and how often something has left. */
    private record Reported(Set<String> held, int left) {}

    /** In these events, no block begins to be where it is, and none leaves where it is not. */
    private static Reported reported(String node) {
        Map<Long, List<Event>> byIncarnation = new TreeMap<>();
        try (LogReader<Event> reader = new LogReader<>(KafkaAccess.of(log.broker().bootstrapServers()), new Codec(Schemas.bundled()),
                new LogReader.Source<>(Topics.DEFAULT.events(), Event.class, LogReader.Isolation.ALL))) {
            reader.readToEnd(entry -> {
                if (entry.reading() instanceof Reading.Decoded<Event>(Event event) && event.envelope().aggregate().equals("node/" + node)
                        && (event instanceof EngineBlocksStored || event instanceof BlocksEvicted)) {
                    byIncarnation.computeIfAbsent(event.envelope().incarnation(), _ -> new ArrayList<>()).add(event);
                }
            });
        }
        Set<String> held = new TreeSet<>();
        AtomicInteger left = new AtomicInteger();
        byIncarnation.getOrDefault(byIncarnation.keySet().stream().max(Long::compare).orElseThrow(), List.of()).forEach(event -> {
            left.addAndGet(event instanceof BlocksEvicted ? 1 : 0);
            switch (event) {
                case EngineBlocksStored e -> e.blocks().forEach(block ->
                        assertTrue(held.add(placement(node, e.namespace(), block, e.tier().name())), () -> "twice: " + e.namespace() + " " + block));
                case BlocksEvicted e -> e.blocks().forEach(block ->
                        assertTrue(held.remove(placement(node, e.namespace(), block, e.tier().name())),
                                () -> "never: " + e.namespace() + " " + block));
                default -> throw new IllegalStateException(event.toString());
            }
        });
        return new Reported(held, left.get());
    }

    private static String placement(String node, String namespace, PagedBlock block, String tier) {
        return namespace + " " + HexFormat.of().formatHex(block.block().key().unshared()) + " " + node + " " + tier;
    }

    @Test
    void aTopicOfAnotherClusterIsReadAgainByABridgeThatFollowsAKilledOne() throws Exception {
        Random random = new Random(7);
        FakeCache whole = new FakeCache("lm-a", 11);
        FakeCache lossy = new FakeCache("lm-b", 12);
        Map<String, Object> options = Map.of(BridgeOptions.LMCACHE_TOPIC, "cache-events", BridgeOptions.LMCACHE_SERVERS, other.bootstrapServers());
        try (Topic topic = new Topic(other, "cache-events", 2)) {
            ChildProcess first = BridgeProcess.start(options);
            try {
                part(whole, random, BATCHES / 2, false).forEach(batch -> topic.send(whole, batch));
                part(lossy, random, BATCHES / 2, true).forEach(batch -> topic.send(lossy, batch));
                isTrue(whole);
                eventually(() -> wrongOrUnknown(lossy));
                // Killed with batches on their way.
                part(whole, random, BATCHES / 4, false).forEach(batch -> topic.send(whole, batch));
            } finally {
                first.kill();
            }
            part(whole, random, BATCHES / 4, false).forEach(batch -> topic.send(whole, batch));
            part(lossy, random, BATCHES / 2, true).forEach(batch -> topic.send(lossy, batch));
            topic.producer.flush();
            ChildProcess second = BridgeProcess.start(options);
            try {
                isTrue(whole);
                eventually(() -> wrongOrUnknown(lossy));
                assertTrue(answers(lossy).stream().anyMatch(each -> each.endsWith(UNKNOWN)), "batches were lost");
                // Nothing twice, and nothing that has left again before the topic was read.
                assertEquals(new Reported(whole.truth(), 0), reported("ext-lm-a-dp0"));
            } finally {
                second.kill();
            }
        }
    }

    /** Posts as LMCache does: what is not answered with 2xx is posted again. */
    private static void post(HttpClient client, int port, List<ObjectNode> batches) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/events"))
                .header("Content-Type", "application/json").POST(BodyPublishers.ofByteArray(FakeCache.payload(batches))).build();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        int status = 0;
        while (status / 100 != 2) {
            assertTrue(System.nanoTime() < deadline, "not accepted: " + status);
            try {
                status = client.send(request, BodyHandlers.discarding()).statusCode();
            } catch (ConnectException e) {
                status = -1;
            } catch (IOException e) {
                status = -2;
            }
            if (status / 100 != 2) {
                LockSupport.parkNanos(50_000_000);
            }
        }
    }

    private static void postAll(HttpClient client, int port, List<ObjectNode> batches, Random random) throws Exception {
        for (int from = 0; from < batches.size();) {
            int to = Math.min(batches.size(), from + 1 + random.nextInt(20));
            post(client, port, batches.subList(from, to));
            from = to;
        }
    }

    @Test
    void whatIsPostedIsFoundAndWhatAKilledBridgeKnewIsUnknown() throws Exception {
        Random random = new Random(8);
        FakeCache whole = new FakeCache("lm-c", 13);
        FakeCache lossy = new FakeCache("lm-d", 14);
        int port = Ports.free();
        Map<String, Object> options = Map.of(BridgeOptions.LMCACHE_LISTEN, "127.0.0.1:" + port);
        try (HttpClient client = HttpClient.newHttpClient()) {
            ChildProcess first = BridgeProcess.start(options);
            try {
                postAll(client, port, part(whole, random, BATCHES / 2, false), random);
                postAll(client, port, part(lossy, random, BATCHES / 2, true), random);
                // All of what it holds is found: only that more may be there is not known.
                eventually(() -> difference(whole.truth(), found(whole)));
                eventually(() -> wrongOrUnknown(lossy));
            } finally {
                first.kill();
            }
            ChildProcess second = BridgeProcess.start(options);
            try {
                postAll(client, port, part(whole, random, BATCHES / 2, false), random);
                postAll(client, port, part(lossy, random, BATCHES / 2, true), random);
                for (FakeCache cache : List.of(whole, lossy)) {
                    eventually(() -> found(cache).isEmpty() ? "nothing is found" : wrongOrUnknown(cache));
                }
                assertEquals(found(whole), reported("ext-lm-c-dp0").held());
            } finally {
                second.kill();
            }
        }
    }

    private static Set<String> found(FakeCache cache) {
        Set<String> found = answers(cache);
        found.removeIf(each -> each.endsWith(UNKNOWN));
        return found;
    }

    @Test
    void overHttpAllIsKnownOnceWhatWasBeforeIsTooOld() throws Exception {
        Random random = new Random(9);
        FakeCache cache = new FakeCache("lm-e", 15);
        try (HttpClient client = HttpClient.newHttpClient();
                BridgeApp bridge = bridge(Map.of(BridgeOptions.LMCACHE_LISTEN, "127.0.0.1:0", BridgeOptions.UNKNOWN_FOR, 1))) {
            postAll(client, bridge.cachePort(), part(cache, random, BATCHES / 2, false), random);
            isTrue(cache);
            postAll(client, bridge.cachePort(), part(cache, random, BATCHES / 2, false), random);
            isTrue(cache);
            assertEquals(2, bridge.counts().of(BridgeCounter.RESTARTS));
            assertTrue(bridge.counts().of(BridgeCounter.REPEATS) > 0);
            assertTrue(bridge.counts().of(BridgeCounter.STALE) > 0, "batches of a process that had ended came again");
            assertTrue(bridge.counts().of(BridgeCounter.ACCESSED) > 0);
            assertTrue(bridge.counts().of(BridgeCounter.CAPACITIES) > 0);
            assertEquals(0, bridge.counts().of(BridgeCounter.MALFORMED));
            assertEquals(0, bridge.counts().of(BridgeCounter.UNKNOWN_FIELDS));
            assertEquals(0, bridge.counts().of(BridgeCounter.GAPS));
        }
        eventually(() -> difference(Set.of(), answers(cache)));
    }

    @Test
    void aBlockLeavesAPoolForAllInstancesWhicheverReportsIt() throws Exception {
        FakeCache one = new FakeCache("lm-p1", "pool", 1);
        FakeCache two = new FakeCache("lm-p2", "pool", 1);
        try (HttpClient client = HttpClient.newHttpClient();
                BridgeApp bridge = bridge(Map.of(BridgeOptions.LMCACHE_LISTEN, "127.0.0.1:0", BridgeOptions.UNKNOWN_FOR, 1))) {
            post(client, bridge.cachePort(), List.of(one.pooled("store", 1), one.pooled("store", 2)));
            post(client, bridge.cachePort(), List.of(two.pooled("store", 2), two.pooled("store", 3)));
            eventually(() -> answers(one).size() == 4 ? "" : answers(one).toString());
            post(client, bridge.cachePort(), List.of(two.pooled("delete", 1), two.pooled("delete", 2)));
            eventually(() -> answers(one).size() == 1 && answers(one).iterator().next().endsWith("ext-lm-p2-dp0 STORE") ? ""
                    : answers(one).toString());
        }
    }

    @Test
    void whatCannotBeReadIsADeadLetterAndUnknown() throws Exception {
        FakeCache cache = new FakeCache("lm-f", 16);
        try (Topic topic = new Topic(log.broker(), "lm-bad", 1); BridgeApp bridge = bridge(Map.of(BridgeOptions.LMCACHE_TOPIC, "lm-bad"))) {
            List<ObjectNode> some = part(cache, new Random(1), 40, false);
            some.forEach(batch -> topic.send(cache, batch));
            isTrue(cache);
            byte[] bad = "{\"batches\": [{\"seq\": \"unreadable record\"}]}".getBytes(StandardCharsets.UTF_8);
            topic.send("lm-f", bad);
            topic.send("never seen", new byte[] {0, 1, 2});
            eventually(() -> answers(cache).stream().allMatch(each -> each.endsWith(UNKNOWN)) ? wrongOrUnknown(cache) : "blocks are found");
            eventually(() -> log.bytes().stream().anyMatch(record -> BridgeLiveTest.contains(record, bad)) ? "" : "there is no dead letter");
            assertEquals(2, bridge.counts().of(BridgeCounter.MALFORMED));
            topic.send(cache, cache.next());
            eventually(() -> wrongOrUnknown(cache));
            assertFalse(bridge.ended().isDone());
        }
        for (byte[] form : BridgeLiveTest.forms(FakeCache.FIRST_TOKEN)) {
            assertFalse(log.bytes().stream().anyMatch(record -> BridgeLiveTest.contains(record, form)),
                    () -> "a record has a token as " + HexFormat.of().formatHex(form));
        }
    }

    @Test
    void recordsThatWereDeletedBeforeTheyWereReadLeaveTheirInstanceUnknown() throws Exception {
        FakeCache cache = new FakeCache("lm-g", 17);
        try (Topic topic = new Topic(log.broker(), "lm-short", 1)) {
            part(cache, new Random(2), 100, false).forEach(batch -> topic.send(cache, batch));
            cache.restart();
            Set<String> before = cache.truth();
            assertFalse(before.isEmpty(), "there is something on its disk");
            // The first batch of a process, and all before it is gone: what its disk has since then is not known.
            topic.forgetAll();
            part(cache, new Random(3), 20, false).forEach(batch -> topic.send(cache, batch));
            try (BridgeApp _ = bridge(Map.of(BridgeOptions.LMCACHE_TOPIC, "lm-short"))) {
                eventually(() -> found(cache).isEmpty() ? "nothing is found" : wrongOrUnknown(cache));
                before.removeAll(found(cache));
                assertFalse(before.isEmpty(), "some of it was neither stored again nor deleted");
            }
        }
    }

    @Test
    void anInstanceThatWasSilentIsGoneAndComesBackWithAllThatItHas() throws Exception {
        FakeCache cache = new FakeCache("lm-h", 18);
        try (Topic topic = new Topic(log.broker(), "lm-idle", 1);
                BridgeApp bridge = bridge(Map.of(BridgeOptions.LMCACHE_TOPIC, "lm-idle", BridgeOptions.IDLE_TIMEOUT, 2))) {
            part(cache, new Random(4), 40, false).forEach(batch -> topic.send(cache, batch));
            isTrue(cache);
            eventually(() -> difference(Set.of(), answers(cache)) + (bridge.registered() == 0 ? "" : " still registered"));
            topic.send(cache, cache.next());
            isTrue(cache);
            assertEquals(0, bridge.counts().of(BridgeCounter.GAPS));
        }
    }
}
