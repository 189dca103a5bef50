/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;

/**
 * Tells how a stream ended: gRPC says "cancelled" to the service both when the engine cancels the call and when its connection breaks, and
 * only a trace shows the difference. Without state.
 */
final class SessionEnds extends ServerStreamTracer.Factory {
    private static final Context.Key<End> END = Context.key("tierlog-session-end");

    /** The end of one stream; safe for use by several threads. */
    static final class End extends ServerStreamTracer {
        private volatile boolean broken;

        @Override
        public Context filterContext(Context context) {
            return context.withValue(END, this);
        }

        @Override
        public void streamClosed(Status status) {
            broken = status.getCode() == Status.Code.UNAVAILABLE;
        }

        /** True when the engine ended the stream, false when its connection broke. */
        boolean orderly() {
            return !broken;
        }
    }

    /** The end of the stream that the caller's thread works for. */
    static End current() {
        return END.get();
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new End();
    }
}
