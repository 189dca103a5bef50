/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.opentelemetry.api.trace.Tracer;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.CommandReceived;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.port.PeerPorts;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.agent.core.port.UnitWatch;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The trace contexts of requests: from a Submit onto the events of its attempt, and from a command onto the events that answer it. With a tracer also
 * spans of what happens in between.
 *
 * <p>It stands around the core: before each input, and between the core and its ports. For the core's one thread. An agent that has no traced request
 * does one test of a map for each event and each answer to a Submit, and allocates nothing.
 */
public final class RequestTraces {
    /** Most attempts, and most commands, whose trace context is kept. */
    private static final int MOST = 8_192;

    private final Map<AttemptName, String> attempts = new Eldest<>(MOST);
    /** Calls of Submit without an answer, and the attempt that has its context from them. */
    private final Map<Long, AttemptName> submits = new Eldest<>(MOST);
    private final Map<String, String> commands = new Eldest<>(MOST);
    /** Null without a tracer: a lambda for an Optional would be allocated at each input. */
    private final @Nullable AgentSpans spans;

    /** Only carries contexts on. */
    public RequestTraces() {
        this.spans = null;
    }

    /**
     * Makes spans too.
     *
     * @param node name of this node
     * @param epochNs nanoseconds since 1970, never backwards
     */
    public RequestTraces(Tracer tracer, String node, LongSupplier epochNs) {
        this.spans = new AgentSpans(new SpanMaker(tracer, node, epochNs));
    }

    /** The ports as the core shall have them. */
    public Ports around(Ports ports) {
        EventSink events = new Events(ports.events());
        EngineReplies engines = new Replies(ports.engines());
        AgentSpans recorder = spans;
        if (recorder == null) {
            return new Ports(ports.device(), ports.store(), ports.disk(), engines, events, ports.peers(), UnitWatch.NONE);
        }
        Optional<PeerPorts> peers = ports.peers().map(p -> new PeerPorts(recorder.around(p.finder()), p.transfers(), p.replies()));
        return new Ports(ports.device(), recorder.around(ports.store()), ports.disk(), recorder.around(engines), events, peers,
                recorder.watch());
    }

    /** Sees an input before the core does. */
    public void before(AgentInput input) {
        if (spans != null) {
            spans.before(input);
        }
        switch (input) {
            case Submitted in when in.traceContext() != null -> {
                AttemptName attempt = new AttemptName(in.attempt().request(), in.attempt().attempt());
                String context = spans == null ? in.traceContext() : spans.contextOf(attempt).orElse(in.traceContext());
                if (attempts.putIfAbsent(attempt, context) == null) { // a repeated Submit changes nothing
                    submits.put(in.call(), attempt);
                }
            }
            case CommandReceived in when in.command().envelope().traceContext() != null ->
                    commands.put(in.command().header().command(), in.command().envelope().traceContext());
            // No other input brings a trace context.
            default -> {}
        }
    }

    /** Puts the trace context onto an event, if its attempt or the command that it answers has one. */
    private Event carrying(Event event, String cause) {
        if (spans != null) {
            spans.event(event);
        }
        String context = commands.get(cause);
        if (context == null) {
            AttemptName attempt = AttemptName.of(event);
            context = attempt == null ? null : attempts.get(attempt);
            if (context != null && AttemptName.isEnd(event)) {
                attempts.remove(attempt);
            }
        }
        if (context == null) {
            return event;
        }
        Envelope e = event.envelope();
        return event.withEnvelope(new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), e.previousCrc32c(), e.timeMs(), e.cause(),
                context, e.taken(), e.repeats()));
    }

    private final class Events implements EventSink {
        private final EventSink sink;

        Events(EventSink sink) {
            this.sink = sink;
        }

        @Override
        public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
            if (attempts.isEmpty() && commands.isEmpty()) {
                sink.append(aggregate, cause, withEnvelope);
            } else {
                sink.append(aggregate, cause, e -> carrying(withEnvelope.apply(e), cause));
            }
        }

        @Override
        public boolean congested() {
            return sink.congested();
        }
    }

    /** An attempt whose Submit is refused has no context: its next Submit brings one. */
    private final class Replies extends ForwardedReplies {
        Replies(EngineReplies replies) {
            super(replies);
        }

        private @Nullable AttemptName answered(long call) {
            return submits.isEmpty() ? null : submits.remove(call);
        }

        @Override
        public void offer(long call, Offer offer) {
            answered(call);
            super.offer(call, offer);
        }

        @Override
        public void waiting(long call) {
            answered(call);
            super.waiting(call);
        }

        @Override
        public void refused(long call, Refusal refusal, String detail, boolean retry) {
            AttemptName attempt = answered(call);
            if (attempt != null) {
                attempts.remove(attempt);
            }
            super.refused(call, refusal, detail, retry);
        }
    }
}
