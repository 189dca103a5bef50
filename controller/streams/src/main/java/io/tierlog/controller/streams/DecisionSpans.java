/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.traces.TraceText;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A span for each decided event of a traced request: from the record to the last result, with links that name the event and its first decision by
 * topic, partition and offset.
 *
 * <p>Safe for use by several stream threads. The offset of a decision is known when the broker has it, which {@link Offsets} sees in the producer;
 * until then the span is open. The transaction may be aborted after that: then the event is decided again, and has another span.
 */
final class DecisionSpans {
    /** Most decisions whose offset is awaited. One more is sent without its offset. */
    private static final int MOST = 8_192;

    /** What the stream thread decides now. */
    private static final ThreadLocal<@Nullable Decided> CURRENT = new ThreadLocal<>();

    private final Tracer tracer;
    private final LongSupplier epochNs;
    private final String events;
    private final String decisions;
    /** By the headers of the record: the producer has the same object in its acknowledgement. */
    private final Map<Same, Decided> sent = new ConcurrentHashMap<>();

    /** An object by its identity. */
    private record Same(Object object) {
        @Override
        @SuppressWarnings("ReferenceEquality")
        public boolean equals(@Nullable Object other) {
            return other instanceof Same same && same.object == object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }
    }

    /** A decided event. It ends when its results are sent and its decision, if it has one, is acknowledged. */
    final class Decided {
        private final Span span;
        private final SpanContext cause;
        private boolean awaited;
        private boolean acknowledged;
        private long endNs;

        private Decided(Span span, SpanContext cause) {
            this.span = span;
            this.cause = cause;
        }

        /** All results are on their way. */
        synchronized void end(DecideResult result) {
            CURRENT.remove();
            endNs = epochNs.getAsLong();
            span.setAttribute("tierlog.outcome", Outcomes.of(result.outcome()).name())
                    .setAttribute("tierlog.decisions", result.facts().size())
                    .setAttribute("tierlog.commands", result.commands().size());
            if (!awaited || acknowledged) {
                span.end(endNs, TimeUnit.NANOSECONDS);
            }
        }

        /** The event was not decided; its span is never sent. */
        void abandon() {
            CURRENT.remove();
        }

        private synchronized void acknowledged(RecordMetadata at, boolean failed) {
            acknowledged = true;
            if (!failed && at.hasOffset()) {
                span.addLink(cause, position("decision", at.topic(), at.partition(), at.offset()));
            }
            if (endNs != 0) {
                span.end(endNs, TimeUnit.NANOSECONDS);
            }
        }
    }

    DecisionSpans(Tracer tracer, LongSupplier epochNs, String events, String decisions) {
        this.tracer = tracer;
        this.epochNs = epochNs;
        this.events = events;
        this.decisions = decisions;
    }

    /** Begins the span of an input, on the stream thread that decides it; null when no caller asks for one. */
    @Nullable Decided begin(InputPosition position, Input input) {
        if (!(input instanceof Input.Recorded recorded) || !TraceText.isSampled(recorded.event().envelope().traceContext())) {
            return null;
        }
        SpanContext cause = TraceText.read(recorded.event().envelope().traceContext());
        Span span = tracer.spanBuilder("tierlog.decide")
                .setParent(Context.root().with(Span.wrap(cause)))
                .setSpanKind(SpanKind.CONSUMER)
                .setStartTimestamp(epochNs.getAsLong(), TimeUnit.NANOSECONDS)
                .setAttribute("tierlog.event", recorded.event().schema().getName())
                .setAttribute("tierlog.aggregate", recorded.event().envelope().aggregate())
                .addLink(cause, position("event", events, position.partition(), position.offset()))
                .startSpan();
        Decided decided = new Decided(span, cause);
        CURRENT.set(decided);
        return decided;
    }

    private static Attributes position(String record, String topic, int partition, long offset) {
        return Attributes.builder()
                .put("tierlog.record", record)
                .put("messaging.destination.name", topic)
                .put("messaging.destination.partition.id", String.valueOf(partition))
                .put("messaging.kafka.offset", offset)
                .build();
    }

    /** In the producer of each stream thread: learns the offset of the first decision of each traced event. Kafka makes it, by its class name. */
    public static final class Offsets implements ProducerInterceptor<byte[], byte[]> {
        /** Name of the producer setting that has the {@link DecisionSpans}. */
        static final String SPANS = "tierlog.decision.spans";

        private @Nullable DecisionSpans spans;

        @Override
        public void configure(Map<String, ?> settings) {
            spans = (DecisionSpans) settings.get(SPANS);
        }

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            if (spans != null && record.topic().equals(spans.decisions)) {
                Decided decided = CURRENT.get();
                if (decided != null && !decided.awaited && spans.sent.size() < MOST) {
                    decided.awaited = true;
                    spans.sent.put(new Same(record.headers()), decided);
                }
            }
            return record;
        }

        @Override
        public void onAcknowledgement(RecordMetadata at, @Nullable Exception failure, Headers headers) {
            if (spans != null && !spans.sent.isEmpty() && at != null && at.topic().equals(spans.decisions)) {
                Decided decided = spans.sent.remove(new Same(headers));
                if (decided != null) {
                    decided.acknowledged(at, failure != null);
                }
            }
        }

        @Override
        public void close() {
            // The producer has ended all that it had before it closes this.
        }
    }
}
