/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.directory.v1.StreamProblem;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import io.tierlog.threads.Supervised;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One caller's queries in one call, answered one after the other. It reads a query when the one before is answered and the caller reads its
 * answers; further queries wait in the transport, within its windows.
 *
 * <pre>
 *   query    -- all of it in an index here, and short --> answered by the thread that delivers it
 *            \- otherwise ------------------------------> answered by a thread of its own, which may wait
 * </pre>
 *
 * <p>The thread that delivers queries reads the connection, so nothing that waits runs on it; the lock is held for one answer. Trade-off: one thread
 * at a time answers a stream, so more parallelism needs more streams. {@link AdmissionLimiter} bounds the own threads; the threads that read
 * connections are few, so their answers need no admission, and continue at the limit.
 */
final class DirectoryStream implements StreamObserver<StreamRequest> {
    /** Ignores all requests, for a call that was refused. */
    static final StreamObserver<StreamRequest> REFUSED = new StreamObserver<>() {
        @Override
        public void onNext(StreamRequest request) {}

        @Override
        public void onError(Throwable cause) {}

        @Override
        public void onCompleted() {}
    };

    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStream.class);
    private static final ThreadFactory THREADS = Supervised.tasks("directory-stream");

    private final Asked asking;
    private final ServerCallStreamObserver<StreamResponse> answers;
    private boolean answering;
    private boolean asked;
    private boolean ended;

    /** The queries, their caller, and the limit for queries that may wait. */
    record Asked(LookupQueries questions, Caller caller, AdmissionLimiter limiter) {}

    private DirectoryStream(Asked asking, ServerCallStreamObserver<StreamResponse> answers) {
        this.asking = asking;
        this.answers = answers;
    }

    /** Begins to answer; called while the call begins. */
    static DirectoryStream begin(Asked asking, ServerCallStreamObserver<StreamResponse> answers) {
        DirectoryStream stream = new DirectoryStream(asking, answers);
        answers.disableAutoRequest();
        answers.setOnReadyHandler(stream::next);
        // With a handler, an answer to a disconnected caller is ignored.
        answers.setOnCancelHandler(() -> LOG.debug("a caller disconnected"));
        return stream;
    }

    /** Reads the next query, unless there is one already, or the caller does not read. */
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
            asking.limiter().acquire();
        } catch (Problem problem) {
            answered(problem(problem));
            return;
        }
        THREADS.newThread(() -> {
            StreamResponse response;
            try {
                response = answer(asking.questions(), request);
            } finally {
                asking.limiter().release();
            }
            answered(response);
        }).start();
    }

    private static int bytes(StreamRequest request) {
        return request.hasLookup() ? request.getLookup().getPackedKeys().size() : request.getExist().getPackedKeys().size();
    }

    private StreamResponse answer(LookupQueries whom, StreamRequest request) {
        try {
            return switch (request.getQuestionCase()) {
                case EXIST -> StreamResponse.newBuilder().setExist(DirectoryService.exist(whom, asking.caller(), request.getExist())).build();
                case LOOKUP -> StreamResponse.newBuilder().setLookup(DirectoryService.lookup(whom, asking.caller(), request.getLookup())).build();
                case QUESTION_NOT_SET -> throw new Problem(Problem.Kind.INVALID_REQUEST, "the request has no query", "set exist or lookup");
            };
        } catch (Problem problem) {
            return problem(problem);
        } catch (LookupQueries.NotAtOnce e) {
            throw e;
        } catch (RuntimeException | Error e) {
            LOG.error("a query failed", e);
            return problem(Problem.internal());
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
        LOG.debug("a stream of queries ended: {}", cause.toString());
    }

    /** Another thread may still answer the last query; it then ends the call. */
    @Override
    public synchronized void onCompleted() {
        ended = true;
        if (!answering) {
            answers.onCompleted();
        }
    }
}
