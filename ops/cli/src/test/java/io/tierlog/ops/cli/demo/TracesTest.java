/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.events.Codec;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.ops.cli.Main;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.traces.Collector;
import io.tierlog.traces.Collector.Received;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Two agents, one controller with its directory, and a collector: requests that were traced, as the collector and as the log have them. */
@Tag("slow")
@Timeout(240)
class TracesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static Received parent(Collector collector, Received span) {
        return collector.await("the parent of " + span, other -> other.id().equals(span.parent()) && other.trace().equals(span.trace()));
    }

    private static void assertWithin(Received inner, Received outer) {
        assertTrue(outer.startNs() <= inner.startNs() && inner.endNs() <= outer.endNs(), () -> inner + " is not within " + outer);
    }

    /** The record that a link of a controller's span names. */
    private static <F extends WireRecord> F linked(PeerScene scene, Class<F> family, Map<String, String> link) {
        LogReader.Source<F> topic = new LogReader.Source<>(link.get("messaging.destination.name"), family, LogReader.Isolation.COMMITTED);
        List<F> found = new ArrayList<>();
        try (LogReader<F> reader = new LogReader<>(scene.access, new Codec(Schemas.bundled()), topic)) {
            reader.readToEnd(entry -> {
                boolean same = String.valueOf(entry.partition()).equals(link.get("messaging.destination.partition.id"))
                        && String.valueOf(entry.offset()).equals(link.get("messaging.kafka.offset"));
                if (same && entry.reading() instanceof Reading.Decoded<F>(F record)) {
                    found.add(record);
                }
            });
        }
        assertEquals(1, found.size(), () -> "records at " + link);
        return found.getFirst();
    }

    @Test
    void aRequestThatAnotherNodeServesIsOnePicture() throws Exception {
        try (Collector collector = new Collector(); PeerScene scene = new PeerScene(directory, collector.endpoint())) {
            AgentApp a = scene.agent("a", 0);
            assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
            long serving = PeerScene.host(a).servingBlocks();
            PeerScene.await("the directory knows all of a", () -> scene.where.streams().blocks() >= serving);
            AgentApp b = scene.agent("b", 0);
            assertEquals(0, scene.run("b", b.enginePort()).wrongContent());

            Received read = collector.await("a read from another node",
                    span -> span.name().equals("tierlog.prefetch.peer") && "0".equals(span.attributes().get("tierlog.blocks.failed")));
            Received fetch = parent(collector, read);
            Received submit = parent(collector, fetch);
            assertEquals(List.of("tierlog.prefetch", "tierlog.submit", "b", "a"), List.of(
                    fetch.name(), submit.name(), submit.attributes().get("tierlog.node"), submit.attributes().get("tierlog.peer")));
            assertWithin(read, fetch);
            Received served = collector.await("what a did for it",
                    span -> span.trace().equals(submit.trace()) && span.name().equals("tierlog.peer_read"));
            assertEquals("a", served.attributes().get("tierlog.node"));
            Received found = collector.await("the question to the directory",
                    span -> span.trace().equals(submit.trace()) && span.name().equals("tierlog.peer.find"));
            assertWithin(found, submit);
            assertEquals(submit.id(), found.parent());

            Received decided = collector.await("the decision about the submission", span -> span.trace().equals(submit.trace())
                    && span.name().equals("tierlog.decide") && "RequestSubmitted".equals(span.attributes().get("tierlog.event")));
            assertEquals("tierlog-controller", decided.service());
            assertEquals(submit.id(), decided.parent());
            assertEquals(List.of("event", "decision"), decided.links().stream().map(link -> link.get("tierlog.record")).toList());
            assertEquals(List.of(submit.id(), submit.id()), decided.links().stream().map(link -> link.get("span")).toList());
            Event event = linked(scene, Event.class, decided.links().getFirst());
            assertEquals("RequestSubmitted", event.schema().getName());
            assertTrue(String.valueOf(event.envelope().traceContext()).contains(submit.id()));
            Fact fact = linked(scene, Fact.class, decided.links().getLast());
            assertTrue(fact.envelope().cause().endsWith("@" + decided.links().getFirst().get("messaging.kafka.offset")), fact::toString);

            String request = submit.attributes().get("tierlog.request");
            StringWriter out = new StringWriter();
            CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out));
            assertEquals(0, line.execute("audit", "request", request, "--bootstrap-servers", scene.access.bootstrapServers()));
            assertTrue(out.toString().contains(", trace " + submit.trace()), out.toString());

            Received local = collector.await("a request that the host served", span -> span.name().equals("tierlog.submit")
                    && "ALL_ON_HOST".equals(span.attributes().get("tierlog.offer")));
            assertTrue(collector.trace(local.trace()).stream().noneMatch(span -> span.name().startsWith("tierlog.prefetch")));
            assertTrue(collector.spans().stream().anyMatch(span -> span.name().equals("tierlog.load")));
            assertTrue(collector.spans().stream().anyMatch(span -> span.name().equals("tierlog.write_back.device")));
            assertEquals(0, a.malformedTraces() + b.malformedTraces());
            for (Received span : collector.spans()) {
                assertTrue(span.attributes().keySet().stream().allMatch(name -> name.startsWith("tierlog.")), span::toString);
            }
        }
    }
}
