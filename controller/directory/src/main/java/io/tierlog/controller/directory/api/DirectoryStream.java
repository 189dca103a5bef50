/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.directory.v1.StreamProblem;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One caller's questions in one call, answered one after the other. A question is taken up when the one before is answered and the caller reads its
 * answers: beyond that, what is on its way waits in the transport, within its windows.
 *
 * <pre>
 *   question -- all of it in an index here, and short --> answered by the thread that brings it
 *            \- otherwise ------------------------------> answered by a thread of its own, which may wait
 * </pre>
 *
 * <p>The thread that brings questions reads the connection, so nothing that waits runs on it; the lock is held for one answer. The price: a stream is
 * answered by one thread at a time, so whoever wants two takes two streams. {@link AdmissionLimiter} bounds these threads; the threads that read
 * connections are few, so what they answer by themselves takes no room, and is answered while there is none.
 */
final class DirectoryStream implements StreamObserver<StreamRequest> {
    /** Takes nothing, for a call that was refused. */
    static final StreamObserver<StreamRequest> DEAF = new StreamObserver<>() {
        @Override
        public void onNext(StreamRequest request) {}

        @Override
        public void onError(Throwable cause) {}

        @Override
        public void onCompleted() {}
    };

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStream.class);

    private final Asked asking;
    private final ServerCallStreamObserver<StreamResponse> answers;
    private boolean answering;
    private boolean asked;
    private boolean ended;

    /** What is asked, by whom, and the room for questions that may wait. */
    record Asked(LookupQueries questions, Caller caller, AdmissionLimiter room) {}

    private DirectoryStream(Asked asking, ServerCallStreamObserver<StreamResponse> answers) {
        this.asking = asking;
        this.answers = answers;
    }

    /** Begins to answer; called while the call begins. */
    static DirectoryStream begin(Asked asking, ServerCallStreamObserver<StreamResponse> answers) {
        DirectoryStream stream = new DirectoryStream(asking, answers);
        answers.disableAutoRequest();
        answers.setOnReadyHandler(stream::next);
        // With a handler, an answer to a caller who has gone is nothing.
        answers.setOnCancelHandler(() -> LOG.debug("a caller has gone"));
        return stream;
    }

    /** Takes up the next question, unless there is one already, or the caller does not read. */
    private synchronized void next() {
        if (!answering && !asked && !ended && answers.isReady()) {
            asked = true;
            answers.request(1);
        }
    }

    @Override
    public void onNext(StreamRequest request) {
        synchronized (this) {
            asked = false;
            answering = true;
        }
        Optional<StreamResponse> now = asking.questions().atOnce(bytes(request), here -> answer(here, request));
        if (now.isPresent()) {
            answered(now.get());
        } else {
            later(request);
        }
    }

    /** Admission happens here and not in the new thread, so the limit bounds the threads too. */
    private void later(StreamRequest request) {
        try {
            asking.room().take();
        } catch (Problem problem) {
            answered(problem(problem));
            return;
        }
        Thread.ofVirtual().name("directory-stream").start(() -> {
            StreamResponse response;
            try {
                response = answer(asking.questions(), request);
            } finally {
                asking.room().giveBack();
            }
            answered(response);
        });
    }

    private static int bytes(StreamRequest request) {
        return request.hasLookup() ? request.getLookup().getPackedKeys().size() : request.getExist().getPackedKeys().size();
    }

    private StreamResponse answer(LookupQueries whom, StreamRequest request) {
        try {
            return switch (request.getQuestionCase()) {
                case EXIST -> StreamResponse.newBuilder().setExist(DirectoryService.exist(whom, asking.caller(), request.getExist())).build();
                case LOOKUP -> StreamResponse.newBuilder().setLookup(DirectoryService.lookup(whom, asking.caller(), request.getLookup())).build();
                case QUESTION_NOT_SET -> throw new Problem(Problem.Kind.INVALID_REQUEST, "there is no question", "set exist or lookup");
            };
        } catch (Problem problem) {
            return problem(problem);
        } catch (LookupQueries.NotAtOnce e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.error("a question failed", e);
            return problem(new Problem(Problem.Kind.INTERNAL, e.toString(), "look at the directory's log"));
        }
    }

    private static StreamResponse problem(Problem problem) {
        return StreamResponse.newBuilder()
                .setProblem(StreamProblem.newBuilder()
                        .setKind(problem.kind().name())
                        .setDetail(problem.detail())
                        .setAction(problem.action()))
                .build();
    }

    private void answered(StreamResponse response) {
        synchronized (this) {
            answering = false;
            answers.onNext(response);
            if (ended) {
                answers.onCompleted();
            }
        }
        next();
    }

    @Override
    public void onError(Throwable cause) {
        LOG.debug("a stream of questions ended: {}", cause.toString());
    }

    /** The last question may still be with another thread, which then ends the call. */
    @Override
    public synchronized void onCompleted() {
        ended = true;
        if (!answering) {
            answers.onCompleted();
        }
    }
}
