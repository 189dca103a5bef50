/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.BindableService;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.directory.api.LookupQueries.Existence;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.streams.PeerMessages;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.BatchExistResponse;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.ExistRequest;
import io.tierlog.directory.v1.ExistResponse;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.directory.v1.NodePrefix;
import io.tierlog.directory.v1.Presence;
import io.tierlog.directory.v1.SourceRun;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import io.tierlog.directory.v1.TierPrefix;
import io.tierlog.directory.v1.WhereRequest;
import io.tierlog.directory.v1.WhereResponse;
import java.util.Set;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directory over gRPC. Safe for use by several threads. */
public final class DirectoryService extends DirectoryGrpc.DirectoryImplBase {
    /** Methods that never wait on the thread that calls them: what would is handed to another one. */
    public static final Set<String> WAITLESS = Set.of(DirectoryGrpc.getStreamMethod().getFullMethodName());

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryService.class);

    private final Tokens tokens;
    private final LookupQueries questions;
    private final AdmissionLimiter limiter;

    /**
     * A service for callers with a token.
     *
     * @param most queries in progress at once, calls and streams together; one more is refused as OVERLOADED, unless it is short and all of it is
     *     in an index here. Such a query of a stream, which the thread of its connection answers, does not count either
     * @param registry gets the count of refused queries
     */
    public DirectoryService(Tokens tokens, LookupQueries questions, int most, PrometheusRegistry registry) {
        this.tokens = tokens;
        this.questions = questions;
        limiter = new AdmissionLimiter(most, registry);
    }

    /** Scores as llm-d's indexer has them, with the same tokens and the same limit. */
    public BindableService indexer(Indexer indexer) {
        return new IndexerService(tokens, indexer.scores(questions), limiter);
    }

    @Override
    public void exist(ExistRequest request, StreamObserver<ExistResponse> answers) {
        answer(answers, request.getKey(), (whom, caller) -> {
            BlockChain chain = chain(whom, request.getNamespace(), request.getKey(), request.getKey().size(), request.getIndex());
            Existence known = whom.exist(caller, chain, request.getPrefetchToMemory(), NodeNames.of(request.getNode()));
            return ExistResponse.newBuilder()
                    .setPresence(Presence.forNumber(known.first().code()))
                    .setFreshness(PeerMessages.of(known.freshness()))
                    .build();
        });
    }

    @Override
    public void batchExist(BatchExistRequest request, StreamObserver<BatchExistResponse> answers) {
        answer(answers, request.getPackedKeys(), (whom, caller) -> exist(whom, caller, request));
    }

    /** Answers a batch; throws {@link Problem}. */
    static BatchExistResponse exist(LookupQueries questions, Caller caller, BatchExistRequest request) {
        BlockChain chain = chain(questions, request.getNamespace(), request.getPackedKeys(), request.getKeyBytes(), request.getFirstIndex());
        Existence known = questions.exist(caller, chain, request.getPrefetchToMemory(), NodeNames.of(request.getNode()));
        return BatchExistResponse.newBuilder()
                // The array has no other owner from here on.
                .setAnswers(UnsafeByteOperations.unsafeWrap(known.presences()))
                .setFreshness(PeerMessages.of(known.freshness()))
                .build();
    }

    @Override
    public void lookup(LookupRequest request, StreamObserver<LookupResponse> answers) {
        answer(answers, request.getPackedKeys(), (whom, caller) -> lookup(whom, caller, request));
    }

    /** Answers a chain; throws {@link Problem}. */
    static LookupResponse lookup(LookupQueries questions, Caller caller, LookupRequest request) {
        BlockChain chain = chain(questions, request.getNamespace(), request.getPackedKeys(), request.getKeyBytes(), request.getFirstIndex());
        return response(questions.lookup(caller, chain, NodeNames.of(request.getNode())));
    }

    @Override
    public StreamObserver<StreamRequest> stream(StreamObserver<StreamResponse> answers) {
        try {
            Caller caller = tokens.admit(GrpcCalls.token(), Caller.Role.READER);
            return DirectoryStream.begin(new DirectoryStream.Asked(questions, caller, limiter), (ServerCallStreamObserver<StreamResponse>) answers);
        } catch (Problem problem) {
            answers.onError(GrpcCalls.refused(problem));
            return DirectoryStream.REFUSED;
        }
    }

    @Override
    public void where(WhereRequest request, StreamObserver<WhereResponse> answers) {
        answer(answers, request.getKey(), (whom, caller) -> {
            ChainPlacements places = whom.where(caller, chain(whom, request.getNamespace(), request.getKey(), request.getKey().size(), 0));
            Found found = places.found().apply(0);
            WhereResponse.Builder response = WhereResponse.newBuilder()
                    .setPresence(Presence.forNumber(found.presence().code()))
                    .setFreshness(PeerMessages.of(places.freshness()));
            for (BlockPlacement placed : found.placements()) {
                response.addPlacements(PeerMessages.of(placed));
            }
            return response.build();
        });
    }

    private static BlockChain chain(LookupQueries questions, String namespace, ByteString keys, int width, int firstIndex) {
        if (namespace.isEmpty() || namespace.length() > BlockChain.NAMESPACE || firstIndex < 0 || firstIndex > BlockChain.MOST_INDEX) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the namespace has " + namespace.length() + " characters, the index is " + firstIndex,
                    "give a namespace of 1 to " + BlockChain.NAMESPACE + " characters, and an index from 0 to " + BlockChain.MOST_INDEX);
        }
        return new BlockChain(namespace, questions.packed(keys.toByteArray(), width), firstIndex);
    }

    private static LookupResponse response(Lookup lookup) {
        LookupResponse.Builder response = LookupResponse.newBuilder()
                .setBlocks(lookup.blocks())
                .setUnknownFrom(lookup.unknownFrom())
                .setStoreBlocks(lookup.storeBlocks())
                .setBestNode(lookup.best().node())
                .setBestBlocks(lookup.best().blocks())
                .setCostUs(lookup.best().costUs())
                .setFreshness(PeerMessages.of(lookup.freshness()));
        for (Lookup.NodePrefix node : lookup.nodes()) {
            NodePrefix.Builder each = NodePrefix.newBuilder()
                    .setNode(node.node())
                    .setBlocks(node.blocks())
                    .setPeerReadable(node.peerReadable())
                    .setPeerAddress(node.peerAddress().orElse(""))
                    .setReach(node.plan().blocks())
                    .setCostUs(node.plan().costUs());
            node.tiers().forEach((tier, blocks) -> each.addTiers(TierPrefix.newBuilder().setTier(PeerMessages.of(tier)).setBlocks(blocks)));
            response.addNodes(each);
        }
        for (Lookup.Run run : lookup.best().sources()) {
            response.addSources(SourceRun.newBuilder()
                    .setFirst(run.first())
                    .setBlocks(run.blocks())
                    .setOwner(run.from().owner())
                    .setTier(PeerMessages.of(run.from().tier()))
                    .setBlockCostUs(run.blockCostUs()));
        }
        return response.build();
    }

    /** Answers a short query that is in an index here even at the limit, as a stream does. */
    private <R> void answer(StreamObserver<R> answers, ByteString keys, BiFunction<LookupQueries, Caller, R> how) {
        try {
            Caller caller = tokens.admit(GrpcCalls.token(), Caller.Role.READER);
            answers.onNext(limiter.within(
                    () -> how.apply(questions, caller), () -> questions.atOnce(keys.size(), here -> how.apply(here, caller))));
            answers.onCompleted();
        } catch (Problem problem) {
            answers.onError(GrpcCalls.refused(problem));
        } catch (RuntimeException e) {
            LOG.error("a query failed", e);
            answers.onError(GrpcCalls.refused(Problem.internal()));
        }
    }
}
