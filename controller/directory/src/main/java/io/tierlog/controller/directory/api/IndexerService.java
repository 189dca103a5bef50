/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.grpc.stub.StreamObserver;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import io.tierlog.directory.indexer.v1.GetPodScoresRequest;
import io.tierlog.directory.indexer.v1.GetPodScoresResponse;
import io.tierlog.directory.indexer.v1.IndexerServiceGrpc;
import io.tierlog.directory.indexer.v1.PodScore;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Scores over gRPC, as llm-d's indexer has them. Safe for use by several threads. */
final class IndexerService extends IndexerServiceGrpc.IndexerServiceImplBase {
    private static final Logger LOG = LoggerFactory.getLogger(IndexerService.class);

    private final Tokens tokens;
    private final Scores scores;
    private final AdmissionLimiter limiter;

    IndexerService(Tokens tokens, Scores scores, AdmissionLimiter limiter) {
        this.tokens = tokens;
        this.scores = scores;
        this.limiter = limiter;
    }

    @Override
    public void getPodScores(GetPodScoresRequest request, StreamObserver<GetPodScoresResponse> answers) {
        try {
            Caller caller = tokens.admit(GrpcCalls.token(), Caller.Role.READER);
            limiter.acquire();
            try {
                answers.onNext(answer(caller, request));
            } finally {
                limiter.release();
            }
            answers.onCompleted();
        } catch (Problem problem) {
            answers.onError(GrpcCalls.refused(problem));
        } catch (RuntimeException e) {
            LOG.error("a query failed", e);
            answers.onError(GrpcCalls.refused(Problem.internal()));
        }
    }

    private GetPodScoresResponse answer(Caller caller, GetPodScoresRequest request) {
        GetPodScoresResponse.Builder response = GetPodScoresResponse.newBuilder();
        for (Scores.Pod pod : scores.ofPrompt(caller, request.getModelName(), request.getPrompt(), Set.copyOf(request.getPodIdentifiersList()))) {
            PodScore.Builder score = PodScore.newBuilder().setPod(pod.name()).setScore(pod.score());
            pod.instance().rank().ifPresent(score::setDataParallelRank);
            response.addScores(score);
        }
        return response.build();
    }
}
