/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.traces.TraceText;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The W3C trace context in the metadata of Submit. A malformed one is counted, and the call has no trace then. A call without one costs a lookup.
 * Called by gRPC's threads.
 */
final class TraceHeaders implements ServerInterceptor {
    private static final Metadata.Key<String> PARENT = Metadata.Key.of(TraceText.TRACEPARENT, Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> STATE = Metadata.Key.of(TraceText.TRACESTATE, Metadata.ASCII_STRING_MARSHALLER);
    private static final Context.Key<String> TEXT = Context.key("tierlog-trace");

    private final LongAdder malformed = new LongAdder();

    /** The trace context of the call at hand, as envelopes carry it; null when it has none. */
    static @Nullable String current() {
        return TEXT.get();
    }

    /** Contexts that were malformed, count. */
    long malformed() {
        return malformed.sum();
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        String parent = call.getMethodDescriptor() == EngineServiceGrpc.getSubmitMethod() ? headers.get(PARENT) : null;
        if (parent == null) {
            return next.startCall(call, headers);
        }
        Optional<String> text = TraceText.ofHeaders(parent, headers.get(STATE));
        if (text.isEmpty()) {
            malformed.increment();
            return next.startCall(call, headers);
        }
        return Contexts.interceptCall(Context.current().withValue(TEXT, text.get()), call, headers, next);
    }
}
