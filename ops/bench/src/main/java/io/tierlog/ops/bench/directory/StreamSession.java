/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.StreamProblem;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** One stream of questions over gRPC. A batch is sent when the one before is answered, as over the connection to Redis. One thread asks. */
final class StreamSession implements Way.Session {
    private static final int ANSWER_S = 60;

    private final boolean lookup;
    private final BlockingQueue<StreamResponse> answers = new ArrayBlockingQueue<>(1);
    private final StreamObserver<StreamRequest> questions;

    StreamSession(ManagedChannel channel, boolean lookup) {
        this.lookup = lookup;
        // The answer is only put down: the thread of the connection can do that itself.
        questions = DirectoryGrpc.newStub(channel).withExecutor(Runnable::run).stream(new StreamObserver<>() {
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

    /** Whoever waits hears of it. */
    private void ended(String why) {
        boolean _ = answers.offer(StreamResponse.newBuilder().setProblem(StreamProblem.newBuilder().setDetail(why)).build());
    }

    @Override
    public int ask(Keys.Batch batch) throws IOException, InterruptedException {
        questions.onNext(question(batch));
        StreamResponse response = answers.poll(ANSWER_S, TimeUnit.SECONDS);
        if (response == null || response.hasProblem()) {
            throw new IOException("no answer to a batch: " + (response == null ? "none in " + ANSWER_S + " s" : response.getProblem().getDetail()));
        }
        if (lookup) {
            return response.getLookup().getBlocks();
        }
        int found = 0;
        for (int i = 0; i < response.getExist().getAnswers().size(); i++) {
            found += response.getExist().getAnswers().byteAt(i) == Presence.FOUND.code() ? 1 : 0;
        }
        return found;
    }

    private StreamRequest question(Keys.Batch batch) {
        StreamRequest.Builder request = StreamRequest.newBuilder();
        if (lookup) {
            request.setLookup(LookupRequest.newBuilder()
                    .setNamespace(Keys.NAMESPACE)
                    .setKeyBytes(Keys.BYTES)
                    .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed())));
        } else {
            request.setExist(BatchExistRequest.newBuilder()
                    .setNamespace(Keys.NAMESPACE)
                    .setKeyBytes(Keys.BYTES)
                    .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed())));
        }
        return request.build();
    }

    @Override
    public void close() {
        questions.onCompleted();
    }
}
