/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Makes the spans of one agent, all with times of one clock.
 *
 * @param node name of the node
 * @param epochNs nanoseconds since 1970, never backwards
 */
record SpanMaker(Tracer tracer, String node, LongSupplier epochNs) {
    /** A span that begins now, as a child of {@code parent}; it is recorded when that one is sampled. */
    Span begin(String name, SpanKind kind, SpanContext parent) {
        return beginAt(name, kind, parent, now());
    }

    /** The same with a beginning in the past, in nanoseconds since 1970. */
    Span beginAt(String name, SpanKind kind, SpanContext parent, long startNs) {
        return tracer.spanBuilder(name)
                .setParent(Context.root().with(Span.wrap(parent)))
                .setSpanKind(kind)
                .setStartTimestamp(startNs, TimeUnit.NANOSECONDS)
                .setAttribute("tierlog.node", node)
                .startSpan();
    }

    void end(Span span) {
        span.end(now(), TimeUnit.NANOSECONDS);
    }

    long now() {
        return epochNs.getAsLong();
    }
}
