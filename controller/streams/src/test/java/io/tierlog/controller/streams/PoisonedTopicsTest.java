/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.KeyWriter;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.Envelope;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Records that no part of Tierlog writes, in each topic that a thread of the controller reads, on a real broker. No thread dies or stands still. */
@Tag("slow")
class PoisonedTopicsTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    /** Of zeros: brokers bound a batch as it is compressed, clients a record as it is not. */
    private static final int LONG = 5 << 20;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    /** Appends as a client without bounds does. */
    private static long append(TestLog log, String topic, byte[] key, byte[] value) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                log.access.client(Map.of("compression.type", "zstd", "max.request.size", 100 << 20, "acks", "all")),
                new ByteArraySerializer(), new ByteArraySerializer())) {
            return producer.send(new ProducerRecord<>(topic, 0, key, value)).get(30, TimeUnit.SECONDS).offset();
        }
    }

    private static String get(int port, String path) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (Exception e) {
            return "";
        }
    }

    private ControllerConfig.Builder config(TestLog log) {
        return log.controller(directory.resolve("state")).tickMs(100);
    }

    private static void assertGoesOn(Decisions decisions) {
        int before = decisions.of(TimeAdvanced.class).size();
        TestLog.await("ticks are decided", () -> decisions.of(TimeAdvanced.class).size() > before + 5);
    }

    @Test
    void anEventThatNoDeadLetterCanHoldIsCutThere() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Decisions.DeadLetters letters = new Decisions.DeadLetters(log);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                LoggedLines lines = new LoggedLines(EventDecoder.class);
                ControllerApp app = ControllerApp.start(config(log).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            append(log, log.topics.events(), Partitions.key("clock/0"), new byte[LONG]);
            append(log, log.topics.events(), new byte[LONG], new byte[3]);
            TestLog.await("both are skipped on record", () -> decisions.of(InputSkipped.class).size() == 2);
            TestLog.await("both are dead letters", () -> letters.read() == 2);
            assertEquals(List.of(256 << 10, 3), letters.values().stream().map(value -> value.length).toList());
            assertGoesOn(decisions);
            decisions.assertChained();
            String health = get(app.httpPort(), "/health");
            assertTrue(health.contains("\"part\":\"records\",\"level\":\"DEGRADED\""), health);
            String metrics = get(app.httpPort(), "/metrics");
            assertTrue(metrics.contains("tierlog_inputs_skipped_total{reason=\"TOO_LARGE\"} 1.0"), metrics);
            assertTrue(lines.with("is in the dead letters: TOO_LARGE") >= 1, lines::toString);
        }
    }

    /** Its names would be in each decision about it. */
    @Test
    void anEventWithNamesAsLongAsARecordStopsNothing() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                ControllerApp app = ControllerApp.start(config(log).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            for (int length : List.of(900_000, LONG)) {
                String name = "x".repeat(length);
                for (Envelope envelope : List.of(new Envelope("clock/0", name, 0, 1, 0, 0, null, null, null),
                        new Envelope("node/" + name, "agent/a/p", 1, 1, 0, 0, null, null, null),
                        new Envelope("clock/0", "clock/0/x", 0, 1, 0, 0, name, name, null))) {
                    append(log, log.topics.events(), Partitions.key(envelope.aggregate()),
                            log.codec.encode(log.topics.events(), new Tick(envelope, 1, 1)));
                }
            }
            TestLog.await("they are skipped on record", () -> decisions.of(InputSkipped.class).size() == 6);
            assertTrue(decisions.of(InputSkipped.class).stream().allMatch(skipped -> skipped.reason() == SkipReason.TOO_LARGE));
            assertGoesOn(decisions);
            assertEquals("RUNNING", app.state());
        }
    }

    @Test
    void messagesThatCannotBeReadOrCarriedAreDeadLettersAndTheRelayGoesOn() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Decisions.DeadLetters letters = new Decisions.DeadLetters(log);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                ControllerApp app = ControllerApp.start(config(log).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            Decisions decisions = new Decisions(reader);
            byte[] key = Partitions.key("clock/0");
            long large = append(log, log.topics.messages(), key, new byte[LONG]);
            append(log, log.topics.messages(), key, "no record".getBytes(StandardCharsets.UTF_8));
            TestLog.await("the second is skipped on record", () -> decisions.of(InputSkipped.class).size() == 1);
            assertEquals(SkipReason.NOT_AVRO, decisions.of(InputSkipped.class).getFirst().reason());
            TestLog.await("both are dead letters", () -> letters.read() == 2);
            assertEquals(1, letters.reasons().stream().filter(SkipReason.TOO_LARGE.name()::equals).count(), () -> letters.reasons() + " " + large);
            assertTrue(get(app.httpPort(), "/metrics").contains("tierlog_messages_put_aside_total 1.0"));
            TestLog.await("health names a record", () -> get(app.httpPort(), "/health").contains("\"part\":\"records\",\"level\":\"DEGRADED\""));
            assertFalse(get(app.httpPort(), "/health").contains("\"part\":\"relay\",\"level\":\"DEGRADED\""));
        }
    }

    /** Answers of its table are refused until the row is right again; all others come, and the feed reads on. */
    @Test
    void aChangelogRowThatIsNoneIsLeftOutAndNamed() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                LoggedLines lines = new LoggedLines("io.tierlog.controller.streams.api.CommittedState");
                ControllerApp app = ControllerApp.start(config(log).api(ApiConfig.loopback(0)).build())) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            TestLog.await("the API answers", () -> get(app.apiPort(), "/v1/nodes").contains("\"nodes\""));
            String changelog = log.topics.prefix() + "-controller-" + ControllerTopology.STORE + "-changelog";
            byte[] key = Rows.NODES.encodeKey(new KeyWriter(), new RowKey.Aggregate("node/forged"));
            append(log, changelog, key, "no row".getBytes(StandardCharsets.UTF_8));
            append(log, changelog, new byte[0], new byte[0]);
            append(log, changelog, new byte[] {-1, 7}, new byte[] {7});
            TestLog.await("health names it", () -> get(app.httpPort(), "/health")
                    .contains("\"part\":\"operator_api\",\"level\":\"DEGRADED\",\"detail\":\"the operator API leaves out 1"));
            assertTrue(get(app.httpPort(), "/metrics").contains("tierlog_health_level{part=\"operator_api\"} 1.0"));
            assertEquals(1, lines.with("a row of nodes is left out of the operator API"), lines::toString);
            assertTrue(get(app.apiPort(), "/v1/nodes").contains("cannot be read"), () -> get(app.apiPort(), "/v1/nodes"));
            TestLog.await("policy is answered", () -> get(app.apiPort(), "/v1/policy").contains("\"version\""));
            append(log, changelog, key, null);
            TestLog.await("the API answers again", () -> get(app.apiPort(), "/v1/nodes").contains("\"nodes\""));
            assertGoesOn(new Decisions(reader));
        }
    }
}
