/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.List;

/**
 * The callers of one call that every rank made: the last one stands for all, and all receive the answer. As safe for threads as the last caller.
 */
final class RankedCaller<R> extends ServerCallStreamObserver<R> {
    private final ServerCallStreamObserver<R> last;
    private final List<ServerCallStreamObserver<R>> all;

    RankedCaller(ServerCallStreamObserver<R> last, List<ServerCallStreamObserver<R>> all) {
        this.last = last;
        this.all = all;
    }

    @Override
    public void onNext(R reply) {
        all.forEach(one -> one.onNext(reply));
    }

    @Override
    public void onError(Throwable error) {
        all.forEach(one -> one.onError(error));
    }

    @Override
    public void onCompleted() {
        all.forEach(ServerCallStreamObserver::onCompleted);
    }

    @Override
    public boolean isCancelled() {
        return last.isCancelled();
    }

    /** What the last caller's end does; the others then get an error, since their call has no outcome. */
    @Override
    public void setOnCancelHandler(Runnable handler) {
        last.setOnCancelHandler(() -> {
            handler.run();
            all.stream().filter(one -> one != last).forEach(one ->
                    one.onError(EngineErrors.expired("the caller of another rank has gone, and every rank makes this call")));
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
