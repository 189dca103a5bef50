/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static io.tierlog.controller.directory.api.DirectoryClient.digest;
import static io.tierlog.controller.directory.api.DirectoryClient.key;
import static io.tierlog.controller.directory.api.DirectoryClient.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryExtensions;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.api.DirectoryClient.Reply;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.probe.ProbeLimits;
import io.tierlog.controller.directory.probe.PromotionRequests;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.DirectoryPeerGrpc;
import io.tierlog.directory.v1.ExistRequest;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.directory.v1.PeerPart;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import io.tierlog.directory.v1.Tier;
import io.tierlog.directory.v1.WhereRequest;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PromotionRequested;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The queries of routers, over HTTP and gRPC, to a directory on a real broker. Blocks of t1/model: 0 to 3 on a's host, 0 to 5 on a's disk, 0 and 1
 * on b's
 * host, 0 to 7 in the store, 8 on b's device; 9 is nowhere. Of t2/model: 0 to 3 on a's disk.
 */
class DirectoryApiTest {
    private static final String T1 = "t1/model";
    private static final List<String> PROMOTED = new CopyOnWriteArrayList<>();
    private static volatile boolean failing;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init")
    private static PlacementLog log;

    @SuppressWarnings("NullAway.Init")
    private static DirectoryApp app;

    @SuppressWarnings("NullAway.Init")
    private static DirectoryClient client;

    @SuppressWarnings("NullAway.Init")
    private static ManagedChannel channel;

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        log = new PlacementLog(broker, 3);
        log.begin();
        IntStream.range(0, 4).forEach(i -> log.put(T1, i, "node/a", io.tierlog.schemas.Tier.HOST, 1));
        IntStream.range(0, 6).forEach(i -> log.put(T1, i, "node/a", io.tierlog.schemas.Tier.DISK, 1));
        IntStream.range(0, 2).forEach(i -> log.put(T1, i, "node/b", io.tierlog.schemas.Tier.HOST, 1));
        IntStream.range(0, 8).forEach(i -> log.put(T1, i, "store/0", io.tierlog.schemas.Tier.STORE, 0));
        log.put(T1, 8, "node/b", io.tierlog.schemas.Tier.DEVICE, 1);
        IntStream.range(0, 4).forEach(i -> log.put("t2/model", i, "node/a", io.tierlog.schemas.Tier.DISK, 1));
        for (int i = 0; i < 2; i++) {
            log.put("t3/model", i, "node/a", io.tierlog.schemas.Tier.DISK, 1);
            log.put("t3/model", i, "node/b", io.tierlog.schemas.Tier.HOST, 1);
        }
        log.nodeStarted("a", 1, "a.example:7171");
        log.commit();
        Path tokens = Files.writeString(directory.resolve("tokens"), "operator peers sha256:" + digest("peers") + "\n"
                + "reader all sha256:" + digest("all") + "\nreader t1 sha256:" + digest("t1") + " namespaces=t1/*, shared/model one\n");
        Path own = Files.writeString(directory.resolve("own"), "peers\n");
        DirectoryConfig config = DirectoryConfig.of(log.access, log.topics, directory.resolve("state"));
        DirectoryExtensions extras = new DirectoryExtensions(
                Optional.of(DirectoryApiTest::promote),
                ProbeLimits.DEFAULTS,
                new Indexer(new Models(Map.of(T1, DirectoryApiTest::hashed), Map.of(), Map.of()), QueryNamespaces.MODEL, Indexer.COMPUTE_US));
        app = DirectoryApp.start(config.withEndpoints(config.endpoints().withTokens(tokens, own)), extras);
        assertTrue(app.awaitRunning(Duration.ofSeconds(60)));
        client = new DirectoryClient(app.httpPort()).token("all");
        channel = NettyChannelBuilder.forAddress("127.0.0.1", app.grpcPort()).usePlaintext().build();
        PlacementLog.await("the blocks", () -> exists("all", T1, 8) == Presence.FOUND);
        // Of all partitions; an answer of one of which nothing was read yet has no time.
        PlacementLog.await("a time", () -> grpc("all").batchExist(batch(T1, IntStream.range(0, 64).toArray())).getFreshness().getAsOfMs() > 0);
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        client.close();
        app.close();
        log.close();
        broker.close();
    }

    /** A model whose block has one token, which is the block's number. */
    static PackedKeys hashed(long[] tokens, int blockTokens) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        for (long token : tokens) {
            keys.writeBytes(PlacementLog.key((int) token).unshared());
        }
        return new PackedKeys(keys.toByteArray(), 16);
    }

    private static DirectoryGrpc.DirectoryBlockingStub grpc(String token) {
        return DirectoryGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(bearer(token)));
    }

    private static Metadata bearer(String token) {
        Metadata headers = new Metadata();
        headers.put(GrpcCalls.entry("authorization"), "Bearer " + token);
        return headers;
    }

    private static ByteString packed(int... numbers) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        for (int number : numbers) {
            keys.writeBytes(PlacementLog.key(number).unshared());
        }
        return ByteString.copyFrom(keys.toByteArray());
    }

    private static Presence exists(String token, String namespace, int number) {
        ExistRequest request = ExistRequest.newBuilder().setNamespace(namespace).setKey(packed(number)).build();
        return Presence.of((byte) grpc(token).exist(request).getPresenceValue());
    }

    private static List<String> answers(Reply reply) {
        List<String> answers = new ArrayList<>();
        reply.body().path("answers").forEach(answer -> answers.add(answer.asText()));
        return answers;
    }

    @Test
    void existIsTrueWhereverTheBlockServesOnBothApis() throws Exception {
        Reply reply = client.ask("/v1/batch_exist", keys(T1, 0, 5, 7, 8, 9));
        assertEquals(List.of("FOUND", "FOUND", "FOUND", "FOUND", "NOT_FOUND"), answers(reply));
        assertEquals("FOUND", client.ask("/v1/exist", key(T1, 8)).body().path("answer").asText());
        assertEquals("NOT_FOUND", client.ask("/v1/exist", key(T1, 9)).body().path("answer").asText());
        BatchExistRequest request = BatchExistRequest.newBuilder()
                .setNamespace(T1)
                .setKeyBytes(16)
                .setPackedKeys(packed(9, 8, 7))
                .build();
        assertEquals(ByteString.copyFrom(new byte[] {2, 1, 1}), grpc("all").batchExist(request).getAnswers());
        assertTrue(grpc("all").batchExist(request).getFreshness().getAsOfMs() > 0);
    }

    private static void promote(String node, String namespace, List<PromotionRequests.Wanted> blocks) {
        blocks.forEach(block -> PROMOTED.add(node + " " + namespace + " " + block.index()));
        if (failing) {
            throw new IllegalStateException("asked to fail");
        }
    }

    /** cases/exist-promote.md, Answer: a failing prefetch never changes the answer; what is in memory starts nothing. */
    @Test
    void promotionChangesNoAnswerAndStartsOnlyWhatIsOnADiskAlone() {
        // Asked until they come, since another test may have had them promoted less than a second ago.
        for (boolean fails : List.of(true, false)) {
            failing = fails;
            PROMOTED.clear();
            PlacementLog.await("requests", () -> {
                assertEquals(9, foundWithPrefetch());
                return PROMOTED.size() >= 2;
            });
            // 4 and 5 are on a's disk alone; 0 to 3 are on a host, 6 and 7 in the store, 8 on a device.
            assertEquals(Set.of("a t1/model 4", "a t1/model 5"), Set.copyOf(PROMOTED));
        }
        assertEquals(Presence.FOUND, exists("all", T1, 4));
    }

    private static long foundWithPrefetch() {
        try {
            Reply reply = client.ask("/v1/batch_exist", keys(T1, ",\"prefetch_to_memory\":true", IntStream.range(0, 10)));
            return answers(reply).stream().filter("FOUND"::equals).count();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A named node promotes blocks of its disk, though b has them in memory; over either API. */
    @Test
    void aNodeThatIsNamedIsReadiedWhateverOthersHave() throws Exception {
        PROMOTED.clear();
        String prefetch = key("t3/model", 0).replace("}", ",\"prefetch_to_memory\":true}");
        assertEquals(200, client.ask("/v1/exist", prefetch).status());
        assertEquals(200, client.ask("/v1/exist", prefetch.replace("}", ",\"node\":\"b\"}")).status());
        assertEquals(200, client.ask("/v1/exist", prefetch.replace("}", ",\"node\":\"a\"}")).status());
        PlacementLog.await("the request of the one", () -> !PROMOTED.isEmpty());
        ExistRequest.Builder one = ExistRequest.newBuilder().setNamespace("t3/model").setKey(packed(1)).setIndex(1).setPrefetchToMemory(true);
        assertEquals(Presence.FOUND.code(), grpc("all").exist(one.setNode("b").build()).getPresenceValue());
        assertEquals(Presence.FOUND.code(), grpc("all").exist(one.setNode("a").build()).getPresenceValue());
        PlacementLog.await("the request of the other", () -> PROMOTED.size() > 1);
        assertEquals(List.of("a t3/model 0", "a t3/model 1"), PROMOTED);
        assertEquals(List.of("node"), fieldsOf(client.ask("/v1/exist", prefetch.replace("}", ",\"node\":\"no name\"}"))));
    }

    @Test
    void withoutAnythingElsePromotionsAreAskedForOnTheLog() throws Exception {
        DirectoryConfig config = DirectoryConfig.of(log.access, log.topics, directory.resolve("plain")).withNames("plain", Optional.of("plain-1"));
        try (DirectoryApp plain = DirectoryApp.start(config);
                DirectoryClient asking = new DirectoryClient(plain.httpPort())) {
            assertTrue(plain.awaitRunning(Duration.ofSeconds(60)));
            for (int number : List.of(4, 5)) {
                PlacementLog.await("the probe of " + number, () -> asked(asking, number) && promotions().size() >= number - 3);
            }
            assertEquals(501, asking.ask("/query", "{\"model\":\"x\",\"block_size\":1,\"token_ids\":[1]}").status());
        }
        RecordStamp stamp = RecordStamp.NONE;
        for (PromotionRequested asked : promotions()) {
            assertEquals("node/a", asked.envelope().aggregate());
            assertEquals(T1, asked.namespace());
            assertTrue(stamp.precedes(asked.envelope()), asked::toString);
            stamp = stamp.after(Codec.avro(asked));
        }
        assertEquals(List.of(PlacementLog.key(4), PlacementLog.key(5)),
                promotions().stream().map(asked -> asked.blocks().getFirst().key()).distinct().toList());
    }

    private static boolean asked(DirectoryClient asking, int number) {
        try {
            return asking.ask("/v1/exist", key(T1, number).replace("}", ",\"prefetch_to_memory\":true}")).status() == 200;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** All that was asked for on the log so far, in its order. */
    private static List<PromotionRequested> promotions() {
        RecordReader<Event> reader = new Codec(Schemas.bundled()).reader(Event.class);
        List<PromotionRequested> found = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(log.access.client(Map.of()), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = IntStream.range(0, log.partitions).mapToObj(i -> new TopicPartition(log.topics.events(), i)).toList();
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> {
                    if (reader.read(record.value()) instanceof Reading.Decoded<Event>(PromotionRequested asked)) {
                        found.add(asked);
                    }
                });
            }
        }
        return found;
    }

    /** cases/exist-promote.md, Tenancy: another tenant's block is not there. */
    @Test
    void tenantsSeeTheirOwn() throws Exception {
        try (DirectoryClient tenant = new DirectoryClient(app.httpPort()).token("t1")) {
            assertEquals("FOUND", tenant.ask("/v1/exist", key(T1, 0)).body().path("answer").asText());
            assertEquals("NOT_FOUND", tenant.ask("/v1/exist", key("t2/model", 0)).body().path("answer").asText());
            assertEquals(List.of("NOT_FOUND"), answers(tenant.ask("/v1/batch_exist", keys("t2/model", 0))));
            assertEquals(0, tenant.ask("/v1/where", key("t2/model", 0)).body().path("placements").size());
            assertEquals(0, tenant.ask("/v1/lookup", keys("t2/model", 0)).body().path("blocks").asInt());
            assertEquals("{\"default\":{}}",
                    tenant.ask("/query_by_hash", query("t2/model", "seq_hashes", "\"" + PlacementLog.key(0).hex() + "\"")).body().toString());
        }
        assertEquals(Presence.NOT_FOUND, exists("t1", "t2/model", 0));
        assertEquals(Presence.FOUND, exists("all", "t2/model", 0));
        // What one tenant probes is not promoted for another.
        PROMOTED.clear();
        try (DirectoryClient tenant = new DirectoryClient(app.httpPort()).token("t1")) {
            tenant.ask("/v1/exist", probeOf(0));
        }
        assertEquals(List.of("a t2/model 1"), promotedUpTo(1));
        // It would have been, had the other asked.
        assertEquals(List.of("a t2/model 1", "a t2/model 0"), promotedUpTo(0));
    }

    private static String probeOf(int number) {
        return key("t2/model", number).replace("}", ",\"index\":" + number + ",\"prefetch_to_memory\":true}");
    }

    /** All that was promoted, up to this block of t2/model: one thread looks at probes in their order, so those before it have had their turn. */
    private static List<String> promotedUpTo(int number) throws Exception {
        assertEquals(200, client.ask("/v1/exist", probeOf(number)).status());
        PlacementLog.await("the request of " + number, () -> PROMOTED.contains("a t2/model " + number));
        return List.copyOf(PROMOTED);
    }

    /**
     * a has 4 of its host and 6 of its disk, with the store 8, and 8 is on b's device. Costs: a 4 x 0 + 2 x 700 + 2 x 1,000 = 3,400; b 2 x 0 + 2
     * x 200 + 2 x 600 + 2 x 1,000 = 3,600, and it alone can have the ninth.
     */
    @Test
    void theLongestPrefixOfEachNodeAndTierAndFromWhereItCostsLeast() throws Exception {
        JsonNode body = client.ask("/v1/lookup", keys(T1, "", IntStream.range(0, 10))).body();
        assertEquals(9, body.path("blocks").asInt());
        assertEquals(-1, body.path("unknown_from").asInt());
        assertEquals(8, body.path("store_blocks").asInt());
        JsonNode a = body.path("nodes").get(0);
        assertEquals("{\"node\":\"a\",\"blocks\":6,\"tiers\":[{\"tier\":\"HOST\",\"blocks\":4},{\"tier\":\"DISK\",\"blocks\":6}],"
                        + "\"reach\":8,\"cost_us\":3400,\"peer_readable\":6,\"peer_address\":\"a.example:7171\"}",
                a.toString());
        assertEquals("{\"node\":\"b\",\"blocks\":2,\"tiers\":[{\"tier\":\"HOST\",\"blocks\":2}],\"reach\":9,\"cost_us\":3600,\"peer_readable\":2}",
                body.path("nodes").get(1).toString());
        JsonNode best = body.path("best");
        assertEquals("b 9 3600", best.path("node").asText() + " " + best.path("blocks") + " " + best.path("cost_us"));

        JsonNode forA = client.ask("/v1/lookup", keys(T1, ",\"node\":\"a\"", IntStream.range(0, 8))).body().path("best");
        assertEquals("[{\"first\":0,\"blocks\":4,\"owner\":\"node/a\",\"tier\":\"HOST\",\"block_cost_us\":0},"
                + "{\"first\":4,\"blocks\":2,\"owner\":\"node/a\",\"tier\":\"DISK\",\"block_cost_us\":700},"
                + "{\"first\":6,\"blocks\":2,\"owner\":\"store/0\",\"tier\":\"STORE\",\"block_cost_us\":1000}]", forA.path("sources").toString());
        // To one that has nothing another's host and disk are nearer than the store: 4 x 200 + 2 x 600 + 2 x 1,000.
        JsonNode forC = client.ask("/v1/lookup", keys(T1, ",\"node\":\"c\"", IntStream.range(0, 8))).body().path("best");
        assertEquals("4000 3", forC.path("cost_us") + " " + forC.path("sources").size());
    }

    @Test
    void aBlockCountsAtItsOwnPositionOnly() throws Exception {
        assertEquals(0, client.ask("/v1/lookup", keys(T1, 1, 2, 3)).body().path("blocks").asInt());
        assertEquals(3, client.ask("/v1/lookup", keys(T1, ",\"first_index\":1", IntStream.range(1, 4))).body().path("blocks").asInt());
        assertEquals(2, client.ask("/v1/lookup", keys(T1, 0, 1, 3, 2)).body().path("blocks").asInt(), "the third is not at its place");
    }

    /**
     * From block 1 on a has 3 more on its host and 5 on its disk; without the position of the first nothing is where it must be. At 8 b has a block
     * on its device, which it cannot share for read.
     */
    @Test
    void aChainMayBeginInTheMiddleOfAPrompt() {
        LookupRequest.Builder request = LookupRequest.newBuilder().setNamespace(T1).setKeyBytes(16).setPackedKeys(packed(1, 2, 3, 4, 5, 6, 7));
        assertEquals(0, grpc("all").lookup(request.build()).getBlocks());
        LookupResponse lookup = grpc("all").lookup(request.setFirstIndex(1).build());
        assertEquals("7 a 5 5", lookup.getBlocks() + " " + lookup.getNodes(0).getNode() + " " + lookup.getNodes(0).getBlocks() + " "
                + lookup.getNodes(0).getPeerReadable());
        assertEquals(List.of(3, 5), lookup.getNodes(0).getTiersList().stream().map(tier -> tier.getBlocks()).toList());
        LookupResponse onDevice = grpc("all").lookup(request.setPackedKeys(packed(8)).setFirstIndex(8).build());
        assertEquals("b 1 0 ", onDevice.getNodes(0).getNode() + " " + onDevice.getNodes(0).getBlocks() + " " + onDevice.getNodes(0).getPeerReadable()
                + " " + onDevice.getNodes(0).getPeerAddress());
    }

    @Test
    void lookupAndWhereOverGrpc() {
        LookupResponse lookup = grpc("all").lookup(LookupRequest.newBuilder()
                .setNamespace(T1)
                .setKeyBytes(16)
                .setPackedKeys(packed(0, 1, 2, 3, 4, 5, 6, 7))
                .setNode("a")
                .build());
        assertEquals("8 8 a 3400 3", lookup.getBlocks() + " " + lookup.getBestBlocks() + " " + lookup.getBestNode() + " " + lookup.getCostUs() + " "
                + lookup.getSourcesCount());
        assertEquals(List.of(Tier.TIER_HOST, Tier.TIER_DISK), lookup.getNodes(0).getTiersList().stream().map(tier -> tier.getTier()).toList());
        assertEquals("6 6 a.example:7171", lookup.getNodes(0).getBlocks() + " " + lookup.getNodes(0).getPeerReadable() + " "
                + lookup.getNodes(0).getPeerAddress());
        var where = grpc("all").where(WhereRequest.newBuilder().setNamespace(T1).setKey(packed(0)).build());
        assertEquals(Set.of("node/a TIER_HOST 1", "node/a TIER_DISK 1", "node/b TIER_HOST 1", "store/0 TIER_STORE 0"),
                Set.copyOf(where.getPlacementsList().stream()
                        .map(each -> each.getOwner() + " " + each.getTier() + " " + each.getIncarnation())
                        .toList()));
    }

    private static String query(String model, String field, String list) {
        return "{\"model\":\"" + model + "\",\"block_size\":16,\"" + field + "\":[" + list + "]}";
    }

    @Test
    void theIndexerInterfaceAnswersInTokensByTenantAndInstance() throws Exception {
        String hashes = String.join(",", IntStream.range(0, 9).mapToObj(i -> "\"" + PlacementLog.key(i).hex() + "\"").toList());
        Reply reply = client.ask("/query_by_hash", query(T1, "seq_hashes", hashes));
        assertEquals("{\"default\":{\"a\":{\"longest_matched\":96,\"GPU\":0,\"CPU\":64,\"DISK\":96,\"STORE\":128},"
                + "\"b\":{\"longest_matched\":32,\"GPU\":0,\"CPU\":32,\"DISK\":0,\"STORE\":128}}}", reply.body().toString());
        assertEquals("false", reply.headers().firstValue("Tierlog-Stale").orElse(""));
        assertEquals(reply.body(), client.ask("/query_by_hash", query(T1, "block_hash", hashes)).body());
        assertEquals(reply.body(), client.ask("/query", query(T1, "token_ids", "0,1,2,3,4,5,6,7,8")).body());
        Reply one = client.ask("/query_by_hash", query(T1, "seq_hashes", hashes).replace("}", ",\"instance_id\":\"b\",\"tenant_id\":\"default\"}"));
        assertEquals("{\"default\":{\"b\":" + reply.body().path("default").path("b") + "}}", one.body().toString());
        assertEquals("{\"default\":{}}", client.ask("/query_by_hash", query(T1, "seq_hashes", "18446744073709551615")).body().toString());
        assertEquals("{\"default\":{}}", client.ask("/query_by_hash", query(T1, "seq_hashes", "-1,-9223372036854775808")).body().toString());
        assertEquals(List.of("seq_hashes[0]"), fieldsOf(client.ask("/query_by_hash", query(T1, "seq_hashes", "-9223372036854775809"))));
        assertEquals("501 not-offered", status(client.ask("/query", query("other", "token_ids", "1"))));
        Reply salted = client.ask("/query_by_hash", query(T1, "seq_hashes", hashes).replace("}", ",\"cache_salt\":\"s\",\"lora_name\":\"l\"}"));
        assertEquals(List.of("cache_salt", "lora_name"), fieldsOf(salted).stream().sorted().toList());
    }

    private static String status(Reply reply) {
        return reply.status() + " " + reply.problem();
    }

    private static List<String> fieldsOf(Reply refused) {
        assertEquals("400 invalid-request", status(refused));
        List<String> fields = new ArrayList<>();
        refused.body().path("errors").forEach(error -> fields.add(error.path("field").asText()));
        return fields;
    }

    @Test
    void aProblemListsAllFindings() throws Exception {
        Reply all = client.ask("/v1/batch_exist",
                "{\"keys\":[\"00\",\"0011223344556677\",\"xx\",7,\"00112233445566778899\",null],\"first_index\":-1,"
                        + "\"prefetch_to_memory\":1,\"more\":2}");
        assertEquals(List.of("namespace", "keys[0]", "keys[2]", "keys[4]", "keys[5]", "first_index", "prefetch_to_memory", "more"), fieldsOf(all));
        assertEquals(List.of("namespace", "key"), fieldsOf(client.ask("/v1/exist", "{}")));
        assertEquals(List.of("namespace", "keys"), fieldsOf(client.ask("/v1/lookup", "{\"namespace\":\"\",\"keys\":[]}")));
        assertEquals(List.of("key", "node"), fieldsOf(client.ask("/v1/where", "{\"namespace\":\"n\",\"key\":\"0x\",\"node\":\"a\"}")));
        assertEquals(List.of("block_size", "model", "seq_hashes"), fieldsOf(client.ask("/query_by_hash", "{}")));
        Reply salted = client.ask("/query", "{\"model\":\"m\",\"block_size\":1,\"token_ids\":[1],\"cache_salt\":\"s\"}");
        assertEquals(List.of("cache_salt", "cache_salt"), fieldsOf(salted));
        assertEquals(List.of("token_ids[1]", "token_ids[2]"),
                fieldsOf(client.ask("/query", "{\"model\":\"m\",\"block_size\":1,\"token_ids\":[1,-1,\"x\"]}")));
        assertEquals(List.of("keys"), fieldsOf(client.ask("/v1/batch_exist", keys(T1, "", IntStream.range(0, 10_001)))));
        assertEquals(10_000, answers(client.ask("/v1/batch_exist", keys(T1, "", IntStream.range(0, 10_000)))).size());
        try (DirectoryClient anonymous = new DirectoryClient(app.httpPort())) {
            assertEquals("401 unauthenticated", status(anonymous.ask("/v1/exist", key(T1, 0))));
        }
    }

    @Test
    void badInputOverGrpc() {
        BatchExistRequest good = BatchExistRequest.newBuilder().setNamespace(T1).setKeyBytes(16).setPackedKeys(packed(0, 1)).build();
        List<BatchExistRequest> bad = List.of(
                good.toBuilder().setKeyBytes(7).build(),
                good.toBuilder().setKeyBytes(33).build(),
                good.toBuilder().setKeyBytes(15).build(),
                good.toBuilder().clearPackedKeys().build(),
                good.toBuilder().setNamespace("").build(),
                good.toBuilder().setFirstIndex(-1).build(),
                good.toBuilder().setPackedKeys(packed(IntStream.range(0, 10_001).toArray())).build());
        for (BatchExistRequest request : bad) {
            StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> grpc("all").batchExist(request));
            assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
        }
        StatusRuntimeException unknown = assertThrows(StatusRuntimeException.class, () -> grpc("wrong").batchExist(good));
        assertEquals(Status.Code.UNAUTHENTICATED, unknown.getStatus().getCode());
    }

    private static StreamClient stream(String token, boolean reading) {
        return new StreamClient(
                DirectoryGrpc.newStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(bearer(token))), reading);
    }

    private static BatchExistRequest batch(String namespace, int... numbers) {
        return BatchExistRequest.newBuilder().setNamespace(namespace).setKeyBytes(16).setPackedKeys(packed(numbers)).build();
    }

    private static StreamRequest exist(BatchExistRequest batch) {
        return StreamRequest.newBuilder().setExist(batch).build();
    }

    /** Short questions are answered at once and long ones by another thread: the order is that of the questions all the same. */
    @Test
    void aStreamAnswersEachQuestionInItsTurnAsACallWould() throws Exception {
        StreamClient stream = stream("all", true);
        BatchExistRequest large = batch(T1, IntStream.range(0, 10_000).toArray());
        LookupRequest chain = LookupRequest.newBuilder().setNamespace(T1).setKeyBytes(16).setPackedKeys(packed(0, 1, 2, 3, 4)).setNode("a").build();
        for (int i = 0; i < 300; i++) {
            stream.ask(i % 50 == 7 ? exist(large) : exist(batch(T1, i % 10))).ask(StreamRequest.newBuilder().setLookup(chain).build());
        }
        stream.ask(exist(large));
        List<StreamResponse> answers = stream.end();
        assertEquals(601, answers.size());
        ByteString all = grpc("all").batchExist(large).getAnswers();
        LookupResponse looked = grpc("all").lookup(chain).toBuilder().clearFreshness().build();
        for (int i = 0; i < 300; i++) {
            ByteString expected = i % 50 == 7 ? all : all.substring(i % 10, i % 10 + 1);
            assertEquals(expected, answers.get(2 * i).getExist().getAnswers(), "question " + i);
            assertEquals(looked, answers.get(2 * i + 1).getLookup().toBuilder().clearFreshness().build(), "question " + i);
            assertTrue(answers.get(2 * i).getExist().getFreshness().getAsOfMs() > 0);
        }
        assertEquals(all, answers.getLast().getExist().getAnswers());
    }

    @Test
    void aWrongQuestionInAStreamIsAnsweredWithItsProblemAndTheOthersGoOn() throws Exception {
        List<StreamResponse> answers = stream("all", true)
                .ask(exist(batch(T1, 0)))
                .ask(exist(batch(T1, 0).toBuilder().setKeyBytes(7).build()))
                .ask(StreamRequest.getDefaultInstance())
                .ask(exist(batch("", 0)))
                .ask(exist(batch(T1, IntStream.range(0, 10_001).toArray())))
                .ask(exist(batch(T1, 9)))
                .end();
        assertEquals(List.of("", "INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST", "INVALID_REQUEST", ""),
                answers.stream().map(answer -> answer.getProblem().getKind()).toList());
        assertTrue(answers.get(1).getProblem().getDetail().contains("key_bytes is 7"), answers::toString);
        assertTrue(answers.get(4).getProblem().getAction().contains("1 to 10000 keys"), answers::toString);
        assertEquals(ByteString.copyFrom(new byte[] {2}), answers.getLast().getExist().getAnswers());
    }

    @Test
    void inAStreamTooTenantsSeeTheirOwnAndWhoIsNotKnownIsRefused() throws Exception {
        BatchExistRequest other = batch("t2/model", 2).toBuilder().setFirstIndex(2).setPrefetchToMemory(true).build();
        PROMOTED.clear();
        List<StreamResponse> answers = stream("t1", true).ask(exist(other)).ask(exist(batch(T1, 0))).end();
        assertEquals(List.of((byte) 2, (byte) 1), answers.stream().map(each -> each.getExist().getAnswers().byteAt(0)).toList());
        assertEquals((byte) 1, stream("all", true).ask(exist(batch("t2/model", 2))).end().getFirst().getExist().getAnswers().byteAt(0));
        assertEquals(Status.Code.UNAUTHENTICATED, stream("wrong", true).status().getCode());
        assertEquals(List.of("a t2/model 3"), promotedUpTo(3), "what one tenant probes is not promoted for another");
    }

    /** Each question has 16 KiB and its answer 1 KiB: only the windows bound the queries in transit of a caller that does not read. */
    @Test
    void aCallerWhoDoesNotReadIsNotAnsweredAheadWithoutEnd() throws Exception {
        StreamClient stream = stream("all", false);
        StreamRequest question = exist(batch(T1, IntStream.range(0, 1_024).toArray()));
        int most = 3_000;
        int asked = 0;
        for (long quiet = System.nanoTime(); asked < most && System.nanoTime() - quiet < 1_000_000_000L; ) {
            if (stream.isReady()) {
                stream.ask(question);
                asked++;
                quiet = System.nanoTime();
            } else {
                LockSupport.parkNanos(1_000_000);
            }
        }
        assertTrue(asked > 10 && asked < most / 2, asked + " questions were taken");
        stream.read(asked);
        assertEquals(asked, stream.end().size());
    }

    /** The API of the other instances takes digests, which do not reveal their namespace: it is not for tenants, nor for readers. */
    @Test
    void onlyInstancesAskAsInstancesDo() {
        PeerRequest request = PeerRequest.newBuilder()
                .setNamespaceDigest(ByteString.copyFrom(Namespaces.digest(T1).unshared()))
                .setKeyBytes(16)
                .addParts(PeerPart.newBuilder().setPartition(0).setPackedKeys(packed(0)))
                .addParts(PeerPart.newBuilder().setPartition(77).setPackedKeys(packed(0)))
                .build();
        for (String token : List.of("t1", "all")) {
            StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> peer(token).ask(request));
            assertEquals(Status.Code.PERMISSION_DENIED, refused.getStatus().getCode(), token);
        }
        assertEquals(false, peer("peers").ask(request).getAnswers(0).getNotHere());
        assertEquals(true, peer("peers").ask(request).getAnswers(1).getNotHere());
        StatusRuntimeException refused = assertThrows(StatusRuntimeException.class,
                () -> peer("peers").ask(request.toBuilder().setNamespaceDigest(ByteString.EMPTY).build()));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
    }

    private static DirectoryPeerGrpc.DirectoryPeerBlockingStub peer(String token) {
        return DirectoryPeerGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(bearer(token)));
    }

    @Test
    void theDocumentIsServedAndHasEveryRoute() throws Exception {
        assertEquals(DirectoryRoutes.openApi(), client.get("/v1/openapi.json").body());
        LookupQueries questions = new LookupQueries(Optional::empty, 1, Costs.DEFAULTS, Optional.empty());
        List<String> routes = new DirectoryRoutes(questions, Indexer.NONE).all().stream()
                .map(route -> route.method() + " " + route.template())
                .toList();
        List<String> documented = new ArrayList<>(client.documented("post").stream().map("POST "::concat).toList());
        documented.addAll(client.documented("get").stream().map("GET "::concat).toList());
        assertEquals(new TreeSet<>(documented), new TreeSet<>(routes));
    }
}
