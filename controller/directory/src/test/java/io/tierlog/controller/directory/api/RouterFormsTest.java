/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static io.tierlog.controller.directory.api.DirectoryClient.digest;
import static io.tierlog.controller.directory.api.DirectoryClient.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryExtensions;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.api.DirectoryClient.Reply;
import io.tierlog.controller.directory.probe.ProbeLimits;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.directory.indexer.v1.GetPodScoresRequest;
import io.tierlog.directory.indexer.v1.IndexerServiceGrpc;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What routers ask in their own forms, of a directory on a real broker. Blocks of t1/model: 0 to 3 on a's host, 0 to 5 on its disk, 0 and 1 on b's
 * host, 0 to 7 in the store, 8 on b's device. Of t4/model, whose engines only publish: see {@link #start}.
 */
class RouterFormsTest {
    private static final String T1 = "t1/model";
    private static final String T4 = "t4/model";

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

    private static void put(String model, int blocks, String owner, Tier tier) {
        IntStream.range(0, blocks).forEach(i -> log.put(model, i, owner, tier, tier == Tier.STORE ? 0 : 1));
    }

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        log = new PlacementLog(broker, 3);
        log.begin();
        put(T1, 4, "node/a", Tier.HOST);
        put(T1, 6, "node/a", Tier.DISK);
        put(T1, 2, "node/b", Tier.HOST);
        put(T1, 8, "store/0", Tier.STORE);
        log.put(T1, 8, "node/b", Tier.DEVICE, 1);
        put(T4, 3, "node/ext-pod-1-dp0", Tier.DEVICE);
        put(T4, 1, "node/ext-pod-1-dp1", Tier.DEVICE);
        put(T4, 2, "node/ext-pod-1-dp1", Tier.HOST);
        put(T4, 4, "node/ext-pod-1-dp1", Tier.DISK);
        put(T4, 2, "node/b", Tier.HOST);
        log.nodeStarted("a", 1, "a.example:7171");
        log.commit();
        Path tokens = Files.writeString(directory.resolve("tokens"), "reader all sha256:" + digest("all") + "\n");
        DirectoryConfig config = DirectoryConfig.of(log.access, log.topics, directory.resolve("state"));
        Models models = new Models(Map.of(T1, DirectoryApiTest::hashed, T4, DirectoryApiTest::hashed), Map.of(T1, 1, T4, 1),
                Map.of(T4, (model, text) -> text.chars().mapToLong(letter -> letter - 'a').toArray()));
        app = DirectoryApp.start(config.withEndpoints(config.endpoints().withTokens(tokens, tokens)),
                new DirectoryExtensions(Optional.empty(), ProbeLimits.DEFAULTS, new Indexer(models, QueryNamespaces.MODEL, 2_000)));
        assertTrue(app.awaitRunning(Duration.ofSeconds(60)));
        client = new DirectoryClient(app.httpPort()).token("all");
        channel = NettyChannelBuilder.forAddress("127.0.0.1", app.grpcPort()).usePlaintext().build();
        PlacementLog.await("the blocks", () -> app.streams().blocks() == 9 + 4);
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        client.close();
        app.close();
        log.close();
        broker.close();
    }

    private static Metadata bearer(String token) {
        Metadata headers = new Metadata();
        headers.put(GrpcCalls.entry("authorization"), "Bearer " + token);
        return headers;
    }

    private static GetPodScoresRequest prompt(String model, String prompt, String... pods) {
        return GetPodScoresRequest.newBuilder().setModelName(model).setPrompt(prompt).addAllPodIdentifiers(List.of(pods)).build();
    }

    private static List<String> scores(GetPodScoresRequest request) {
        return IndexerServiceGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(bearer("all")))
                .getPodScores(request)
                .getScoresList().stream()
                .map(score -> score.getPod() + (score.hasDataParallelRank() ? " dp" + score.getDataParallelRank() : "")
                        + String.format(Locale.ROOT, " %.2f", score.getScore()))
                .toList();
    }

    /**
     * Computing a block costs 2,000 here. Of t1: b can have 9 for 3,600, 9 - 1.8; a 8 for 3,400, 8 - 1.7. Of t4: rank 1 has 2 in memory and 2 more on
     * its disk, 4 - 2 x 700 / 2,000; rank 0 has 3 on its device; b 2 on its host.
     */
    @Test
    void podsAreScoredByCost() throws Exception {
        assertEquals(List.of("b 7.20", "a 6.30"), scores(prompt(T1, "[0,1,2,3,4,5,6,7,8,9]")));
        assertEquals(List.of("pod-1 dp1 3.30", "pod-1 dp0 3.00", "b 2.00"), scores(prompt(T4, "[0, 1, 2, 3]")));
        assertEquals(List.of("pod-1 dp1 3.30", "pod-1 dp0 3.00"), scores(prompt(T4, "abcd", "pod-1", "pod-7")));
        assertEquals(List.of("pod-1 dp0 3.00"), scores(prompt(T4, "abcd", "ext-pod-1-dp0")));
        assertEquals(List.of(), scores(prompt(T4, "zz")));
        assertEquals(List.of(), scores(prompt(T4, "")));
        assertEquals("{\"b\":2.0,\"pod-1\":3.3}", client.ask("/score_completions", "{\"model\":\"t4/model\",\"prompt\":\"abcd\"}").body().toString());
        JsonNode scores = client.ask("/v1/scores", keys(T4, 0, 1, 2, 3).replace("}", ",\"pods\":[\"pod-1\"]}")).body();
        assertEquals("[{\"pod\":\"pod-1\",\"node\":\"ext-pod-1-dp1\",\"blocks\":4,\"score\":3.3,\"share\":0.825,\"data_parallel_rank\":1},"
                + "{\"pod\":\"pod-1\",\"node\":\"ext-pod-1-dp0\",\"blocks\":3,\"score\":3.0,\"share\":0.75,\"data_parallel_rank\":0}]",
                scores.path("scores").toString());
    }

    @Test
    void aPromptThatCannotBeScoredIsRefusedWithTheReason() throws Exception {
        assertEquals(501, client.ask("/score_completions", "{\"model\":\"t1/model\",\"prompt\":\"abcd\"}").status(), "no tokenizer");
        assertEquals(501, client.ask("/score_completions", "{\"model\":\"x\",\"prompt\":\"[1]\"}").status(), "no hash");
        assertEquals(400, client.ask("/score_completions", "{\"model\":\"t1/model\",\"prompt\":\"[1, -1]\"}").status());
        StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> scores(prompt(T1, "[1, \"a\"]")));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode(), refused.toString());
        StatusRuntimeException stranger = assertThrows(StatusRuntimeException.class,
                () -> IndexerServiceGrpc.newBlockingStub(channel).getPodScores(prompt(T1, "[1]")));
        assertEquals(Status.Code.UNAUTHENTICATED, stranger.getStatus().getCode(), stranger.toString());
    }

    /** Dynamo's standalone indexer: tokens by instance and rank, and how many have each block. A block has one token here. */
    @Test
    void aQueryInDynamosFormIsAnsweredByInstanceAndRank() throws Exception {
        String answer = "{\"scores\":{\"pod-1\":{\"1\":4,\"0\":3},\"b\":{\"0\":2}},\"frequencies\":[3,3,2,1],\"tree_sizes\":{}}";
        assertEquals(answer, client.ask("/query", "{\"model_name\":\"t4/model\",\"token_ids\":[0,1,2,3]}").body().toString());
        String hashes = String.join(",", IntStream.range(0, 4).mapToObj(i -> "\"" + PlacementLog.key(i).hex() + "\"").toList());
        Reply byHash = client.ask("/query_by_hash", "{\"model_name\":\"t4/model\",\"tenant_id\":\"default\",\"block_hashes\":[" + hashes + "]}");
        assertEquals(answer, byHash.body().toString());
        assertEquals("-1", byHash.headers().firstValue("Tierlog-Unknown-From").orElse(""));
        assertEquals(501, client.ask("/query", "{\"model_name\":\"x\",\"token_ids\":[0]}").status());
    }
}
