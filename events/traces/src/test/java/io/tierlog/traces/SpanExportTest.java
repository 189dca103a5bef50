/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SpanExportTest {
    private static final SpanContext SAMPLED = TraceText.read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=7");
    private static final SpanContext UNSAMPLED = TraceText.read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    private static final SpanExport.Limits QUICK = new SpanExport.Limits(64, 8, Duration.ofMillis(5), Duration.ofSeconds(30));

    private final Collector collector = new Collector();

    @AfterEach
    void close() {
        collector.close();
    }

    private SpanExport export(SpanExport.Limits limits) {
        return new SpanExport(TraceOptions.endpoint(collector.endpoint()), "tierlog-test", "a", limits);
    }

    private static Span begin(SpanExport export, String name, SpanContext parent) {
        return export.tracer().spanBuilder(name).setParent(Context.root().with(Span.wrap(parent))).startSpan();
    }

    private static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, "not within 60 s: " + what);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Test
    void aSampledSpanArrivesWithItsParent() {
        try (SpanExport export = export(QUICK)) {
            begin(export, "one", SAMPLED).setAttribute("blocks", 3).end();
            Collector.Received one = collector.await("one", span -> span.name().equals("one"));
            assertEquals("tierlog-test", one.service());
            assertEquals(SAMPLED.getTraceId(), one.trace());
            assertEquals(SAMPLED.getSpanId(), one.parent());
            assertEquals("3", one.attributes().get("blocks"));
            await("it counts", () -> export.counts().equals(new SpanExport.Counts(1, 0, 0)));
        }
    }

    @Test
    void aSpanWithoutASampledParentIsNotRecorded() {
        try (SpanExport export = export(QUICK)) {
            for (SpanContext parent : new SpanContext[] {UNSAMPLED, SpanContext.getInvalid()}) {
                Span span = begin(export, "none", parent);
                assertFalse(span.isRecording());
                span.end();
            }
        }
        assertEquals(0, collector.posts());
    }

    @Test
    void closingSendsWhatWaits() {
        try (SpanExport export = export(new SpanExport.Limits(64, 8, Duration.ofMillis(20), Duration.ofSeconds(30)))) {
            begin(export, "last", SAMPLED).end();
        }
        assertEquals(1, collector.spans().size());
    }

    @Test
    void aSlowCollectorCostsSpansAndNoTimeOfTheirMaker() {
        collector.holds(true);
        int spans = 1_000;
        try (SpanExport export = export(QUICK)) {
            // Whatever the collector does, ending a span returns: this loop would not end if it waited for the queue.
            for (int i = 0; i < spans; i++) {
                begin(export, "many", SAMPLED).end();
            }
            long dropped = export.counts().dropped();
            // At most the queue, the batch that is held, and the one that is being collected have been taken.
            assertTrue(dropped >= spans - QUICK.queue() - 2 * QUICK.batch(), "dropped " + dropped);
            collector.holds(false);
            await("the others arrive", () -> export.counts().exported() + export.counts().dropped() == spans);
            assertEquals(0, export.counts().failed());
            begin(export, "after", SAMPLED).end();
            collector.await("it goes on", span -> span.name().equals("after"));
        }
    }

    @Test
    void anAbsentCollectorIsCountedAndComesBack() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (SpanExport export = new SpanExport(TraceOptions.endpoint("http://127.0.0.1:" + port), "tierlog-test", "a", QUICK)) {
            begin(export, "lost", SAMPLED).end();
            await("it fails", () -> export.counts().equals(new SpanExport.Counts(0, 0, 1)));
        }
        collector.answers(503);
        try (SpanExport export = export(QUICK)) {
            begin(export, "refused", SAMPLED).end();
            await("it fails", () -> export.counts().failed() == 1);
            collector.answers(200);
            begin(export, "taken", SAMPLED).end();
            collector.await("taken", span -> span.name().equals("taken"));
        }
        assertEquals(1, collector.spans().size());
    }
}
