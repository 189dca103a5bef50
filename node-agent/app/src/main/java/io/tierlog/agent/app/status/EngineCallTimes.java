/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.status;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.concurrent.TimeUnit;

/** Measures the engine API: the time from a call's arrival to its answer, by method and status. Safe for use by several threads. */
public final class EngineCallTimes implements ServerInterceptor {
    private static final int MOST_BUCKETS = 80;

    private final Histogram times;

    /** Registers the metric. */
    public EngineCallTimes(PrometheusRegistry registry) {
        times = Histogram.builder()
                .name("tierlog_agent_engine_call_duration_seconds")
                .help("Time of a call of the engine API from its arrival to its answer, by method and gRPC status; open sessions are not calls")
                .labelNames("method", "status")
                .classicUpperBounds(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
                .nativeMaxNumberOfBuckets(MOST_BUCKETS)
                .register(registry);
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        if (call.getMethodDescriptor().getType() != MethodType.UNARY) {
            return next.startCall(call, headers);
        }
        long beganNs = System.nanoTime();
        String method = String.valueOf(call.getMethodDescriptor().getBareMethodName());
        return next.startCall(new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
                times.labelValues(method, status.getCode().name()).observe((double) (System.nanoTime() - beganNs) / TimeUnit.SECONDS.toNanos(1));
                super.close(status, trailers);
            }
        }, headers);
    }
}
