/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.tierlog.engine.v1.Notice;
import java.util.ArrayDeque;

/**
 * A session of an engine: its stream of notices, with a bounded queue before it.
 *
 * <p>Safe for use by several threads: the core's thread sends, gRPC's drains. An engine that does not read loses its session, not the agent
 * its memory.
 */
final class EngineSession {
    private final String id;
    private final ServerCallStreamObserver<Notice> stream;
    private final int queuedNotices;
    private final ArrayDeque<Notice> queue = new ArrayDeque<>();
    private final EngineRanks ranks = new EngineRanks();
    private boolean ended;
    private volatile int devicePages;

    EngineSession(String id, ServerCallStreamObserver<Notice> stream, int queuedNotices) {
        this.id = id;
        this.stream = stream;
        this.queuedNotices = queuedNotices;
        stream.setOnReadyHandler(this::drain);
    }

    String id() {
        return id;
    }

    /** The ranks that have joined; they receive the end of the session. */
    EngineRanks ranks() {
        return ranks;
    }

    /** Pages of the device pool it registered; 0 before. */
    int devicePages() {
        return devicePages;
    }

    void devicePages(int pages) {
        devicePages = pages;
    }

    /** Sends a notice when the stream takes it; false when the session had to be ended because the engine does not read. */
    synchronized boolean send(Notice notice) {
        if (ended) {
            return true;
        }
        if (queue.size() >= queuedNotices) {
            end(Status.RESOURCE_EXHAUSTED.withDescription("the engine does not read its notices: " + queuedNotices + " wait"));
            return false;
        }
        queue.add(notice);
        drain();
        return true;
    }

    /** Ends the stream after what is queued. */
    synchronized void complete(Notice last) {
        if (!ended) {
            ended = true;
            queue.forEach(stream::onNext);
            queue.clear();
            stream.onNext(last);
            stream.onCompleted();
            ranks.end(over());
        }
    }

    /** Ends the stream at once. */
    synchronized void end(Status status) {
        end(status.asRuntimeException());
    }

    /** Ends the stream at once. */
    synchronized void end(RuntimeException status) {
        if (!ended) {
            ended = true;
            queue.clear();
            stream.onError(status);
            ranks.end(status);
        }
    }

    private static RuntimeException over() {
        return Status.ABORTED.withDescription("the session has ended").asRuntimeException();
    }

    /** The engine's side has ended the stream. */
    synchronized void gone() {
        ended = true;
        queue.clear();
        ranks.end(over());
    }

    private synchronized void drain() {
        while (!ended && stream.isReady() && !queue.isEmpty()) {
            stream.onNext(queue.remove());
        }
    }
}
