/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Partitions;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import io.tierlog.threads.LoggedLines;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records with a schema that this process does not ship: it waits for the registry; a later version's type stops the instance. */
@Tag("slow")
class ForeignSchemaTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private ScriptedRegistry registry;

    @BeforeEach
    void start() throws Exception {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
        registry = new ScriptedRegistry();
    }

    @AfterEach
    void stop() {
        registry.close();
        broker.close();
    }

    @Test
    void aRegistryThatDoesNotAnswerIsWaitedForAndNothingIsSkipped() throws Exception {
        // The same type in another form, under an id that the controller has to ask for.
        int id = registry.holds(new Schema.Parser().parse(Tick.SCHEMA.toString().replace("Wall clock of the sender", "Clock of the sender")));
        try (TestLog log = new TestLog(broker, 1);
                RegistryClient client = new RegistryClient(RegistryConfig.of(registry.url()));
                LoggedLines lines = new LoggedLines(EventDecoder.class);
                ControllerApp app = ControllerApp.start(config(log).build());
                LogReader<Fact> reader = reader(log, client)) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            registry.setUp(false);
            log.append(0, Partitions.key("clock/0"), WireFormat.frame(id, Codec.avro(Script.tick(0, 1, 5_000))));
            TestLog.await("the wait", () -> app.state().equals("WAITING_FOR_REGISTRY"));
            String health = get(app, "/health");
            assertTrue(health.contains("\"part\":\"registry\",\"level\":\"FAILED\""), health);
            assertTrue(get(app, "/metrics").contains("tierlog_registry_waits_total 1.0"));
            assertEquals(1, lines.with("waiting for the schema registry"), lines::toString);
            assertEquals(List.of(), decisions.all());
            registry.setUp(true);
            TestLog.await("the tick", () -> decisions.of(TimeAdvanced.class).size() == 1);
            assertEquals(List.of(), decisions.of(InputSkipped.class));
            TestLog.await("running again", () -> app.state().equals("RUNNING"));
        }
    }

    /** What holds the thread is a registry that only this instance cannot reach. When it comes back, nothing is decided twice. */
    @Test
    void aThreadThatDoesNotComeBackLosesItsPartitions() throws Exception {
        int id = registry.holds(new Schema.Parser().parse(Tick.SCHEMA.toString().replace("Wall clock of the sender", "Clock of the sender")));
        StreamsTuning tuning = StreamsTuning.DEFAULTS.withStuckMs(2_000);
        try (TestLog log = new TestLog(broker, 1);
                ScriptedRegistry reached = registry.another();
                RegistryClient client = new RegistryClient(RegistryConfig.of(reached.url()));
                ControllerApp stuck = ControllerApp.start(config(log).streams(tuning).build());
                LogReader<Fact> reader = reader(log, client)) {
            assertTrue(stuck.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            registry.setUp(false);
            log.append(0, Partitions.key("clock/0"), WireFormat.frame(id, Codec.avro(Script.tick(0, 1, 5_000))));
            TestLog.await("the wait", () -> stuck.state().equals("WAITING_FOR_REGISTRY"));
            ControllerConfig other = log.controller(directory.resolve("other")).registry(RegistryConfig.of(reached.url())).tickMs(60_000)
                    .streams(tuning).build();
            try (ControllerApp takesOver = ControllerApp.start(other)) {
                TestLog.await("the other decides", () -> decisions.of(TimeAdvanced.class).size() == 1);
                assertTrue(takesOver.awaitRunning(TestLog.PATIENCE));
                assertEquals("WAITING_FOR_REGISTRY", stuck.state());
                registry.setUp(true);
                TestLog.await("the first is a member again", () -> stuck.state().equals("RUNNING"));
                log.append(0, Partitions.key("clock/0"), new Codec(client).encode(log.topics.events(), Script.tick(0, 2, 6_000)));
                TestLog.await("the next tick", () -> decisions.of(TimeAdvanced.class).size() >= 2);
                decisions.assertChained();
                assertEquals(List.of(), decisions.of(InputSkipped.class));
            }
        }
    }

    @Test
    void aTypeOfALaterVersionStopsTheInstanceUntilAnOperatorDecides() throws Exception {
        int id = registry.holds(new Schema.Parser().parse("""
                {"type": "record", "name": "BlocksDreamt", "namespace": "io.tierlog.schemas.event",
                 "fields": [{"name": "n", "type": "int"}]}"""));
        try (TestLog log = new TestLog(broker, 1);
                RegistryClient client = new RegistryClient(RegistryConfig.of(registry.url()));
                LogReader<Fact> reader = reader(log, client)) {
            Decisions decisions = new Decisions(reader);
            long offset = log.append(0, Partitions.key("clock/0"), WireFormat.frame(id, new byte[] {2}));
            try (LoggedLines lines = new LoggedLines(ControllerApp.class);
                    ControllerApp app = ControllerApp.start(config(log).build())) {
                Throwable failure = app.ended().get(60, TimeUnit.SECONDS).orElseThrow();
                assertInstanceOf(ControllerException.InputFailed.class, failure);
                String message = String.valueOf(failure.getMessage());
                assertTrue(message.contains("io.tierlog.schemas.event.BlocksDreamt"), message);
                assertTrue(message.contains("--skip-input 0:" + offset), message);
                TestLog.await("stopped", () -> app.state().equals("STOPPED"));
                assertEquals(1, lines.with("the controller stops: "), lines::toString);
            }
            assertEquals(List.of(), decisions.all());
            ControllerConfig skipping = config(log).skipInputs(Set.of(new InputPosition(0, offset))).build();
            try (ControllerApp app = ControllerApp.start(skipping)) {
                TestLog.await("the skip", () -> !decisions.of(InputSkipped.class).isEmpty());
                assertEquals(SkipReason.OPERATOR, decisions.of(InputSkipped.class).getFirst().reason());
                assertTrue(app.awaitRunning(TestLog.PATIENCE));
            }
        }
    }

    private static String get(ControllerApp app, String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + app.httpPort() + path)).build(),
                    HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    private ControllerConfig.Builder config(TestLog log) {
        // No ticks of its own: they would be decisions too.
        return log.controller(directory.resolve("state")).registry(RegistryConfig.of(registry.url())).tickMs(60_000);
    }

    private static LogReader<Fact> reader(TestLog log, RegistryClient client) {
        return new LogReader<>(
                log.access, new Codec(client), new LogReader.Source<>(log.topics.decisions(), Fact.class, Isolation.COMMITTED));
    }
}
