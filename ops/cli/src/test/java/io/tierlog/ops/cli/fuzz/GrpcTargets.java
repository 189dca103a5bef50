/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.agent.app.engine.EngineCallsFixture;
import io.tierlog.agent.app.peer.PeerCallsFixture;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.api.DirectoryService;
import io.tierlog.controller.directory.api.Indexer;
import io.tierlog.controller.directory.api.LookupQueries;
import io.tierlog.controller.directory.api.Models;
import io.tierlog.controller.directory.api.PeerService;
import io.tierlog.controller.directory.api.QueryNamespaces;
import io.tierlog.controller.directory.api.TokenHasher;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.LocalShardFanout;
import io.tierlog.controller.directory.streams.OtherInstanceFanout;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.Tokens;
import io.tierlog.controller.streams.api.MigrateCallsFixture;
import io.tierlog.directory.indexer.v1.GetPodScoresRequest;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.ExistRequest;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.PeerAnswer;
import io.tierlog.directory.v1.PeerPart;
import io.tierlog.directory.v1.PeerPlacements;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.directory.v1.Placement;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.WhereRequest;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.CancelRequest;
import io.tierlog.engine.v1.EvictedBlock;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.JoinRequest;
import io.tierlog.engine.v1.KvLayer;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.MemoryRegion;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.ReleaseRequest;
import io.tierlog.engine.v1.ReserveRequest;
import io.tierlog.engine.v1.SaveRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.events.Closers;
import io.tierlog.operator.v1.Block;
import io.tierlog.operator.v1.Method;
import io.tierlog.operator.v1.MigrateCacheRequest;
import io.tierlog.operator.v1.Retention;
import io.tierlog.operator.v1.Sample;
import io.tierlog.operator.v1.Tier;
import io.tierlog.peer.v1.BlockEnd;
import io.tierlog.peer.v1.Chunk;
import io.tierlog.peer.v1.ReadReply;
import io.tierlog.peer.v1.ReadRequest;
import io.tierlog.peer.v1.Refused;
import io.tierlog.peer.v1.Retry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/** All protobuf messages that another process sends: what comes behind the parser is the service, or the reader, that the product has. */
final class GrpcTargets implements AutoCloseable {
    private static final String NAMESPACE = "ns";
    private static final int MOST_KEYS = 1_000;
    private static final long ALLOCATION = 32L << 20;

    private final Closers parts = new Closers();
    private final List<FuzzTarget> all = new ArrayList<>();
    private final Map<String, ServiceCalls> services = new LinkedHashMap<>();

    /** @param directory for files, empty */
    GrpcTargets(Path directory) throws IOException {
        Path memory = Files.write(directory.resolve("device"), new byte[EngineCallsFixture.PAGES * EngineCallsFixture.BLOCK]);
        engineCalls("calls of an engine", 1, memory);
        engineCalls("calls of ranks", 2, memory);
        operatorCalls();
        directoryCalls();
        answersOfInstances();
        peerReads();
    }

    List<FuzzTarget> all() {
        return all;
    }

    /** The services by the names of their targets. */
    Map<String, ServiceCalls> services() {
        return services;
    }

    private void add(String name, List<? extends Message> corpus, FuzzTarget.Decoder decoder) {
        List<byte[]> messages = corpus.stream().map(Message::toByteArray).filter(message -> message.length > 0).toList();
        all.add(new FuzzTarget(name, FuzzTarget.Form.MESSAGES, messages, Set.of(), ALLOCATION, decoder));
    }

    private void service(String name, Supplier<ServerServiceDefinition> service, boolean isWaitedFor, List<? extends Message> corpus) {
        ServiceCalls calls = new ServiceCalls(service, isWaitedFor);
        services.put(name, calls);
        add(name, corpus, calls);
    }

    private static ByteString key(int number) {
        byte[] key = new byte[16];
        Arrays.fill(key, (byte) number);
        return ByteString.copyFrom(key);
    }

    private void engineCalls(String name, int ranks, Path memory) {
        EngineCallsFixture fixture = parts.add("calls of an engine", new EngineCallsFixture(ranks));
        List<Message> corpus = new ArrayList<>(requests());
        String s = EngineCallsFixture.SESSION;
        RegisterBuffersRequest file = RegisterBuffersRequest.newBuilder().setSession(s).setSharedMemoryPath(memory.toString())
                .setPages(EngineCallsFixture.PAGES).setBlockBytes(EngineCallsFixture.BLOCK)
                .setLayoutDigest(ByteString.copyFrom(fixture.layoutDigest())).putConfiguration("tp", "1").build();
        RegisterBuffersRequest.Builder layers = file.toBuilder().clearSharedMemoryPath();
        long each = EngineCallsFixture.BLOCK / ranks;
        for (int rank = 0; rank < ranks; rank++) {
            layers.addRegions(MemoryRegion.newBuilder().setBase(0x1000L * (rank + 1)).setBytes(each * EngineCallsFixture.PAGES)
                    .setSharedMemoryPath(memory.toString()));
            layers.addLayers(KvLayer.newBuilder().setName("layer." + rank).setRegion(rank).setSize(each * EngineCallsFixture.PAGES)
                    .setBlocks(EngineCallsFixture.PAGES).setSegmentBytes(each).setSegments(1).setRank(rank));
        }
        corpus.add(OpenRequest.newBuilder().setInstance("gpu1").build());
        corpus.add(file);
        corpus.add(layers.build());
        for (int rank = 0; rank < ranks; rank++) {
            RegisterBuffersRequest.Builder own = layers.clone().clearRegions().clearLayers()
                    .addRegions(layers.getRegions(rank)).addLayers(layers.getLayers(rank).toBuilder().setRegion(0).setRank(0));
            corpus.add(JoinRequest.newBuilder().setInstance(EngineCallsFixture.INSTANCE).setRank(rank).setBuffers(own).setLayout("kv").build());
        }
        ServiceCalls calls = new ServiceCalls(fixture::service, false);
        if (ranks == 1) { // otherwise Join waits for the other rank
            services.put(name, calls);
        }
        add(name, corpus, message -> {
            calls.decode(message);
            if (fixture.left() != 0) {
                throw new IllegalStateException(fixture.left() + " calls or sessions are left");
            }
        });
    }

    private static List<Message> requests() {
        String s = EngineCallsFixture.SESSION;
        BlockPage first = BlockPage.newBuilder().setKey(key(1)).setPage(3).setGeneration(1).build();
        BlockPage second = BlockPage.newBuilder().setIndex(1).setKey(key(2)).setPage(4).setGeneration(1).build();
        return List.of(
                SubmitRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setNamespace(NAMESPACE).addKeys(key(1)).addKeys(key(2))
                        .setPromptTokens(40).setBlockTokens(16).setDeviceBlocks(1).setReuseEligible(true).addDevicePages(first).setKeepsPages(true)
                        .setPrefillNsPerToken(100_000).build(),
                io.tierlog.engine.v1.ExistRequest.newBuilder().setSession(s).setNamespace(NAMESPACE).addKeys(key(1)).build(),
                ReserveRequest.newBuilder().setSession(s).setNamespace(NAMESPACE).addKeys(key(1)).setLeaseMs(50).build(),
                ReleaseRequest.newBuilder().setSession(s).setLease("lease").build(),
                LoadRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setNamespace(NAMESPACE).addBlocks(first).addBlocks(second)
                        .setLease("lease").build(),
                LoadRequest.newBuilder().setSession(s).setNamespace(NAMESPACE).addBlocks(first).setLease("lease").setRank(0).build(),
                io.tierlog.engine.v1.ReadRequest.newBuilder().setSession(s).setNamespace(NAMESPACE).addBlocks(second).setWaitMs(10).build(),
                PrefilledRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setDeviceBlocks(1).setLoadedBlocks(1).setComputedBlocks(1)
                        .build(),
                SealedRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setNamespace(NAMESPACE).setRoot(key(1)).addBlocks(first)
                        .addBlocks(second).build(),
                SealedRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setNamespace(NAMESPACE).setRoot(key(1)).setParent(key(1))
                        .addBlocks(second).setRank(1).build(),
                SaveRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setNamespace(NAMESPACE).addBlocks(first).build(),
                FinishRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).setGeneratedTokens(9)
                        .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).build(),
                CancelRequest.newBuilder().setSession(s).setRequest("r").setAttempt(1).build(),
                EvictedRequest.newBuilder().setSession(s).setNamespace(NAMESPACE)
                        .addBlocks(EvictedBlock.newBuilder().setKey(key(1)).setPage(3).setGeneration(1))
                        .addBlocks(EvictedBlock.newBuilder().setIndex(1).setKey(key(2)).setParent(key(1)).setPage(4).setGeneration(1)).build(),
                HealthRequest.getDefaultInstance());
    }

    private void operatorCalls() {
        MigrateCallsFixture fixture = parts.add("calls of an operator", new MigrateCallsFixture());
        MigrateCacheRequest copy = MigrateCacheRequest.newBuilder().setId("m1").addNodes("a").addNodes("b").setMethod(Method.METHOD_COPY)
                .setSource(Tier.TIER_HOST).setTarget(Tier.TIER_STORE).setRetention(Retention.RETENTION_KEEP_BOTH)
                .addBlocks(Block.newBuilder().setNamespace(NAMESPACE).setKey(key(1))).setMarkTimeoutMs(9_000).setDryRun(true).build();
        ServiceCalls calls = new ServiceCalls(fixture::service, false);
        services.put("calls of an operator", calls);
        add("calls of an operator", List.of(copy, copy.toBuilder().clearId().clearBlocks().setMethod(Method.METHOD_MARK).clearRetention()
                .setSample(Sample.newBuilder().setCount(5).setMinAgeMs(10).setGroup("chat")).build()), message -> {
            calls.decode(message);
            int appended = fixture.appended();
            if (appended > 1) {
                throw new IllegalStateException(appended + " records of one call");
            }
        });
    }

    /** Calls about one partition that is here, with one block in it. */
    private void directoryCalls() {
        LocalShardFanout blocks = parts.add("blocks", new LocalShardFanout().put(NAMESPACE, 0, "node/a", io.tierlog.schemas.Tier.HOST));
        ShardFanout fanout = blocks.fanout();
        LookupQueries queries = new LookupQueries(() -> Optional.of(fanout), MOST_KEYS, Costs.DEFAULTS, Optional.empty());
        Tokens tokens = Tokens.scoped(Optional.empty());
        DirectoryService service = new DirectoryService(tokens, queries, 8, new PrometheusRegistry());
        ByteString keys = ByteString.copyFrom(new byte[64]);
        BatchExistRequest exist = BatchExistRequest.newBuilder().setNamespace(NAMESPACE).setPackedKeys(keys).setKeyBytes(16).setNode("a").build();
        LookupRequest lookup = LookupRequest.newBuilder().setNamespace(NAMESPACE).setPackedKeys(keys).setKeyBytes(32).setNode("n").setFirstIndex(2)
                .build();
        service("calls of the directory", () -> service.bindService(), true, List.of(
                ExistRequest.newBuilder().setNamespace(NAMESPACE).setKey(key(1)).setIndex(1).setNode("a").build(),
                exist,
                lookup,
                WhereRequest.newBuilder().setNamespace(NAMESPACE).setKey(key(1)).build(),
                StreamRequest.newBuilder().setExist(exist).build(),
                StreamRequest.newBuilder().setLookup(lookup).build()));
        PeerService peers = new PeerService(tokens, () -> Optional.of(fanout), MOST_KEYS);
        service("calls of instances", () -> peers.bindService(), true, List.of(PeerRequest.newBuilder()
                .setNamespaceDigest(ByteString.copyFrom(Namespaces.digest(NAMESPACE).unshared())).setKeyBytes(16).setPlacements(true)
                .addParts(PeerPart.newBuilder().setPackedKeys(keys)).addParts(PeerPart.newBuilder().setPartition(1).setPackedKeys(key(1))).build()));
        Indexer indexer = new Indexer(new Models(Map.of("m", TokenHasher.parse("sglang")), Map.of("m", 4), Map.of()), QueryNamespaces.MODEL, 1);
        service("calls for scores", () -> service.indexer(indexer).bindService(), true, List.of(GetPodScoresRequest.newBuilder()
                .setModelName("m").setPrompt("[1, 2, 3, 4, 5]").addPodIdentifiers("a").build()));
    }

    /** What another instance says about its partition becomes the answer to a caller. */
    private void answersOfInstances() {
        AtomicReference<byte[]> answer = new AtomicReference<>(new byte[0]);
        ShardFanout fanout = new OtherInstanceFanout(answer::get).fanout();
        LookupQueries queries = new LookupQueries(() -> Optional.of(fanout), MOST_KEYS, Costs.DEFAULTS, Optional.empty());
        DirectoryService service = new DirectoryService(Tokens.scoped(Optional.empty()), queries, 8, new PrometheusRegistry());
        ByteString keys = key(1).concat(key(2));
        Placement placement = Placement.newBuilder().setOwner("node/a").setTier(io.tierlog.directory.v1.Tier.TIER_HOST).setIncarnation(1)
                .setGeneration(1).build();
        PeerPlacements placements = PeerPlacements.newBuilder().addPlacements(placement)
                .addPlacements(placement.toBuilder().setOwner("store/0").setTier(io.tierlog.directory.v1.Tier.TIER_STORE)).build();
        PeerAnswer two = PeerAnswer.newBuilder().setPresences(ByteString.copyFrom(new byte[] {1, 2})).addPlacements(placements)
                .addPlacements(PeerPlacements.getDefaultInstance())
                .setFreshness(io.tierlog.directory.v1.Freshness.newBuilder().setStale(true).setBehindRecords(3).setAsOfMs(5)).build();
        List<PeerAnswer> answers = List.of(two, two.toBuilder().clearPlacements().build(),
                PeerAnswer.newBuilder().setPresences(ByteString.copyFrom(new byte[] {1})).addPlacements(placements).build(),
                PeerAnswer.newBuilder().setNotHere(true).build());
        add("answers of instances", answers.stream().map(one -> PeerResponse.newBuilder().addAnswers(one).build()).toList(), message -> {
            answer.set(message);
            service.lookup(LookupRequest.newBuilder().setNamespace(NAMESPACE).setPackedKeys(keys).setKeyBytes(16).build(), new Answered<>());
            service.batchExist(
                    BatchExistRequest.newBuilder().setNamespace(NAMESPACE).setPackedKeys(keys).setKeyBytes(16).build(), new Answered<>());
            service.where(WhereRequest.newBuilder().setNamespace(NAMESPACE).setKey(key(1)).build(), new Answered<>());
        });
    }

    /** A caller whose valid query has an answer, whatever another instance says. */
    private static final class Answered<R> implements StreamObserver<R> {
        @Override
        public void onNext(R answer) {}

        @Override
        public void onError(Throwable failure) {
            throw new IllegalStateException("the query is refused: " + Status.fromThrowable(failure), failure);
        }

        @Override
        public void onCompleted() {}
    }

    private void peerReads() {
        PeerCallsFixture fixture = parts.add("calls of a peer", new PeerCallsFixture());
        service("calls of a peer", fixture::service, true, List.of(
                ReadRequest.newBuilder().setGrant("op-1").setAsker("b").setNamespace(NAMESPACE).addKeys(key(1)).addKeys(key(2)).build()));
        byte[] block = new byte[PeerCallsFixture.BLOCK];
        Arrays.fill(block, (byte) 5);
        CRC32C crc = new CRC32C();
        crc.update(block);
        List<UnknownFieldSet> corpus = List.of(
                replies(chunk(0, 0, block), end(0, crc), chunk(1, 0, Arrays.copyOf(block, 24)), chunk(1, 24, Arrays.copyOf(block, 40)), end(1, crc)),
                replies(ReadReply.newBuilder().setRetry(Retry.newBuilder().setAfterMs(5)).build()),
                replies(chunk(0, 0, block), ReadReply.newBuilder().setRefused(Refused.newBuilder().setReason("EXPIRED")).build()));
        all.add(new FuzzTarget("replies of a peer", FuzzTarget.Form.MESSAGES, corpus.stream().map(UnknownFieldSet::toByteArray).toList(),
                Set.of(InvalidProtocolBufferException.class), ALLOCATION, message -> fixture.read(
                        UnknownFieldSet.parseFrom(message).getField(1).getLengthDelimitedList().stream().map(ByteString::toByteArray).toList())));
    }

    /** Messages of one stream, as a list in one message. */
    private static UnknownFieldSet replies(ReadReply... replies) {
        UnknownFieldSet.Field.Builder list = UnknownFieldSet.Field.newBuilder();
        for (ReadReply reply : replies) {
            list.addLengthDelimited(reply.toByteString());
        }
        return UnknownFieldSet.newBuilder().addField(1, list.build()).build();
    }

    private static ReadReply chunk(int block, long offset, byte[] data) {
        return ReadReply.newBuilder().setChunk(Chunk.newBuilder().setBlock(block).setOffset(offset).setData(ByteString.copyFrom(data))).build();
    }

    private static ReadReply end(int block, CRC32C crc) {
        return ReadReply.newBuilder().setEnd(BlockEnd.newBuilder().setBlock(block).setCrc32C((int) crc.getValue())).build();
    }

    @Override
    public void close() {
        parts.close();
    }
}
