/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.List;

/**
 * The callers of one call that every rank made: the last one stands for all, and all receive the answer. The answer and the end of the last caller
 * may come at the same time, from two threads: the first of them counts.
 */
final class RankedCaller<R> extends ServerCallStreamObserver<R> {
    private final ServerCallStreamObserver<R> last;
    private final List<ServerCallStreamObserver<R>> all;
    private boolean answered;

    RankedCaller(ServerCallStreamObserver<R> last, List<ServerCallStreamObserver<R>> all) {
        this.last = last;
        this.all = all;
    }

    private synchronized boolean isFirstAnswer() {
        boolean first = !answered;
        answered = true;
        return first;
    }

    /** The one reply of the call, which ends it. */
    @Override
    public void onNext(R reply) {
        if (isFirstAnswer()) {
            all.forEach(one -> {
                one.onNext(reply);
                one.onCompleted();
            });
        }
    }

    @Override
    public void onError(Throwable error) {
        if (isFirstAnswer()) {
            all.forEach(one -> one.onError(error));
        }
    }

    /** Nothing: the reply has ended the call. */
    @Override
    public void onCompleted() {}

    @Override
    public boolean isCancelled() {
        return last.isCancelled();
    }

    /** What the last caller's end does; the others then get an error, since their call has no outcome. */
    @Override
    public void setOnCancelHandler(Runnable handler) {
        last.setOnCancelHandler(() -> {
            handler.run();
            onError(EngineErrors.expired("the caller of another rank has gone, and every rank makes this call"));
        });
    }

    @Override
    public void setCompression(String compression) {
        last.setCompression(compression);
    }

    @Override
    public boolean isReady() {
        return last.isReady();
    }

    @Override
    public void setOnReadyHandler(Runnable handler) {
        last.setOnReadyHandler(handler);
    }

    @Override
    public void request(int count) {
        last.request(count);
    }

    @Override
    public void setMessageCompression(boolean enable) {
        last.setMessageCompression(enable);
    }

    @Override
    public void disableAutoInboundFlowControl() {
        last.disableAutoInboundFlowControl();
    }
}
