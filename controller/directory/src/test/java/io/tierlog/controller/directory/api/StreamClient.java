/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** One stream of questions, and all that came back. */
public final class StreamClient {
    private final List<StreamResponse> answers = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private final ClientCallStreamObserver<StreamRequest> questions;

    /** Begins one; {@code reading} takes answers as they come, else none is taken until {@link #read}. */
    public StreamClient(DirectoryGrpc.DirectoryStub stub, boolean reading) {
        questions = (ClientCallStreamObserver<StreamRequest>) stub.stream(new ClientResponseObserver<StreamRequest, StreamResponse>() {
            @Override
            public void beforeStart(ClientCallStreamObserver<StreamRequest> call) {
                if (!reading) {
                    call.disableAutoRequestWithInitial(0);
                }
            }

            @Override
            public void onNext(StreamResponse response) {
                answers.add(response);
            }

            @Override
            public void onError(Throwable cause) {
                end.complete(Status.fromThrowable(cause));
            }

            @Override
            public void onCompleted() {
                end.complete(Status.OK);
            }
        });
    }

    public StreamClient ask(StreamRequest question) {
        questions.onNext(question);
        return this;
    }

    /** Whether the transport takes more questions without keeping them in memory here. */
    boolean isReady() {
        return questions.isReady();
    }

    /** Takes so many answers that were not taken yet. */
    void read(int count) {
        questions.request(count);
    }

    /** Asks no more and waits for the end; all answers, in the order in which they came. */
    public List<StreamResponse> end() throws Exception {
        questions.onCompleted();
        Status status = status();
        if (!status.isOk()) {
            throw status.asRuntimeException();
        }
        return answers;
    }

    /** How it ended. */
    Status status() throws Exception {
        return end.get(30, TimeUnit.SECONDS);
    }
}
