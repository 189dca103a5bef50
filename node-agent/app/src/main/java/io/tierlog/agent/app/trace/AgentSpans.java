/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.CommandReceived;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.LoadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.agent.core.port.UnitWatch;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.traces.TraceText;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Spans of traced requests: the submission until the engine may go on, its wait in it, what was asked of the store and the directory, and loads;
 * {@link OperationSpans} has what commands begin.
 *
 * <p>For the core's one thread. A request whose caller does not sample it has no span. What never ends is forgotten, and its span is never sent.
 */
final class AgentSpans {
    private static final int MOST = 8_192;

    private final SpanMaker maker;
    private final OperationSpans operations;
    private final Map<AttemptName, Submission> submissions = new Eldest<>(MOST);
    private final Map<Long, Submission> submits = new Eldest<>(MOST);
    private final Map<Long, Span> loads = new Eldest<>(MOST);
    private final Map<Long, Span> questions = new Eldest<>(MOST);
    /** Of the input at hand. */
    private @Nullable Submission current;

    /** One attempt; {@code wait} from the answer "waiting" on. */
    private static final class Submission {
        private final AttemptName attempt;
        private final Span span;
        private @Nullable Span wait;

        Submission(AttemptName attempt, Span span) {
            this.attempt = attempt;
            this.span = span;
        }
    }

    AgentSpans(SpanMaker maker) {
        this.maker = maker;
        this.operations = new OperationSpans(maker);
    }

    UnitWatch watch() {
        return operations;
    }

    /** The context that the events of an attempt carry: that of its span; empty for an attempt that has none. */
    Optional<String> contextOf(AttemptName attempt) {
        return Optional.ofNullable(submissions.get(attempt)).map(known -> TraceText.write(known.span.getSpanContext()));
    }

    // --- inputs

    /** Sees an input before the core does. */
    void before(AgentInput input) {
        current = null;
        switch (input) {
            case Submitted in when TraceText.isSampled(in.traceContext()) -> submitted(in);
            case LoadCalled in -> load(in);
            case CommandReceived in when TraceText.isSampled(in.command().envelope().traceContext()) -> operations.command(in.command());
            case StoreProbed in -> answered(in.unit(), in.present(), in.reachable());
            case PeersFound in -> answered(in.unit(), in.holders().size(), true);
            case StoreUnitEnded in -> operations.unitEnded(in.unit(), in.results(), "store");
            case DiskUnitEnded in -> operations.unitEnded(in.unit(), in.results(), "disk");
            case PeerUnitEnded in -> operations.unitEnded(in.unit(), in.results(), "peer");
            case CopiesEnded in -> operations.unitEnded(in.unit(), in.results(), "device");
            // Begins and ends no span.
            default -> {}
        }
    }

    private void submitted(Submitted in) {
        Span span = maker.begin("tierlog.submit", SpanKind.SERVER, TraceText.read(in.traceContext()))
                .setAttribute("tierlog.request", in.attempt().request())
                .setAttribute("tierlog.attempt", in.attempt().attempt())
                .setAttribute("tierlog.prompt.blocks", in.keys().size())
                .setAttribute("tierlog.device.blocks", in.deviceBlocks());
        Submission submission = new Submission(new AttemptName(in.attempt().request(), in.attempt().attempt()), span);
        submissions.putIfAbsent(submission.attempt, submission); // a repeated Submit has a span of its own, and the attempt keeps that of the first
        submits.put(in.call(), submission);
        current = submission;
    }

    private void load(LoadCalled in) {
        Submission submission = submissions.get(new AttemptName(in.attempt().request(), in.attempt().attempt()));
        if (submission != null) {
            loads.put(in.call(), maker.begin("tierlog.load", SpanKind.SERVER, submission.span.getSpanContext())
                    .setAttribute("tierlog.blocks", in.blocks().size()));
        }
    }

    private void asked(long unit, String what, int blocks) {
        if (current != null) {
            questions.put(unit, maker.begin(what, SpanKind.CLIENT, current.span.getSpanContext()).setAttribute("tierlog.blocks", blocks));
        }
    }

    private void answered(long unit, int found, boolean reachable) {
        Span question = questions.remove(unit);
        if (question != null) {
            question.setAttribute("tierlog.found", found);
            if (!reachable) {
                question.setStatus(StatusCode.ERROR, "unreachable");
            }
            maker.end(question);
        }
    }

    /** Sees an event before it goes to the log. */
    void event(Event event) {
        operations.event(event);
        AttemptName attempt = AttemptName.of(event);
        Submission submission = attempt == null ? null : submissions.get(attempt);
        if (submission == null) {
            return;
        }
        if (event instanceof RequestSubmitted e && e.peer() != null) {
            submission.span.setAttribute("tierlog.peer", e.peer().node());
        }
        if (AttemptName.isEnd(event)) {
            submissions.remove(attempt);
            ended(submission); // no more than a repeat, where the engine has gone on already
        }
    }

    // --- answers

    private void offered(@Nullable Submission submission, Offer offer) {
        if (submission != null) {
            submission.span.setAttribute("tierlog.offered.blocks", offer.sources().size()).setAttribute("tierlog.offer", offer.reason().name());
            ended(submission);
        }
    }

    private void ended(Submission submission) {
        if (submission.wait != null) {
            maker.end(submission.wait);
        }
        maker.end(submission.span);
    }

    /** The store, with a span for each probe of a traced submission. */
    StoreTransfers around(StoreTransfers store) {
        return new StoreTransfers() {
            @Override
            public void probe(long unit, String namespace, List<Bytes> keys) {
                asked(unit, "tierlog.store.probe", keys.size());
                store.probe(unit, namespace, keys);
            }

            @Override
            public void cancelProbe(long unit) {
                store.cancelProbe(unit);
            }

            @Override
            public void read(long unit, String namespace, List<PageObject> objects) {
                store.read(unit, namespace, objects);
            }

            @Override
            public void write(long unit, String namespace, List<PageObject> objects) {
                store.write(unit, namespace, objects);
            }

            @Override
            public void delete(long unit, String namespace, List<StoredObject> objects) {
                store.delete(unit, namespace, objects);
            }
        };
    }

    /** The finder, with a span for each question of a traced submission. */
    PeerFinder around(PeerFinder finder) {
        return (unit, namespace, firstIndex, keys) -> {
            asked(unit, "tierlog.peer.find", keys.size());
            finder.find(unit, namespace, firstIndex, keys);
        };
    }

    /** The answers to engines, which end spans. */
    EngineReplies around(EngineReplies replies) {
        return new Replies(replies);
    }

    private final class Replies extends ForwardedReplies {
        Replies(EngineReplies replies) {
            super(replies);
        }

        @Override
        public void offer(long call, Offer offer) {
            offered(submits.remove(call), offer);
            super.offer(call, offer);
        }

        @Override
        public void waiting(long call) {
            Submission submission = submits.remove(call);
            if (submission != null && submissions.get(submission.attempt) != submission) {
                maker.end(submission.span); // the first Submit has the wait
            } else if (submission != null) {
                submission.wait = maker.begin("tierlog.wait", SpanKind.INTERNAL, submission.span.getSpanContext());
            }
            super.waiting(call);
        }

        @Override
        public void ready(String session, String request, int attempt, Offer offer) {
            offered(submissions.get(new AttemptName(request, attempt)), offer);
            super.ready(session, request, attempt, offer);
        }

        @Override
        public void loaded(long call, int loaded, String reason) {
            Span load = loads.remove(call);
            if (load != null) {
                load.setAttribute("tierlog.loaded.blocks", loaded);
                if (!reason.isEmpty()) {
                    load.setStatus(StatusCode.ERROR, reason);
                }
                maker.end(load);
            }
            super.loaded(call, loaded, reason);
        }

        @Override
        public void refused(long call, Refusal refusal, String detail, boolean retry) {
            Submission submission = submits.remove(call);
            if (submission != null) {
                submissions.remove(submission.attempt, submission);
            }
            Span span = submission == null ? loads.remove(call) : submission.span;
            if (span != null) {
                span.setStatus(StatusCode.ERROR, refusal.name());
                maker.end(span);
            }
            super.refused(call, refusal, detail, retry);
        }
    }
}
