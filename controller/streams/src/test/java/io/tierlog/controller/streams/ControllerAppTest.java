/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.Reading;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.LoggedLines;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A controller in this process on a real broker: what an operator sees of it. */
@Tag("slow")
class ControllerAppTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path state;

    @Test
    void timePassesByTicksThatItAppendsItself() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                ControllerApp app = ControllerApp.start(log.controller(state).tickMs(50).build());
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            TestLog.await("five times", () -> decisions.of(TimeAdvanced.class).size() >= 5);
            decisions.assertChained();
            assertEquals("RUNNING", app.state());
        }
    }

    /** A node whose agent has not ended needs each tick. Once it has, no tick comes behind the last decision, though the instance still runs. */
    @Test
    void aLogAtRestHasADecisionOfEveryEvent() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                LogReader<Event> events = log.reader(log.topics.events(), Event.class, Isolation.ALL);
                LogReader<Fact> decisions = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            try (ControllerApp app = ControllerApp.start(log.controller(state).tickMs(500).build())) {
                assertTrue(app.awaitRunning(TestLog.PATIENCE));
                FakeAgent agent = new FakeAgent("n1", "process-1");
                log.append(agent.registering());
                agent.accepted(1);
                assertFalse(app.bringToRest(Duration.ofSeconds(3)), "n1 lives");
                log.append(agent.stopping());
                assertTrue(app.bringToRest(TestLog.PATIENCE));
            }
            Map<Integer, Long> last = new HashMap<>();
            Map<Integer, Long> decided = new HashMap<>();
            events.readToEnd(entry -> last.put(entry.partition(), entry.offset()));
            decisions.readToEnd(entry -> decided.put(entry.partition(),
                    LogInvariants.causeOffset(((Reading.Decoded<Fact>) entry.reading()).value())));
            assertEquals(2, last.size());
            assertEquals(last, decided);
        }
    }

    /** All events are decided soon, but a clock may have a tick under way until it runs next: here for the first time after 6 s. */
    @Test
    void restWaitsForTheClocks() throws Exception {
        long startNs = System.nanoTime();
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                ControllerApp app = ControllerApp.start(log.controller(state).tickMs(6_000).build())) {
            log.append(Script.tick(0, 1, 5_000));
            log.append(Script.tick(1, 1, 5_000));
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            assertTrue(app.bringToRest(TestLog.PATIENCE));
            assertTrue(System.nanoTime() - startNs >= TimeUnit.SECONDS.toNanos(6));
        }
    }

    @Test
    void aFaultOfTheBrokersReplacesTheThreadAndADefectEndsTheProcess() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                LoggedLines lines = new LoggedLines(ControllerApp.class);
                ControllerApp app = ControllerApp.start(log.controller(state).tickMs(50).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));

            StreamsException ofBrokers = new StreamsException("commit", new InvalidTxnStateException("it was ended"));
            assertEquals(StreamThreadExceptionResponse.REPLACE_THREAD, app.fatal(ofBrokers));
            assertFalse(app.ended().isDone());
            assertTrue(get(app, "/metrics").body().contains("tierlog_stream_threads_replaced_total 1.0"));
            assertEquals(1, lines.with("another stream thread goes on, since the brokers failed this one: "), lines::toString);

            StreamsException ofOurs = new StreamsException("process", new IllegalStateException("defect"));
            assertEquals(StreamThreadExceptionResponse.SHUTDOWN_CLIENT, app.fatal(ofOurs));
            assertTrue(app.ended().get().isPresent());
            assertEquals(1, lines.with("the controller stops: "), lines::toString);
        }
    }

    @Test
    void whatCanNotBeReadIsADeadLetterAndADecisionAndTheRestGoesOn() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                Decisions.DeadLetters letters = new Decisions.DeadLetters(log);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            List<Poison> poisons = Poison.all(log);
            poisons.forEach(poison -> log.append(poison.partition(), poison.key(), poison.value()));
            long good = log.append(Script.tick(1, 1, 5_000));
            try (ControllerApp app = ControllerApp.start(log.controller(state).tickMs(60_000).build())) {
                assertTrue(app.awaitRunning(TestLog.PATIENCE));
                Decisions decisions = new Decisions(reader);
                TestLog.await("the good record", () -> decisions.of(TimeAdvanced.class).size() == 1);
                TestLog.await("all dead letters", () -> letters.read() >= poisons.size());
                assertEquals(poisons.size(), good);
                List<SkipReason> reasons = decisions.of(InputSkipped.class).stream().map(InputSkipped::reason).toList();
                assertEquals(poisons.stream().map(Poison::reason).toList(), reasons);
                assertEquals(poisons.stream().map(poison -> poison.reason().name()).toList(), letters.reasons());
                for (int i = 0; i < poisons.size(); i++) {
                    assertArrayEquals(poisons.get(i).value(), letters.values().get(i));
                }
                assertTrue(get(app, "/metrics").body().contains("tierlog_inputs_skipped_total{reason=\"NOT_AVRO\"} 1.0"));
            }
        }
    }

    @Test
    void anOperatorCanHaveARecordSkipped() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            log.append(Script.tick(0, 1, 5_000));
            log.append(Script.tick(0, 2, 6_000));
            ControllerConfig config = log.controller(state).tickMs(60_000).skipInputs(Set.of(InputPosition.parse("0:0"))).build();
            try (ControllerApp app = ControllerApp.start(config)) {
                assertTrue(app.awaitRunning(TestLog.PATIENCE));
                Decisions decisions = new Decisions(reader);
                TestLog.await("the second tick", () -> decisions.of(TimeAdvanced.class).size() == 1);
                InputSkipped skipped = decisions.of(InputSkipped.class).getFirst();
                assertEquals(SkipReason.OPERATOR, skipped.reason());
                assertEquals(0, skipped.offset());
            }
        }
    }

    @Test
    void everyReasonIsALabelFromTheStartAndHealthAnswers() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ControllerApp app = ControllerApp.start(log.controller(state).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            String metrics = get(app, "/metrics").body();
            assertLabels(metrics, "tierlog_request_transitions_total", RequestReason.values());
            assertLabels(metrics, "tierlog_operations_ended_total", OperationReason.values());
            assertLabels(metrics, "tierlog_leases_ended_total", LeaseEndReason.values());
            assertLabels(metrics, "tierlog_inputs_refused_total", RefusalReason.values());
            assertLabels(metrics, "tierlog_inputs_skipped_total", SkipReason.values());
            for (RemovalReason reason : RemovalReason.values()) {
                assertTrue(metrics.contains("tierlog_blocks_removed_total{reason=\"" + reason + "\",tier=\"HOST\"}"), reason.name());
            }
            assertTrue(metrics.contains("tierlog_inputs_total{type=\"WriteBackDone\"} 0.0"), "inputs by type");
            assertTrue(metrics.contains("tierlog_commands_total{type=\"PrefetchBlocks\"} 0.0"), "commands by type");
            assertTrue(metrics.contains("tierlog_controller_state{state=\"RUNNING\"} 1.0"), "state");
            assertTrue(metrics.contains("tierlog_rocksdb_cache_bytes"), "RocksDB");
            HttpResponse<String> health = get(app, "/health");
            assertEquals(200, health.statusCode());
            assertTrue(health.body().contains("\"state\":\"RUNNING\""), health.body());
        }
    }

    @Test
    void aPortInUseIsReported() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ControllerConfig config = log.controller(state).http("127.0.0.1", taken.getLocalPort()).build();
            assertMessage(assertThrows(ControllerException.CannotListen.class, () -> ControllerApp.start(config).close()), "--http-port");
        }
    }

    @Test
    void missingTopicsAreReported() {
        ControllerConfig config = ControllerConfig.of(KafkaAccess.of(BROKER.kafka().bootstrapServers()), state)
                .with()
                .topics(new Topics("nowhere"))
                .build();
        assertMessage(assertThrows(LogSetupException.TopicsMissing.class, () -> ControllerApp.start(config).close()), "topics create");
    }

    @Test
    void anUnreachableBrokerIsReportedInTime() throws Exception {
        KafkaAccess unreachable = new KafkaAccess("127.0.0.1:" + freePort(), Map.of(), Duration.ofMillis(700));
        ControllerConfig config = ControllerConfig.of(unreachable, state);
        assertMessage(assertThrows(LogSetupException.BrokerUnreachable.class, () -> ControllerApp.start(config).close()), "bootstrap");
    }

    @Test
    void anUnreachableRegistryIsReportedInTime() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            KafkaAccess impatient = new KafkaAccess(BROKER.kafka().bootstrapServers(), Map.of(), Duration.ofSeconds(2));
            ControllerConfig config = log.controller(state)
                    .kafka(impatient)
                    .registry(RegistryConfig.of("http://127.0.0.1:" + freePort()))
                    .build();
            long start = System.nanoTime();
            assertMessage(assertThrows(ControllerException.RegistryUnreachable.class, () -> ControllerApp.start(config).close()), "--registry");
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30), "took too long");
        }
    }

    @Test
    void twoInstancesMayNotShareAStateDirectory() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                ControllerApp app = ControllerApp.start(log.controller(state).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            ControllerConfig second = log.controller(state).build();
            assertMessage(assertThrows(ControllerException.StateDirUnusable.class, () -> ControllerApp.start(second).close()), "--state-dir");
        }
    }

    private static void assertMessage(Throwable failure, String text) {
        assertTrue(String.valueOf(failure.getMessage()).contains(text), failure.getMessage());
    }

    private static void assertLabels(String metrics, String name, Enum<?>[] symbols) {
        for (Enum<?> symbol : symbols) {
            assertTrue(metrics.contains(name + "{reason=\"" + symbol + "\"}"), name + " lacks " + symbol);
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static HttpResponse<String> get(ControllerApp app, String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + app.httpPort() + path)).build();
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
