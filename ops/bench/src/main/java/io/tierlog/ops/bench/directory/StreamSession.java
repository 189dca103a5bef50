/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.StreamProblem;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** One stream of queries over gRPC. A batch is sent after the answer to the one before, as over the connection to Redis. One thread. */
final class StreamSession implements QueryPath.Session {
    private static final int ANSWER_S = 60;

    private final boolean lookup;
    private final BlockingQueue<StreamResponse> answers = new ArrayBlockingQueue<>(1);
    private final StreamObserver<StreamRequest> requests;

    StreamSession(ManagedChannel channel, boolean lookup) {
        this.lookup = lookup;
        // The answer is only queued: the thread of the connection can do that itself.
        requests = DirectoryGrpc.newStub(channel).withExecutor(Runnable::run).stream(new StreamObserver<>() {
            @Override
            public void onNext(StreamResponse response) {
                answers.add(response);
            }

            @Override
            public void onError(Throwable cause) {
                ended(cause.toString());
            }

            @Override
            public void onCompleted() {
                ended("the server ended the stream");
            }
        });
    }

    /** Answers the query that waits. */
    private void ended(String why) {
        boolean _ = answers.offer(StreamResponse.newBuilder().setProblem(StreamProblem.newBuilder().setDetail(why)).build());
    }

    @Override
    public int query(Keys.Batch batch) throws IOException, InterruptedException {
        StreamRequest.Builder request = StreamRequest.newBuilder();
        requests.onNext(
                (lookup ? request.setLookup(QueryPaths.lookupRequest(batch)) : request.setExist(QueryPaths.existRequest(batch))).build());
        StreamResponse response = answers.poll(ANSWER_S, TimeUnit.SECONDS);
        if (response == null || response.hasProblem()) {
            throw new IOException("no answer to a batch: " + (response == null ? "none in " + ANSWER_S + " s" : response.getProblem().getDetail()));
        }
        return lookup ? response.getLookup().getBlocks() : QueryPaths.found(response.getExist().getAnswers().toByteArray());
    }

    @Override
    public void close() {
        requests.onCompleted();
    }
}
