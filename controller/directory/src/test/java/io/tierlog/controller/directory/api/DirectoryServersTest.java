/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static io.tierlog.controller.directory.api.DirectoryClient.keys;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.api.DirectoryClient.Reply;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.LocalShardFanout;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.GrpcServer;
import io.tierlog.controller.http.HttpServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.Tokens;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.BatchExistResponse;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.ExistRequest;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import io.tierlog.directory.v1.WhereRequest;
import io.tierlog.schemas.Tier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * Both APIs and their limits, over an index without a broker: at most 1,030 keys a query, two gRPC queries at once. Blocks of t1/m: 0
 * and 1 on a's device and in the store, 0 to 2 on a's host, 0 to 4 on a's disk, 0 on b's host; of default/m: 0 on b's disk.
 */
class DirectoryServersTest {
    private static final String T1 = "t1/m";
    private static final int KEYS = 1_030;
    private static final int AT_ONCE = 2;

    private final LocalShardFanout blocks = new LocalShardFanout();
    private final ShardFanout fanout = blocks.fanout();
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final CountDownLatch full = new CountDownLatch(AT_ONCE);
    private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private DirectoryClient client;

    @SuppressWarnings("NullAway.Init")
    private ManagedChannel channel;

    /**
     * As many questions as may be in progress stop at a gate that is shut: those of virtual threads, which may wait. What is answered by the thread
     * of a connection does not, nor would one too many, which shall not have come so far.
     */
    private Optional<ShardFanout> fanout() {
        if (!gate.isDone() && Thread.currentThread().isVirtual() && full.getCount() > 0) {
            full.countDown();
            gate.join();
        }
        return Optional.of(fanout);
    }

    private <P extends AutoCloseable> P opened(P part) {
        open.push(part);
        return part;
    }

    @BeforeEach
    void start() {
        opened(blocks);
        blocks.put(T1, 0, "node/b", Tier.HOST).put("default/m", 0, "node/b", Tier.DISK);
        IntStream.range(0, 2).forEach(i -> blocks.put(T1, i, "node/a", Tier.DEVICE).put(T1, i, "store/0", Tier.STORE));
        IntStream.range(0, 3).forEach(i -> blocks.put(T1, i, "node/a", Tier.HOST));
        IntStream.range(0, 5).forEach(i -> blocks.put(T1, i, "node/a", Tier.DISK));
        LookupQueries questions = new LookupQueries(this::fanout, KEYS, Costs.DEFAULTS, Optional.empty());
        Models models = new Models(Map.of("m", VllmKeys.parse("sha256_cbor:0")), Map.of(), Map.of());
        Indexer indexer = new Indexer(models, new QueryNamespaces("{tenant}/{model}"), Indexer.COMPUTE_US);
        Listener where = new Listener("--test", new Endpoint("127.0.0.1", 0), new ServerLimits(2 << 20, 8, 4));
        Tokens everybody = Tokens.scoped(Optional.empty());
        DirectoryService service = new DirectoryService(everybody, questions, AT_ONCE, registry);
        GrpcServer grpc = opened(new GrpcServer(where, List.of(service), 32, DirectoryService.WAITLESS));
        HttpServer http = opened(new HttpServer(where, everybody, new DirectoryRoutes(questions, indexer).all()));
        client = opened(new DirectoryClient(http.port()));
        channel = NettyChannelBuilder.forAddress("127.0.0.1", grpc.port()).usePlaintext().build();
        opened(channel::shutdownNow);
    }

    @AfterEach
    void stop() throws Exception {
        gate.complete(null);
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private DirectoryGrpc.DirectoryBlockingStub grpc() {
        return DirectoryGrpc.newBlockingStub(channel);
    }

    private StreamClient stream() {
        return new StreamClient(DirectoryGrpc.newStub(channel), true);
    }

    private static BatchExistRequest.Builder exist(int count) {
        return BatchExistRequest.newBuilder()
                .setNamespace(T1)
                .setKeyBytes(16)
                .setPackedKeys(ByteString.copyFrom(DirectoryClient.packed(0, count)));
    }

    private static LookupRequest.Builder lookup(int count) {
        return LookupRequest.newBuilder()
                .setNamespace(T1)
                .setKeyBytes(16)
                .setPackedKeys(ByteString.copyFrom(DirectoryClient.packed(0, count)));
    }

    /** 1,025 keys of 32 bytes, which are too many for the thread of a connection. */
    private static StreamRequest lengthy() {
        BatchExistRequest keys = exist(1).setKeyBytes(32).setPackedKeys(ByteString.copyFrom(new byte[1_025 * 32])).build();
        return StreamRequest.newBuilder().setExist(keys).build();
    }

    private static StreamRequest brief(BatchExistRequest.Builder exist) {
        return StreamRequest.newBuilder().setExist(exist).build();
    }

    private static StatusRuntimeException refused(Executable call) {
        return assertThrows(StatusRuntimeException.class, call);
    }

    private static void assertInvalid(Executable call) {
        assertEquals(Status.Code.INVALID_ARGUMENT, refused(call).getStatus().getCode());
    }

    private long refusals() {
        return registry.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals("tierlog_directory_grpc_refused"))
                .flatMap(each -> ((CounterSnapshot) each).getDataPoints().stream())
                .mapToLong(point -> (long) point.getValue())
                .sum();
    }

    /** Waits until as many questions as may be stand at the gate. */
    private void awaitFull() throws InterruptedException {
        assertTrue(full.await(30, TimeUnit.SECONDS), "questions stand at the gate");
    }

    /** What is in an index here and short is answered still. */
    @Test
    void oneCallTooManyIsOverloaded() throws Exception {
        List<Future<BatchExistResponse>> asked = fill();
        StatusRuntimeException refused = refused(() -> grpc().batchExist(lengthy().getExist()));
        assertEquals("UNAVAILABLE: 2 gRPC queries are in progress", refused.getMessage());
        assertEquals("OVERLOADED", Status.trailersFromThrowable(refused).get(GrpcCalls.entry("tierlog-problem")));
        assertEquals(1, refusals());
        assertEquals(List.of(5, 5), List.of(grpc().lookup(lookup(6).build()).getBlocks(), grpc().lookup(lookup(5).build()).getBlocks()));
        assertEquals(1, refusals());
        gate.complete(null);
        for (Future<BatchExistResponse> one : asked) {
            assertEquals(ByteString.copyFrom(new byte[] {1}), one.get(30, TimeUnit.SECONDS).getAnswers());
        }
        // A query that was refused for another reason frees its slot too.
        for (int i = 0; i <= AT_ONCE; i++) {
            assertInvalid(() -> grpc().batchExist(exist(1).setKeyBytes(7).build()));
            assertEquals(1_025, grpc().batchExist(lengthy().getExist()).getAnswers().size());
        }
        assertEquals(1, refusals());
    }

    /** As many calls as may be stand at the gate. */
    private List<Future<BatchExistResponse>> fill() throws InterruptedException {
        gate = new CompletableFuture<>();
        List<Future<BatchExistResponse>> asked = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            asked.add(DirectoryGrpc.newFutureStub(channel).batchExist(exist(1).build()));
        }
        awaitFull();
        return asked;
    }

    /** At the limit no query that needs another instance is admitted, however short it is. */
    @Test
    void aShortCallThatIsNotInTheIndexHereNeedsAdmission() throws Exception {
        List<Future<BatchExistResponse>> asked = fill();
        blocks.leave();
        ByteString key = exist(1).getPackedKeys();
        List<Executable> calls = List.of(
                () -> grpc().batchExist(exist(1).build()),
                () -> grpc().lookup(lookup(1).build()),
                () -> grpc().exist(ExistRequest.newBuilder().setNamespace(T1).setKey(key).build()),
                () -> grpc().where(WhereRequest.newBuilder().setNamespace(T1).setKey(key).build()));
        for (Executable call : calls) {
            assertEquals("UNAVAILABLE: 2 gRPC queries are in progress", refused(call).getMessage());
        }
        assertEquals(calls.size(), refusals());
        gate.complete(null);
        for (Future<BatchExistResponse> one : asked) {
            assertEquals(ByteString.copyFrom(new byte[] {Presence.UNKNOWN.code()}), one.get(30, TimeUnit.SECONDS).getAnswers());
        }
    }

    /** A short query that is in an index here needs no admission, so it is answered at the limit. */
    @Test
    void inAStreamOneQueryTooManyIsOverloadedAndTheStreamContinues() throws Exception {
        gate = new CompletableFuture<>();
        List<StreamClient> asked = List.of(stream().ask(lengthy()), stream().ask(lengthy()));
        awaitFull();
        List<StreamResponse> answers = stream().ask(lengthy()).ask(brief(exist(1))).end();
        assertEquals("OVERLOADED 2 gRPC queries are in progress",
                answers.getFirst().getProblem().getKind() + " " + answers.getFirst().getProblem().getDetail());
        assertEquals(ByteString.copyFrom(new byte[] {1}), answers.getLast().getExist().getAnswers());
        assertEquals(1, refusals());
        gate.complete(null);
        for (StreamClient one : asked) {
            assertEquals(1_025, one.end().getFirst().getExist().getAnswers().size());
        }
        List<StreamResponse> more = stream().ask(lengthy()).ask(lengthy()).ask(lengthy()).end();
        assertEquals(List.of(1_025, 1_025, 1_025), more.stream().map(each -> each.getExist().getAnswers().size()).toList());
    }

    private static List<String> fieldsOf(Reply refused) {
        assertEquals("400 invalid-request", refused.status() + " " + refused.problem());
        List<String> fields = new ArrayList<>();
        refused.body().path("errors").forEach(error -> fields.add(error.path("field").asText()));
        return fields;
    }

    private static String query(String field, String list) {
        return "{\"model\":\"m\",\"tenant_id\":\"t1\",\"block_size\":16,\"" + field + "\":[" + list + "]}";
    }

    private static String hashes(int count) {
        return IntStream.range(0, count).mapToObj(i -> "\"" + PlacementLog.key(i).hex() + "\"").collect(Collectors.joining(","));
    }

    private static String tokens(int count) {
        return IntStream.range(0, count).mapToObj(i -> "1").collect(Collectors.joining(","));
    }

    @Test
    void keysAreBoundedOverHttp() throws Exception {
        for (String path : List.of("/v1/batch_exist", "/v1/lookup")) {
            assertEquals(200, client.ask(path, keys(T1, "", IntStream.range(0, KEYS))).status(), path);
            assertEquals(List.of("keys"), fieldsOf(client.ask(path, keys(T1, "", IntStream.range(0, KEYS + 1)))), path);
        }
        for (String field : List.of("seq_hashes", "block_hash")) {
            assertEquals(200, client.ask("/query_by_hash", query(field, hashes(KEYS))).status(), field);
            assertEquals(List.of(field), fieldsOf(client.ask("/query_by_hash", query(field, hashes(KEYS + 1)))));
        }
        // Tokens count as the whole blocks that they are.
        assertEquals(200, client.ask("/query", query("token_ids", tokens(KEYS * 16 + 15))).status());
        Reply refused = client.ask("/query", query("token_ids", tokens(KEYS * 16 + 16)));
        assertEquals(List.of("token_ids"), fieldsOf(refused));
        assertTrue(refused.body().path("detail").asText().contains("1031 blocks, more than 1030"), () -> refused.body().toString());
        // These take one key.
        for (String path : List.of("/v1/exist", "/v1/where")) {
            assertEquals(List.of("key", "keys"), fieldsOf(client.ask(path, keys(T1, 0, 1))), path);
        }
    }

    @Test
    void keysAreBoundedOverGrpc() throws Exception {
        assertEquals(KEYS, grpc().batchExist(exist(KEYS).build()).getAnswers().size());
        assertInvalid(() -> grpc().batchExist(exist(KEYS + 1).build()));
        assertEquals(5, grpc().lookup(lookup(KEYS).build()).getBlocks());
        assertInvalid(() -> grpc().lookup(lookup(KEYS + 1).build()));
        List<StreamResponse> answers = stream()
                .ask(StreamRequest.newBuilder().setLookup(lookup(KEYS)).build())
                .ask(StreamRequest.newBuilder().setLookup(lookup(KEYS + 1)).build())
                .ask(brief(exist(KEYS + 1)))
                .end();
        assertEquals(List.of("", "INVALID_REQUEST", "INVALID_REQUEST"), answers.stream().map(each -> each.getProblem().getKind()).toList());
        // These take one key: what is longer than one is none.
        ByteString long33 = ByteString.copyFrom(new byte[33]);
        assertInvalid(() -> grpc().where(WhereRequest.newBuilder().setNamespace(T1).setKey(long33).build()));
        assertInvalid(() -> grpc().exist(ExistRequest.newBuilder().setNamespace(T1).setKey(long33).build()));
    }

    @Test
    void everyApiValidatesNodeNames() throws Exception {
        for (String wrong : List.of("no name", "a/b", "é", "n".repeat(65), " ")) {
            assertEquals(List.of("node"), fieldsOf(client.ask("/v1/lookup", keys(T1, ",\"node\":\"" + wrong + "\"", IntStream.of(0)))));
            assertInvalid(() -> grpc().lookup(lookup(1).setNode(wrong).build()));
            assertInvalid(() -> grpc().batchExist(exist(1).setNode(wrong).build()));
            assertInvalid(() -> grpc().exist(ExistRequest.newBuilder()
                    .setNamespace(T1)
                    .setKey(ByteString.copyFrom(DirectoryClient.packed(0, 1)))
                    .setNode(wrong)
                    .build()));
            assertEquals("INVALID_REQUEST", stream().ask(brief(exist(1).setNode(wrong))).end().getFirst().getProblem().getKind());
        }
        assertEquals("a", grpc().lookup(lookup(1).setNode("a").build()).getBestNode());
        assertEquals("n".repeat(64), grpc().lookup(lookup(1).setNode("n".repeat(64)).build()).getBestNode());
    }

    /** a's device has 2 blocks of 16 tokens, its host 3, its disk 5, together 5; the store has 2; b's host 1. */
    @Test
    void aQueryIsAnsweredInTokensOfEachTierByTenantAndInstance() throws Exception {
        String a = "\"a\":{\"longest_matched\":80,\"GPU\":32,\"CPU\":48,\"DISK\":80,\"STORE\":32}";
        String b = "\"b\":{\"longest_matched\":16,\"GPU\":0,\"CPU\":16,\"DISK\":0,\"STORE\":32}";
        String all = query("seq_hashes", hashes(6));
        assertEquals("{\"t1\":{" + a + "," + b + "}}", client.ask("/query_by_hash", all).body().toString());
        String one = all.replace("}", ",\"instance_id\":\"b\"}");
        assertEquals("{\"t1\":{" + b + "}}", client.ask("/query_by_hash", one).body().toString());
        assertEquals("{\"t1\":{}}", client.ask("/query_by_hash", one.replace("\"b\"", "\"c\"")).body().toString());
        String other = all.replace("\"tenant_id\":\"t1\",", "");
        assertEquals("{\"default\":{\"b\":{\"longest_matched\":16,\"GPU\":0,\"CPU\":0,\"DISK\":16,\"STORE\":0}}}",
                client.ask("/query_by_hash", other).body().toString());
        assertEquals("{\"t3\":{}}", client.ask("/query_by_hash", all.replace("t1", "t3")).body().toString());
    }

    /** The client holds the headers of every answer against the document. */
    @Test
    void lessThanOneBlockIsAnsweredLikeAnyOtherQuery() throws Exception {
        Reply none = client.ask("/query", query("token_ids", tokens(15)));
        assertEquals("200 {\"t1\":{}}", none.status() + " " + none.body());
        assertEquals("false -1", none.headers().firstValue("Tierlog-Stale").orElse("") + " "
                + none.headers().firstValue("Tierlog-Unknown-From").orElse(""));
        assertTrue(Long.parseLong(none.headers().firstValue("Tierlog-As-Of-Ms").orElse("")) > 0);
        assertEquals(200, client.ask("/query", query("token_ids", tokens(16))).status());
    }

    @Test
    void aBodyFullOfWrongTokensHasAShortAnswer() throws Exception {
        Reply refused = client.ask("/query", query("token_ids", "-1,".repeat(699_000) + "-1"));
        assertEquals(100, fieldsOf(refused).size());
        assertTrue(refused.body().toString().length() < 20_000, () -> refused.body().toString().length() + " characters");
    }
}
