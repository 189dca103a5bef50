/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.tierlog.agent.app.trace.RequestTraces;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.traces.Collector;
import io.tierlog.traces.Collector.Received;
import io.tierlog.traces.SpanExport;
import io.tierlog.traces.TraceOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The trace of a request through an agent: onto its events, and as spans at a collector. The test plays the engine and the controller. */
class TracesTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String CALLER = "b7ad6b7169203331";
    private static final String SAMPLED = "00-" + TRACE + "-" + CALLER + "-01";
    private static final String UNSAMPLED = "00-" + TRACE + "-" + CALLER + "-00";

    @TempDir
    Path directory;

    private final Collector collector = new Collector();
    private final SpanExport export = new SpanExport(TraceOptions.endpoint(collector.endpoint()), "tierlog-agent", "a",
            new SpanExport.Limits(1_000, 100, Duration.ofMillis(5), Duration.ofSeconds(30)));

    @AfterEach
    void close() {
        export.close();
        collector.close();
    }

    private EngineWorld exporting() throws Exception {
        return EngineWorld.traced(directory, new RequestTraces(export.tracer(), "a", SpanExport.epochNs()));
    }

    private static SubmitReply submit(TestEngine engine, SubmitRequest request, String traceparent, Optional<String> tracestate) {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), traceparent);
        tracestate.ifPresent(state -> headers.put(Metadata.Key.of("tracestate", Metadata.ASCII_STRING_MARSHALLER), state));
        return engine.calls().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers)).submit(request);
    }

    private static <E extends Event> E event(EngineWorld world, Class<E> type, String request) {
        Predicate<Event> fits = e -> type.isInstance(e) && e.toString().contains(request);
        Eventually.await("a " + type.getSimpleName(), () -> world.events.stream().anyMatch(fits));
        return type.cast(world.events.stream().filter(fits).findFirst().orElseThrow());
    }

    private static void finish(TestEngine engine, SubmitRequest request) {
        engine.calls().finish(FinishRequest.newBuilder().setSession(request.getSession()).setRequest(request.getRequest()).setAttempt(1)
                .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).build());
    }

    private Received span(String name) {
        return collector.await(name, span -> span.name().equals(name));
    }

    @Test
    void aPromptOnTheHostIsOneSpanAndItsLoad() throws Exception {
        try (EngineWorld world = exporting()) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            world.warm(engine, session, 2);
            SubmitRequest request = EngineMessages.submit(session, "r", 2);
            Offer offer = submit(engine, request, SAMPLED, Optional.empty()).getOffer();
            engine.calls().load(EngineMessages.load(request, offer, 2, 4));

            Received submit = span("tierlog.submit");
            assertEquals(TRACE, submit.trace());
            assertEquals(CALLER, submit.parent());
            assertEquals("tierlog-agent", submit.service());
            assertEquals("r", submit.attributes().get("tierlog.request"));
            assertEquals("a", submit.attributes().get("tierlog.node"));
            assertEquals("2", submit.attributes().get("tierlog.offered.blocks"));
            assertEquals("ALL_ON_HOST", submit.attributes().get("tierlog.offer"));
            Received load = span("tierlog.load");
            assertEquals(submit.id(), load.parent());
            assertTrue(load.startNs() >= submit.endNs());
            assertFalse(load.failed());
            assertEquals("2", load.attributes().get("tierlog.loaded.blocks"));
            assertEquals(List.of(submit, load), collector.trace(TRACE));

            String carried = "00-" + TRACE + "-" + submit.id() + "-01";
            assertEquals(carried, event(world, RequestSubmitted.class, "request=r,").envelope().traceContext());
            finish(engine, request);
            assertEquals(carried, event(world, RequestFinished.class, "request=r,").envelope().traceContext());
            assertNull(event(world, RequestSubmitted.class, "request=warm,").envelope().traceContext(), "that request had no trace");
        }
    }

    @Test
    void aFetchFromTheStoreIsOnePicture() throws Exception {
        try (EngineWorld world = exporting()) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            world.store(3);
            assertTrue(submit(engine, EngineMessages.submit(session, "r", 3), SAMPLED, Optional.of("vendor=7")).hasWaiting());
            String carried = event(world, RequestSubmitted.class, "request=r,").envelope().traceContext();
            Envelope e = ScriptedController.envelope("a", 1);
            world.prefetch(new Envelope(e.aggregate(), e.sender(), 1, 1, 0, 0, null, carried, null), "r", 3);
            assertEquals(3, engine.notice().getReady().getOffer().getSourcesCount());

            Received submit = span("tierlog.submit");
            Received probe = span("tierlog.store.probe");
            Received wait = span("tierlog.wait");
            Received fetch = span("tierlog.prefetch");
            Received read = span("tierlog.prefetch.store");
            assertEquals("00-" + TRACE + "-" + submit.id() + "-01 vendor=7", carried);
            assertEquals(carried, world.await(PrefetchDone.class).envelope().traceContext());
            assertEquals(List.of(CALLER, submit.id(), submit.id(), submit.id(), fetch.id()),
                    List.of(submit.parent(), probe.parent(), wait.parent(), fetch.parent(), read.parent()));
            assertEquals(5, collector.trace(TRACE).size(), () -> collector.trace(TRACE).toString());
            // submit [ probe ] [ wait [ fetch [ read ] ] ]: the wait begins when the probe has ended, the fetch ends before the wait does.
            long[] order = {submit.startNs(), probe.startNs(), probe.endNs(), wait.startNs(), fetch.startNs(), read.startNs(), read.endNs(),
                    wait.endNs(), submit.endNs()};
            for (int i = 1; i < order.length; i++) {
                assertTrue(order[i - 1] <= order[i], "place " + i + " of " + collector.trace(TRACE));
            }
            assertTrue(read.endNs() <= fetch.endNs());
            assertEquals("3", probe.attributes().get("tierlog.found"));
            assertEquals("3", read.attributes().get("tierlog.blocks"));
            assertEquals("0", read.attributes().get("tierlog.blocks.failed"));
            assertEquals("fetch", fetch.attributes().get("tierlog.operation"));
            assertTrue(collector.spans().stream().noneMatch(Received::failed));
        }
    }

    /** While "r" waits, its Submit comes again with another trace, and another Submit of that name is refused: the attempt keeps its first trace. */
    @Test
    void aRepeatedSubmitDoesNotTakeTheTraceOfTheFirst() throws Exception {
        String later = "00-" + TRACE.replace('0', '1') + "-" + CALLER + "-01";
        try (EngineWorld world = exporting()) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            world.store(3);
            SubmitRequest request = EngineMessages.submit(session, "r", 3);
            assertTrue(submit(engine, request, SAMPLED, Optional.empty()).hasWaiting());
            String carried = event(world, RequestSubmitted.class, "request=r,").envelope().traceContext();
            assertTrue(submit(engine, request, later, Optional.empty()).hasWaiting());
            assertThrows(StatusRuntimeException.class, () -> submit(engine, EngineMessages.submit(session, "r", 2), later, Optional.empty()));
            Envelope e = ScriptedController.envelope("a", 1);
            world.prefetch(new Envelope(e.aggregate(), e.sender(), 1, 1, 0, 0, null, carried, null), "r", 3);
            assertEquals(3, engine.notice().getReady().getOffer().getSourcesCount());

            Received first = collector.await("the first Submit", span -> span.name().equals("tierlog.submit") && span.trace().equals(TRACE));
            assertEquals("00-" + TRACE + "-" + first.id() + "-01", carried);
            assertEquals("3", first.attributes().get("tierlog.offered.blocks"));
            assertEquals(first.id(), span("tierlog.wait").parent());
            finish(engine, request);
            assertEquals(carried, event(world, RequestFinished.class, "request=r,").envelope().traceContext());
            export.close();
            assertEquals(List.of("tierlog.submit", "tierlog.submit"),
                    collector.trace(TRACE.replace('0', '1')).stream().map(Received::name).toList(), "the repeat, and the one that was refused");
        }
    }

    @Test
    void withoutTheFlagTheContextIsCarriedAndNothingIsRecorded() throws Exception {
        try (EngineWorld world = exporting()) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            submit(engine, EngineMessages.submit(session, "r", 2), UNSAMPLED, Optional.empty());
            assertEquals(UNSAMPLED, event(world, RequestSubmitted.class, "request=r,").envelope().traceContext());
            submit(engine, EngineMessages.submit(session, "s", 2), SAMPLED, Optional.empty());
            assertEquals("s", span("tierlog.submit").attributes().get("tierlog.request"));
        }
        export.close();
        assertTrue(collector.spans().stream().noneMatch(span -> "r".equals(span.attributes().get("tierlog.request"))));
    }

    @Test
    void aMalformedContextIsCountedAndTheCallGoesOn() throws Exception {
        try (EngineWorld world = exporting()) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            assertTrue(submit(engine, EngineMessages.submit(session, "r", 2), "00-zz-01", Optional.of("a=1")).hasOffer());
            assertEquals(1, world.server.malformedTraces());
            assertNull(event(world, RequestSubmitted.class, "request=r,").envelope().traceContext());
            export.close();
            assertEquals(0, collector.posts());
        }
    }

    @Test
    void anAgentThatExportsNothingCarriesTheContextAsItCame() throws Exception {
        try (EngineWorld world = EngineWorld.registered(directory)) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            submit(engine, EngineMessages.submit(session, "r", 2), SAMPLED, Optional.of("vendor=7"));
            assertEquals(SAMPLED + " vendor=7", event(world, RequestSubmitted.class, "request=r,").envelope().traceContext());
        }
    }

    @Test
    void callsGoOnWhileTheCollectorHangs() throws Exception {
        collector.holds(true);
        SpanExport.Limits tight = new SpanExport.Limits(2, 1, Duration.ofMillis(1), Duration.ofSeconds(30));
        try (SpanExport slow = new SpanExport(TraceOptions.endpoint(collector.endpoint()), "tierlog-agent", "a", tight);
                EngineWorld world = EngineWorld.traced(directory, new RequestTraces(slow.tracer(), "a", SpanExport.epochNs()))) {
            TestEngine engine = world.engine();
            String session = world.attach(engine);
            for (int i = 0; i < 20; i++) {
                assertTrue(submit(engine, EngineMessages.submit(session, "r" + i, 2), SAMPLED, Optional.empty()).hasOffer());
            }
            // Each has two spans: itself and the probe. A queue of 2, one on its way and one being collected: 4 of 40 at most are not dropped.
            assertTrue(slow.counts().dropped() >= 36, () -> slow.counts().toString());
            collector.holds(false);
        }
    }
}
