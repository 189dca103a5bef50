/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.grpc.stub.StreamObserver;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.PeerMessages;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import io.tierlog.directory.v1.DirectoryPeerGrpc;
import io.tierlog.directory.v1.PeerAnswer;
import io.tierlog.directory.v1.PeerPart;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.schemas.Bytes;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Answers other instances about partitions that are here. Safe for use by several threads. The caller must be an operator without a limit to
 * namespaces, since a digest does not reveal its namespace.
 */
public final class PeerService extends DirectoryPeerGrpc.DirectoryPeerImplBase {
    private final Tokens tokens;
    private final Supplier<Optional<ShardFanout>> fanout;
    private final int keys;

    /**
     * A service.
     *
     * @param tokens accepted tokens
     * @param fanout answers, once started
     * @param keys most keys of one call
     */
    public PeerService(Tokens tokens, Supplier<Optional<ShardFanout>> fanout, int keys) {
        this.tokens = tokens;
        this.fanout = fanout;
        this.keys = keys;
    }

    @Override
    public void ask(PeerRequest request, StreamObserver<PeerResponse> answers) {
        try {
            Caller caller = tokens.admit(GrpcCalls.token(), Caller.Role.OPERATOR);
            if (caller.scope().isLimited()) {
                throw new Problem(Problem.Kind.FORBIDDEN, "the token of " + caller.name() + " is limited to some namespaces",
                        "give the instances a token without namespaces=, with --peer-token-file");
            }
            check(request);
            PeerResponse.Builder response = PeerResponse.newBuilder();
            request.getPartsList().forEach(part -> response.addAnswers(answer(request, part)));
            answers.onNext(response.build());
            answers.onCompleted();
        } catch (Problem problem) {
            answers.onError(GrpcCalls.refused(problem));
        }
    }

    private void check(PeerRequest request) {
        int width = request.getKeyBytes();
        long bytes = request.getPartsList().stream().mapToLong(part -> part.getPackedKeys().size()).sum();
        boolean whole = KeyWords.isLegal(width)
                && request.getPartsList().stream().allMatch(part -> part.getPackedKeys().size() % width == 0)
                && bytes / width <= keys;
        if (!whole || request.getNamespaceDigest().size() != Namespaces.DIGEST_BYTES) {
            throw new Problem(Problem.Kind.INVALID_REQUEST,
                    "the digest must have 16 bytes, and there may be at most " + keys + " keys of one legal length",
                    "run the same version on all instances");
        }
    }

    private PeerAnswer answer(PeerRequest request, PeerPart part) {
        KeyQuery question = new KeyQuery(Bytes.wrapUnshared(request.getNamespaceDigest().toByteArray()), part.getPackedKeys().toByteArray(),
                request.getKeyBytes(), request.getPlacements());
        Optional<KeyAnswers> here = fanout.get().flatMap(one -> one.askHere(part.getPartition(), question, request.getAllowStale()));
        return here.map(each -> PeerMessages.of(each, request.getPlacements()))
                .orElseGet(() -> PeerAnswer.newBuilder().setNotHere(true).build());
    }
}
