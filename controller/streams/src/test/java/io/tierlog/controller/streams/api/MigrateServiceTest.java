/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.ServerException;
import io.tierlog.controller.streams.TestBroker;
import io.tierlog.operator.v1.Block;
import io.tierlog.operator.v1.Method;
import io.tierlog.operator.v1.MigrateCacheRequest;
import io.tierlog.operator.v1.MigrateCacheResponse;
import io.tierlog.operator.v1.OperatorGrpc;
import io.tierlog.operator.v1.Retention;
import io.tierlog.operator.v1.Sample;
import io.tierlog.operator.v1.Tier;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.tls.Tls;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** MigrateCache over gRPC, beside a controller that a test plays. */
@Tag("slow")
class MigrateServiceTest {
    private static final Metadata.Key<String> PROBLEM = GrpcCalls.entry("tierlog-problem");

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
    private static ManagedChannel channel;

    @BeforeAll
    static void start() throws Exception {
        Path tokens = Files.writeString(directory.resolve("tokens"),
                "operator bob sha256:" + digest("o-token") + "\nreader ann sha256:" + digest("r-token"));
        ApiConfig config = ApiConfig.loopback(0).withGrpc(Endpoint.parse("127.0.0.1:0")).withTokens(tokens);
        server = new ApiUnderTest(BROKER.kafka(), 1, config);
        controller = server.controller;
        try (ApiClient client = new ApiClient(server.api.port())) {
            client.token("o-token").awaitReady();
        }
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.api.grpcPort()).usePlaintext().build();
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        server.close();
    }

    @Test
    void aMigrationIsAnsweredBlockByBlock() {
        MigrateCacheRequest both = copy("g1").addNodes("b").build();
        CompletableFuture<MigrateCacheResponse> asked =
                CompletableFuture.supplyAsync(() -> stub("o-token").withDeadlineAfter(30, TimeUnit.SECONDS).migrateCache(both));
        MigrationRequested event = controller.next(MigrationRequested.class).event();
        assertEquals(World.order(1, 2, 3), event.order());
        assertTrue(event.envelope().sender().startsWith("operator/bob/"), event.envelope().sender());
        controller.commit(() -> controller.row(Rows.MIGRATIONS, World.migrationKey("g1"),
                World.migration(MigrationState.RUNNING, event.order(), World.part("a", World.answer(event.order().blocks())),
                        World.part("b", new MigrationAnswer(List.of(), List.of(), List.of(), List.of(MigrationRefusal.TARGET_UNAVAILABLE))))));
        MigrateCacheResponse answer = asked.join();
        assertEquals("RUNNING", answer.getState());
        assertEquals(false, answer.getPending() || answer.getRepeated());
        assertEquals(List.of(Method.METHOD_COPY, Method.METHOD_MARK),
                answer.getNodes(0).getAcceptedList().stream().map(block -> block.getMethod()).toList());
        assertEquals("NOT_FOUND", answer.getNodes(0).getRejected(0).getReason());
        assertEquals(block(3), answer.getNodes(0).getRejected(0).getBlock());
        assertEquals("TARGET_UNAVAILABLE", answer.getNodes(1).getRejected(0).getReason());
        assertFalse(answer.getNodes(1).getRejected(0).hasBlock(), "the reason is about all blocks");
        assertTrue(answer.getAsOfMs() >= World.TIME_MS);

        assertTrue(stub("o-token").migrateCache(both).getRepeated());
        assertRefused(Status.Code.ALREADY_EXISTS, "ID_TAKEN", "o-token", copy("g1").addNodes("b").setMethod(Method.METHOD_BOTH));
        assertEquals(0, controller.waiting(Event.class));
    }

    @Test
    void shortlyBeforeTheDeadlineItIsPending() {
        MigrateCacheRequest sample = copy("").clearBlocks().clearRetention().setMethod(Method.METHOD_MARK).setDryRun(true).setMarkTimeoutMs(9_000)
                .setSample(Sample.newBuilder().setCount(5).setMinAgeMs(60_000).setGroup("chat")).build();
        MigrateCacheResponse answer = stub("o-token").withDeadlineAfter(8, TimeUnit.SECONDS).migrateCache(sample);
        assertTrue(answer.getPending());
        assertEquals("SUBMITTED", answer.getState());
        assertEquals(World.sample(), controller.next(MigrationRequested.class).event().order());
    }

    @Test
    void itRefusesWhatHttpRefuses() {
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("a b"));
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("x").clearMethod());
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("x").setTarget(Tier.TIER_HOST));
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("x").clearBlocks());
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("x").setMarkTimeoutMs(-1));
        assertRefused(Status.Code.INVALID_ARGUMENT, "INVALID_REQUEST", "o-token", copy("x").setMethodValue(77));
        assertRefused(Status.Code.PERMISSION_DENIED, "FORBIDDEN", "r-token", copy("x"));
        assertRefused(Status.Code.UNAUTHENTICATED, "UNAUTHENTICATED", "unknown", copy("x"));
        StatusRuntimeException noToken =
                assertThrows(StatusRuntimeException.class, () -> OperatorGrpc.newBlockingStub(channel).migrateCache(copy("x").build()));
        assertEquals(Status.Code.UNAUTHENTICATED, noToken.getStatus().getCode());
        assertEquals(0, controller.waiting(Event.class));
    }

    /** The longest message that the server takes becomes an event that fits into one request to a broker. */
    @Test
    void theLongestMessageReachesTheLog() {
        MigrateCacheRequest longest = longest();
        CompletableFuture<MigrateCacheResponse> asked =
                CompletableFuture.supplyAsync(() -> stub("o-token").withDeadlineAfter(30, TimeUnit.SECONDS).migrateCache(longest));
        MigrationRequested event = controller.next(MigrationRequested.class).event();
        assertEquals(ApiLimits.DEFAULTS.blocks(), event.order().blocks().size());
        controller.commit(() -> controller.row(Rows.MIGRATIONS, World.migrationKey("longest"),
                World.migration(MigrationState.RUNNING, event.order(), World.part("a", World.answer(World.order(1, 2, 3).blocks())))));
        assertEquals("RUNNING", asked.join().getState());
    }

    /** As many blocks as the server takes, with namespaces that fill the longest message. */
    private static MigrateCacheRequest longest() {
        int blocks = ApiLimits.DEFAULTS.blocks();
        int length = 0;
        MigrateCacheRequest longest = copy("longest").build();
        while (true) {
            MigrateCacheRequest.Builder next = copy("longest").clearBlocks();
            for (int i = 0; i < blocks; i++) {
                next.addBlocks(Block.newBuilder().setNamespace("n".repeat(length + 1)).setKey(ByteString.copyFromUtf8("key %05d".formatted(i))));
            }
            if (next.build().getSerializedSize() > ApiLimits.DEFAULTS.bodyBytes()) {
                return longest;
            }
            longest = next.build();
            length++;
        }
    }

    @Test
    void aMessageThatIsTooLongIsRefused() {
        MigrateCacheRequest.Builder large = copy("x");
        large.addBlocks(Block.newBuilder().setNamespace("n".repeat(2 << 20)).setKey(ByteString.copyFrom(new byte[8])));
        StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> stub("o-token").migrateCache(large.build()));
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, refused.getStatus().getCode());
    }

    @Test
    void aPortInUseIsReported() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            ApiConfig config = ApiConfig.loopback(0).withGrpc(new Endpoint("127.0.0.1", taken.getLocalPort()));
            ServerException refused = assertThrows(
                    ServerException.CannotListen.class,
                    () -> OperatorApi.start(controller.access, config, Tls.NONE, new PrometheusRegistry()).close());
            assertTrue(String.valueOf(refused.getMessage()).contains("--grpc-listen"), refused.getMessage());
        }
    }

    private static void assertRefused(Status.Code code, String problem, String token, MigrateCacheRequest.Builder request) {
        StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, () -> stub(token).migrateCache(request.build()));
        assertEquals(code, refused.getStatus().getCode(), refused.toString());
        Metadata trailers = refused.getTrailers();
        assertEquals(problem, trailers == null ? "" : trailers.get(PROBLEM));
    }

    private static OperatorGrpc.OperatorBlockingStub stub(String token) {
        Metadata headers = new Metadata();
        headers.put(GrpcCalls.entry("authorization"), "Bearer " + token);
        return OperatorGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private static MigrateCacheRequest.Builder copy(String id) {
        return MigrateCacheRequest.newBuilder().setId(id).addNodes("a").setMethod(Method.METHOD_COPY).setSource(Tier.TIER_HOST)
                .setTarget(Tier.TIER_DISK).setRetention(Retention.RETENTION_DELETE_SOURCE)
                .addBlocks(block(1)).addBlocks(block(2)).addBlocks(block(3));
    }

    private static Block block(int number) {
        return Block.newBuilder().setNamespace("chat/1").setKey(ByteString.copyFrom(World.key(number).toArray())).build();
    }

    private static String digest(String token) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }
}
