/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The W3C trace context as an envelope carries it: the {@code traceparent}, and after one blank the {@code tracestate} where there is one. Static and
 * without state.
 */
public final class TraceText {
    public static final String TRACEPARENT = "traceparent";
    public static final String TRACESTATE = "tracestate";

    /** Longest tracestate that is carried, in characters: what the W3C recommendation asks of every system at least. A longer one is left out. */
    static final int MAX_STATE = 512;

    /** Where the flags stand in a traceparent of version 00: 00-TRACE-SPAN-FLAGS, of 2, 32, 16 and 2 digits. */
    private static final int FLAGS = 53;

    private static final int LENGTH = 55;
    private static final int SAMPLED = 1;
    private static final W3CTraceContextPropagator W3C = W3CTraceContextPropagator.getInstance();

    private TraceText() {}

    /**
     * The text of the headers of a call.
     *
     * @return empty when the traceparent is malformed: then the call has no trace. A malformed tracestate is left out
     */
    public static Optional<String> ofHeaders(String traceparent, @Nullable String tracestate) {
        SpanContext context = read(traceparent, tracestate);
        return context.isValid() ? Optional.of(write(context)) : Optional.empty();
    }

    /** The context that a text names: not valid for none, and for one that {@link #write} has not made. */
    public static SpanContext read(@Nullable String text) {
        if (text == null) {
            return SpanContext.getInvalid();
        }
        int blank = text.indexOf(' ');
        return blank < 0 ? read(text, null) : read(text.substring(0, blank), text.substring(blank + 1));
    }

    /** The text of a valid context. */
    public static String write(SpanContext context) {
        Map<String, String> headers = new HashMap<>();
        W3C.inject(Context.root().with(Span.wrap(context)), headers, (carrier, key, value) -> {
            if (carrier != null) {
                carrier.put(key, value);
            }
        });
        String state = headers.getOrDefault(TRACESTATE, "");
        return headers.get(TRACEPARENT) + (state.isEmpty() ? "" : " " + state);
    }

    /** Whether the caller asks for spans: the flag alone, read without allocating. */
    public static boolean isSampled(@Nullable String text) {
        return text != null && text.length() >= LENGTH && (Character.digit(text.charAt(FLAGS + 1), 16) & SAMPLED) == SAMPLED;
    }

    private static SpanContext read(String traceparent, @Nullable String tracestate) {
        Map<String, String> headers = new HashMap<>();
        headers.put(TRACEPARENT, traceparent);
        if (tracestate != null && tracestate.length() <= MAX_STATE) {
            headers.put(TRACESTATE, tracestate);
        }
        return Span.fromContext(W3C.extract(Context.root(), headers, Headers.INSTANCE)).getSpanContext();
    }

    private enum Headers implements TextMapGetter<Map<String, String>> {
        INSTANCE;

        @Override
        @SuppressWarnings("deprecation") // Abstract, so it must be here; the propagator does not call it.
        public Iterable<String> keys(Map<String, String> carrier) {
            return List.copyOf(carrier.keySet());
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> carrier, String key) {
            return carrier == null ? null : carrier.get(key);
        }
    }
}
