/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The server's side of a call, whose connection ends when the test says so. A second end is refused, as gRPC refuses it. */
final class TestCaller<T> extends ServerCallStreamObserver<T> {
    final List<T> received = new ArrayList<>();
    final List<Throwable> errors = new ArrayList<>();
    private Optional<Runnable> cancelled = Optional.empty();
    private boolean ended;

    void vanish() {
        cancelled.orElseThrow().run();
    }

    private void end() {
        if (ended) {
            throw new IllegalStateException("call already closed");
        }
        ended = true;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {
        cancelled = Optional.of(handler);
    }

    @Override
    public void setCompression(String compression) {}

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setOnReadyHandler(Runnable handler) {}

    @Override
    public void disableAutoInboundFlowControl() {}

    @Override
    public void request(int count) {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void onNext(T value) {
        if (ended) {
            throw new IllegalStateException("call is closed");
        }
        received.add(value);
    }

    @Override
    public void onError(Throwable error) {
        end();
        errors.add(error);
    }

    @Override
    public void onCompleted() {
        end();
    }
}
